package generator

import "strings"

// kind is one way to run a handler. Its files are those of its template folders; where two hold the same path, the later wins.
type kind struct {
	name    string
	folders []string
	// client is what a forwarder starts its targets by. Nil: the works are the user's own.
	client *client
	// importable says that the platform builds its own program around the package, which then cannot be main.
	importable bool
	// answers is what the user's own code is called for.
	answers answers
}

// answers is what a handler answers with its user's code.
type answers int

const (
	runs       answers = iota // runs of scheduled jobs
	events                    // events that another service sends by webhook
	operations                // operations of an API, by requests with an Idempotency-Key
)

// kinds lists the kinds in the order in which messages name them.
func kinds() []kind {
	return []kind{
		{name: "http", folders: []string{"module", "works", "program", "container", "http"}},
		{name: "function", folders: []string{"module", "works", "function"}, importable: true},
		{name: "appengine", folders: []string{"module", "works", "program", "appengine"}},
		{name: "forward_workflows", folders: forwarder(), client: &client{
			Package: "workflowsforward", Method: "Workflow", Type: "Workflow", Title: "Workflows", Noun: "workflow", collection: "workflows",
			Roles: []string{"roles/workflows.invoker", "roles/workflows.viewer"}, fields: []string{"argument"},
			RunID: "the field `run.id` of its argument, `${args.run.id}`, and its first 63 characters in the label `idempotent_run`",
		}},
		{name: "forward_run_job", folders: forwarder(), client: &client{
			Package: "runjobforward", Method: "Job", Type: "Job", Title: "Cloud Run jobs", Noun: "job of Cloud Run", collection: "jobs",
			Roles:  []string{"roles/run.jobsExecutorWithOverrides", "roles/run.viewer"},
			fields: []string{"args", "container", "env", "tasks", "timeout"},
			RunID:  "the environment variable `IDEMPOTENT_RUN_ID`",
		}},
		{name: "forward_cloud_build", folders: forwarder(), client: &client{
			Package: "cloudbuildforward", Method: "Trigger", Type: "Trigger", Title: "Cloud Build", Noun: "trigger", collection: "triggers",
			Roles:  []string{"roles/cloudbuild.builds.editor", "roles/iam.serviceAccountUser"},
			fields: []string{"branch", "commit", "substitutions", "tag"},
			RunID:  "the substitution `_IDEMPOTENT_RUN_ID`",
		}},
		{name: "webhook", folders: []string{"module", "program", "container", "webhook"}, answers: events},
		{name: "api", folders: []string{"module", "program", "container", "api"}, answers: operations},
	}
}

// forwarder are the template folders of the kinds that forward.
func forwarder() []string { return []string{"module", "program", "container", "forward"} }

// Kinds returns the names of the kinds of handler.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Forwards reports whether handlers of that kind start something else, so that their specs need [Spec].Forward.
func Forwards(name string) bool {
	k, err := findKind(name)
	return err == nil && k.client != nil
}

// Schedules reports whether handlers of that kind do the work of scheduled jobs; the others are called by somebody else.
func Schedules(name string) bool {
	k, err := findKind(name)
	return err == nil && k.answers == runs
}

// DefaultStore is the store of a handler of that kind in a project, when its spec names none.
func DefaultStore(kind, project string) string {
	k, err := findKind(kind)
	if err != nil {
		return ""
	}
	return "firestore://" + project + "/(default)/" + k.collection()
}

// collection is where the kind keeps its records in Firestore.
func (k kind) collection() string {
	switch k.answers {
	case events:
		return "webhook_inbox"
	case operations:
		return "idempotency_keys"
	default:
		return "scheduler_runs"
	}
}

func findKind(name string) (kind, *SpecError) {
	if name == "" {
		name = "http"
	}
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, &SpecError{Field: "kind", Value: name, Reason: "it must be one of " + strings.Join(Kinds(), ", ")}
}

// packageName is the package of a handler that names none.
func (k kind) packageName() string {
	if k.importable {
		return "handler"
	}
	return "main"
}

func (k kind) checkPackage(name string) *SpecError {
	if k.importable && name == "main" {
		return &SpecError{Field: "package", Value: name, Reason: "kind " + k.name + " is built into a program of the platform's: give it another name"}
	}
	return nil
}
