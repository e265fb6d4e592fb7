package access

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Of is what the provider's Configure handed out, as an object of the provider gets it. Nil: nothing yet, as while Terraform validates.
func Of(providerData any, diags *diag.Diagnostics) *Access {
	if providerData == nil {
		return nil
	}
	cloud, ok := providerData.(*Access)
	if !ok {
		diags.AddError("The provider and one of its objects disagree",
			fmt.Sprintf("The object got %T from its provider. This is a bug of the provider; please report it.", providerData))
	}
	return cloud
}
