// Package quick answers what a large plan asks for each of its resources sooner than the plugin framework does, and nothing else.
//
// For each resource Terraform asks whether its configuration is valid and what is planned for it. The framework walks schema and
// value some ten times for these two answers, which is most of what a plan of a thousand resources costs. A [Type] gives the common
// answers directly: the configuration is without fault; a new resource will look like this; an old one stays as it is. Whatever is
// not that plain (a fault, a warning, a change, a replacement, a destruction) is left to the framework, so that there is one place
// that words diagnostics and one that knows what a change is.
package quick

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// Type is a resource type that answers for itself. Its methods are asked concurrently.
type Type interface {
	// Layout is the type of configurations, plans and states, and that of identities.
	Layout() (resource, identity tftypes.Type)
	// Valid says whether the framework would find nothing to say of the configuration. False: it may have something to say.
	Valid(ctx context.Context, config tftypes.Value) bool
	// New is the planned state of a resource that is not there yet. False: the framework may plan another, or say something.
	New(ctx context.Context, config tftypes.Value) (planned tftypes.Value, ok bool)
	// Unchanged says whether the framework would plan before once more, and say nothing.
	Unchanged(ctx context.Context, config, before tftypes.Value) bool
}

// Framework is a provider as the plugin framework serves it.
type Framework interface {
	tfprotov6.ProviderServerWithListResource //nolint:staticcheck // until its methods are in ProviderServer
}

// Server is a provider whose resource types may answer for themselves.
type Server struct {
	Framework

	Types map[string]Type
}

// ValidateResourceConfig says that a configuration is valid, or has the framework say what is wrong with it.
func (s *Server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	if quick, ok := s.Types[req.TypeName]; ok {
		layout, _ := quick.Layout()
		if config, ok := decode(req.Config, layout); ok && quick.Valid(ctx, config) {
			return &tfprotov6.ValidateResourceConfigResponse{}, nil
		}
	}
	return s.Framework.ValidateResourceConfig(ctx, req)
}

// PlanResourceChange plans what is new and what stays as it is, and has the framework plan all else.
func (s *Server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	if quick, ok := s.Types[req.TypeName]; ok {
		resp, err := plan(ctx, quick, req)
		if err != nil || resp != nil {
			return resp, err
		}
	}
	return s.Framework.PlanResourceChange(ctx, req)
}

// plan is nil when the framework has to plan.
func plan(ctx context.Context, quick Type, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resource, identity := quick.Layout()
	config, ok := decode(req.Config, resource)
	before, was := decode(req.PriorState, resource)
	if !ok || !was || config.IsNull() {
		return nil, nil
	}
	resp := &tfprotov6.PlanResourceChangeResponse{
		PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity,
	}
	if !before.IsNull() {
		if !quick.Unchanged(ctx, config, before) {
			return nil, nil
		}
	} else {
		planned, ok := quick.New(ctx, config)
		if !ok {
			return nil, nil
		}
		state, err := tfprotov6.NewDynamicValue(resource, planned)
		if err != nil {
			return nil, fmt.Errorf("encode the planned state of a new %s: %w", req.TypeName, err)
		}
		resp.PlannedState = &state
	}
	if resp.PlannedIdentity == nil {
		none, err := tfprotov6.NewDynamicValue(identity, tftypes.NewValue(identity, nil))
		if err != nil {
			return nil, fmt.Errorf("encode the identity of %s: %w", req.TypeName, err)
		}
		resp.PlannedIdentity = &tfprotov6.ResourceIdentityData{IdentityData: &none}
	}
	return resp, nil
}

// decode reads a value. False: it is missing, or not of the layout; the framework says so.
func decode(value *tfprotov6.DynamicValue, layout tftypes.Type) (tftypes.Value, bool) {
	if value == nil {
		return tftypes.Value{}, false
	}
	decoded, err := value.Unmarshal(layout)
	return decoded, err == nil
}
