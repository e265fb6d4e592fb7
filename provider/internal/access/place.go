package access

import "github.com/hashicorp/terraform-plugin-framework/types"

// Place is the planned value of an attribute, project or region, for which the provider block stands in where the resource is silent:
// what is written, else the provider's, else, while the provider's is not known yet, what was there before. Null: nobody names any.
func (a *Access) Place(attribute string, written, before types.String) types.String {
	fallback := a.Settings.Project
	if attribute == "region" {
		fallback = a.Settings.Region
	}
	switch {
	case !written.IsNull():
		return written
	case fallback != "":
		return types.StringValue(fallback)
	case a.Unknown(attribute) && !before.IsNull():
		return before
	case a.Unknown(attribute):
		return types.StringUnknown()
	default:
		return types.StringNull()
	}
}
