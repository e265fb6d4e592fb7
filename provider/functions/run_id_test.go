package functions_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/functions"
)

const nightly = "projects/acme-prod/locations/europe-west1/jobs/nightly-report"

// call runs the function with an optional object.
func call(job, at string, options ...attr.Value) (string, *function.FuncError) {
	kinds, dynamic := []attr.Type{}, []attr.Value{}
	for _, option := range options {
		kinds, dynamic = append(kinds, types.DynamicType), append(dynamic, types.DynamicValue(option))
	}
	resp := function.RunResponse{Result: function.NewResultData(types.StringUnknown())}
	functions.NewRunID().Run(context.Background(), function.RunRequest{Arguments: function.NewArgumentsData([]attr.Value{
		types.StringValue(job), types.StringValue(at), types.TupleValueMust(kinds, dynamic),
	})}, &resp)
	id, _ := resp.Result.Value().(types.String)
	return id.ValueString(), resp.Error
}

func object(fields map[string]attr.Value) attr.Value {
	kinds := map[string]attr.Type{}
	for name, value := range fields {
		kinds[name] = value.Type(context.Background())
	}
	return types.ObjectValueMust(kinds, fields)
}

func TestRunIDIsThatOfTheHandler(t *testing.T) {
	t.Parallel()
	for title, tested := range map[string]struct {
		at      string
		options []attr.Value
		want    string
	}{
		"plain":          {"2026-10-16T12:00:00Z", nil, "dec08a8162c772e6492f1e2c92c30f1dfbffeaf2cfbd65006636bf9a5527f00f"},
		"in a time zone": {"2026-10-16T14:00:00+02:00", nil, "dec08a8162c772e6492f1e2c92c30f1dfbffeaf2cfbd65006636bf9a5527f00f"},
		"forced": {
			"2026-10-16T12:00:00Z", []attr.Value{object(map[string]attr.Value{"forced": types.BoolValue(true)})},
			"849b0a12e6540c003e964ed67d8299c7a5d32b303d6f554be7d4e06c29be56c3",
		},
		"the sample's": {
			"2026-10-16T12:00:00Z", []attr.Value{object(map[string]attr.Value{"run_id_format": types.StringValue("sample")})},
			"bdce749a727d0c6823969d2821b6f5bff953873a72f22452e9a046ea49625ff6",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			got, err := call(nightly, tested.at, tested.options...)
			if err != nil {
				t.Fatal(err)
			}
			if got != tested.want {
				t.Errorf("got %s, want %s", got, tested.want)
			}
		})
	}
}

func TestRunIDRefusesArgumentsInFull(t *testing.T) {
	t.Parallel()
	option := func(name string, value attr.Value) attr.Value { return object(map[string]attr.Value{name: value}) }
	for title, tested := range map[string]struct {
		job, at string
		options []attr.Value
		want    string
	}{
		"job": {"nightly-report", "2026-10-16T12:00:00Z", nil,
			`job: "nightly-report" is not a full name: pass projects/PROJECT/locations/REGION/jobs/NAME, the id of the job`},
		"schedule_time": {nightly, "tomorrow", nil,
			`schedule_time: "tomorrow" is not a time: write RFC 3339, such as 2026-10-16T12:00:00Z`},
		"options": {nightly, "2026-10-16T12:00:00Z", []attr.Value{types.StringValue("forced")},
			`options: pass an object, such as { forced = true }`},
		"two options": {nightly, "2026-10-16T12:00:00Z", []attr.Value{option("forced", types.BoolValue(true)), option("forced", types.BoolValue(true))},
			`options: pass one object at most`},
		"options.forced": {nightly, "2026-10-16T12:00:00Z", []attr.Value{option("forced", types.StringValue("yes"))},
			`options: forced = "yes" is none of forced (a bool), run_scope and run_id_format (strings)`},
		"options.run_scope": {nightly, "2026-10-16T12:00:00Z", []attr.Value{option("run_scope", types.StringValue("all reports"))},
			`options: run_scope: "all reports" cannot be part of a run's name: it must match [A-Za-z0-9_-]{1,100}`},
		"options.run_id_format": {nightly, "2026-10-16T12:00:00Z", []attr.Value{option("run_id_format", types.StringValue("v2"))},
			`options: run_id_format: "v2" is neither v1 nor sample`},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			_, err := call(tested.job, tested.at, tested.options...)
			if err == nil {
				t.Fatal("nothing was refused")
			}
			if diff := cmp.Diff(tested.want, err.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}
