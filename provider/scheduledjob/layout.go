package scheduledjob

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/fields"
)

// layout is the type of the resource as a whole. The framework makes it anew for each value that it reads, which is what most of a
// large plan went into.
var layout = sync.OnceValue(func() types.ObjectType {
	var resp resource.SchemaResponse
	(*Resource)(nil).Schema(context.Background(), resource.SchemaRequest{}, &resp)
	whole, _ := resp.Schema.Type().(types.ObjectType)
	return whole
})

// wire is the same type as the protocol carries it.
var wire = sync.OnceValue(func() tftypes.Type { return layout().TerraformType(context.Background()) })

// read decodes a configuration, a plan or a state that is not null.
func read(ctx context.Context, raw tftypes.Value, diags *diag.Diagnostics) model {
	value, err := layout().ValueFromTerraform(ctx, raw)
	if err != nil {
		diags.Append(mismatch(err))
		return model{}
	}
	object, _ := value.(types.Object)
	m, err := fields.Read[model](object.Attributes())
	if err != nil {
		diags.Append(mismatch(err))
	}
	return m
}

// raw is the way back.
func (m model) raw(ctx context.Context, diags *diag.Diagnostics) tftypes.Value {
	object, found := types.ObjectValue(layout().AttrTypes, fields.Write(m))
	diags.Append(found...)
	raw, err := object.ToTerraformValue(ctx)
	if err != nil {
		diags.Append(mismatch(err))
	}
	return raw
}

// mismatch is what no configuration can cause.
func mismatch(err error) diag.Diagnostic {
	return diag.NewErrorDiagnostic("Model and schema of "+TypeName+" disagree", err.Error()+". This is a bug of the provider; please report it.")
}
