package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// incumbentJob is one instance of google_cloud_scheduler_job.
type incumbentJob struct {
	module    string // its path without instance keys, module.a.module.b; "": the root
	name      string // the resource's name
	key       any    // string, json.Number, or nil
	values    map[string]any
	sensitive any // true, or the shape of the values with true where one is sensitive
}

// address is the instance's address inside its module.
func (j incumbentJob) address() string {
	return "google_cloud_scheduler_job." + j.name + keyText(j.key)
}

func keyText(key any) string {
	switch key := key.(type) {
	case nil:
		return ""
	case string:
		text, _ := json.Marshal(key) // a string always marshals
		return "[" + string(text) + "]"
	default:
		return fmt.Sprintf("[%v]", key)
	}
}

// incumbentDocument is what is read of a state or plan, in either of the forms that the tools write.
type incumbentDocument struct {
	// of terraform show -json
	FormatVersion string         `json:"format_version"`
	Values        *incumbentTree `json:"values"`
	PriorState    *struct {
		Values *incumbentTree `json:"values"`
	} `json:"prior_state"`
	PlannedValues *incumbentTree `json:"planned_values"`
	// of terraform state pull
	Version   int                 `json:"version"`
	Resources []incumbentResource `json:"resources"`
}

type incumbentTree struct {
	RootModule incumbentModule `json:"root_module"`
}

type incumbentModule struct {
	Address   string `json:"address"`
	Resources []struct {
		Mode      string         `json:"mode"`
		Type      string         `json:"type"`
		Name      string         `json:"name"`
		Index     any            `json:"index"`
		Values    map[string]any `json:"values"`
		Sensitive any            `json:"sensitive_values"`
	} `json:"resources"`
	ChildModules []incumbentModule `json:"child_modules"`
}

type incumbentResource struct {
	Module    string `json:"module"`
	Mode      string `json:"mode"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Instances []struct {
		Key        any            `json:"index_key"`
		Deposed    string         `json:"deposed"`
		Attributes map[string]any `json:"attributes"`
		Sensitive  [][]struct {
			Value any `json:"value"`
		} `json:"sensitive_attributes"`
	} `json:"instances"`
}

// readIncumbents reads the jobs in the order of the document. What a plan would change is read as it is before: a moved block moves
// what is there.
func readIncumbents(r io.Reader) ([]incumbentJob, error) {
	var in incumbentDocument
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("it is no JSON of a state or plan (%w): write it by `terraform show -json`", err)
	}
	var all []incumbentJob
	switch {
	case in.PriorState != nil && in.PriorState.Values != nil:
		all = in.PriorState.Values.RootModule.jobs(nil)
	case in.Values != nil:
		all = in.Values.RootModule.jobs(nil)
	case in.PlannedValues != nil:
		all = in.PlannedValues.RootModule.jobs(nil)
	case in.Version == 4:
		all = in.rawJobs()
	case in.FormatVersion == "" && in.Version == 0:
		return nil, errors.New("it is JSON, but neither a state nor a plan: write it by `terraform show -json`")
	default:
		return nil, errors.New("it holds no state: nothing was applied yet")
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no google_cloud_scheduler_job")
	}
	return all, nil
}

const incumbentTypeName = "google_cloud_scheduler_job"

func (m incumbentModule) jobs(all []incumbentJob) []incumbentJob {
	for _, r := range m.Resources {
		if r.Mode == "managed" && r.Type == incumbentTypeName {
			all = append(all, incumbentJob{withoutKeys(m.Address), r.Name, r.Index, r.Values, r.Sensitive})
		}
	}
	for _, child := range m.ChildModules {
		all = child.jobs(all)
	}
	return all
}

func (in incumbentDocument) rawJobs() []incumbentJob {
	var all []incumbentJob
	for _, r := range in.Resources {
		if r.Mode != "managed" || r.Type != incumbentTypeName {
			continue
		}
		for _, instance := range r.Instances {
			if instance.Deposed != "" {
				continue // it is destroyed by the next apply
			}
			var sensitive any
			for _, path := range instance.Sensitive {
				steps := make([]any, 0, len(path))
				for _, step := range path {
					steps = append(steps, step.Value)
				}
				sensitive = mark(sensitive, steps)
			}
			all = append(all, incumbentJob{withoutKeys(r.Module), r.Name, instance.Key, instance.Attributes, sensitive})
		}
	}
	return all
}

// mark adds a sensitive path to a shape. An index stands for the only block there can be.
func mark(shape any, steps []any) any {
	if shape == true || len(steps) == 0 {
		return true
	}
	name, ok := steps[0].(string)
	if !ok {
		return mark(shape, steps[1:])
	}
	fields, ok := shape.(map[string]any)
	if !ok {
		fields = map[string]any{}
	}
	fields[name] = mark(fields[name], steps[1:])
	return fields
}

// isSensitive says whether the shape marks the value at the path.
func isSensitive(shape any, path ...string) bool {
	for {
		switch s := shape.(type) {
		case bool:
			return s
		case []any:
			if len(s) == 0 {
				return false
			}
			shape = s[0]
			continue
		case map[string]any:
			if len(path) == 0 {
				return false
			}
			shape, path = s[path[0]], path[1:]
			continue
		}
		return false
	}
}

var instanceKey = regexp.MustCompile(`\[[^\]]*\]`)

// withoutKeys is a module's path as its own configuration knows it: all its instances share one.
func withoutKeys(module string) string {
	return strings.TrimSpace(instanceKey.ReplaceAllString(module, ""))
}
