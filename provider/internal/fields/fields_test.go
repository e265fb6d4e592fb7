package fields_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/fields"
)

type base struct {
	Name types.String `tfsdk:"name"`
}

type job struct {
	base

	Retries types.Int64 `tfsdk:"retries"`
}

func TestAStructIsReadFromItsAttributesAndWrittenBack(t *testing.T) {
	t.Parallel()
	attributes := map[string]attr.Value{"name": types.StringValue("nightly"), "retries": types.Int64Unknown()}
	read, err := fields.Read[job](attributes)
	if err != nil || read.Name.ValueString() != "nightly" || !read.Retries.IsUnknown() {
		t.Fatal(read, err)
	}
	written := fields.Write(read)
	if len(written) != 2 || !written["name"].Equal(attributes["name"]) || !written["retries"].Equal(attributes["retries"]) {
		t.Error(written)
	}
}

func TestAStructThatDisagreesWithTheSchemaIsRefused(t *testing.T) {
	t.Parallel()
	for name, attributes := range map[string]map[string]attr.Value{
		"missing":      {"name": types.StringValue("nightly")},
		"another type": {"name": types.StringValue("nightly"), "retries": types.StringValue("5")},
	} {
		if _, err := fields.Read[job](attributes); err == nil || !strings.Contains(err.Error(), "attribute retries") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
