package planlint

import (
	"slices"
	"strings"
)

// The types of resources that are read. All others are counted and passed over.
const (
	typeOurJob       = "idempotent_scheduled_job"
	typeOurHandler   = "idempotent_handler"
	typeOurStore     = "idempotent_run_store"
	typeGoogleJob    = "google_cloud_scheduler_job"
	typeField        = "google_firestore_field"
	typeDatabase     = "google_firestore_database"
	typeAccount      = "google_service_account"
	typeRun2         = "google_cloud_run_v2_service"
	typeRun1         = "google_cloud_run_service"
	typeFunction2    = "google_cloudfunctions2_function"
	typeFunction1    = "google_cloudfunctions_function"
	accessMember     = "_iam_member"
	accessBinding    = "_iam_binding"
	accessPolicy     = "_iam_policy"
	managedResources = "managed"
)

// targetTypes lists the types that a job can call.
func targetTypes() []string { return []string{typeRun2, typeRun1, typeFunction2, typeFunction1} }

// relevant says whether resources of a type are kept.
func relevant(resourceType string) bool {
	switch resourceType {
	case typeOurJob, typeOurHandler, typeOurStore, typeGoogleJob, typeField, typeDatabase, typeAccount:
		return true
	}
	target, _ := accessOf(resourceType)
	return slices.Contains(targetTypes(), resourceType) || target != ""
}

// accessOf splits the type of an IAM resource into the type of its target and its kind; empty for other types.
func accessOf(resourceType string) (target, kind string) {
	for _, kind := range []string{accessMember, accessBinding, accessPolicy} {
		if target, ok := strings.CutSuffix(resourceType, kind); ok && slices.Contains(targetTypes(), target) {
			return target, kind
		}
	}
	return "", ""
}

// resource is one resource instance as it is before and after the change. In a state there is no before.
type resource struct {
	address  string
	previous string // the address before a moved block; empty: the same
	module   string // address of the module instance; empty: the root module
	kind     string // type
	name     string
	index    string // as JSON: "key" or 0; empty: the only instance
	actions  []string
	place    int // in the document

	before, after                   []byte // JSON
	unknown                         []byte
	beforeSensitive, afterSensitive []byte
	hasBefore, hasAfter             bool
	declared                        *configResource
	modules                         *configModule // where the block stands; nil without a configuration
}

// is says whether the change is exactly of these actions, in this order.
func (r *resource) is(actions ...string) bool { return slices.Equal(r.actions, actions) }

func (r *resource) creates() bool { return slices.Contains(r.actions, "create") }
func (r *resource) deletes() bool { return slices.Contains(r.actions, "delete") }

// stays says that the resource is there after apply.
func (r *resource) stays() bool { return r.hasAfter && !r.is("delete") && !r.is("forget") }

// was says that the resource was there before, and that something about it changes.
func (r *resource) was() bool { return r.hasBefore }

// release lets go of what has been read.
func (r *resource) release() {
	r.before, r.after, r.unknown, r.beforeSensitive, r.afterSensitive = nil, nil, nil, nil, nil
}

// replaced says that the resource makes way for one in another place.
func (r *resource) replaced() bool { return r.creates() && r.deletes() }

// planned is the resource after apply.
func (r *resource) planned() node {
	n := node{value: parsed(r.after), unknown: parsed(r.unknown), sensitive: parsed(r.afterSensitive)}
	if r.declared != nil {
		n.expression, n.configured = parsed(r.declared.expressions), true
	}
	return n
}

// prior is the resource before.
func (r *resource) prior() node {
	return node{value: parsed(r.before), sensitive: parsed(r.beforeSensitive)}
}

// block is the address of the block in its module, such as google_cloud_scheduler_job.nightly.
func (r *resource) block() string { return r.kind + "." + r.name }

// modulePath is the names of the modules around a resource, without the keys of their instances.
func modulePath(address string) []string {
	var names []string
	for _, step := range addressSteps(address) {
		if step != "module" {
			names = append(names, step)
		}
	}
	return names
}

// keys are the instance keys in the resource's address.
func (r *resource) keys() []string {
	var keys []string
	rest := r.address
	for {
		_, after, ok := strings.Cut(rest, "[")
		if !ok {
			return keys
		}
		end := strings.Index(after, "]")
		if strings.HasPrefix(after, `"`) {
			end = strings.Index(after, `"]`) + 1
		}
		if end <= 0 {
			return keys
		}
		keys = append(keys, after[:end])
		rest = after[end:]
	}
}

// addressSteps splits an address at its dots and leaves out instance keys, which may hold dots themselves.
func addressSteps(address string) []string {
	var steps []string
	var step strings.Builder
	inKey, inText := false, false
	for i := 0; i < len(address); i++ {
		c := address[i]
		switch {
		case inText && c == '\\':
			i++
		case inKey && c == '"':
			inText = !inText
		case inText:
		case c == '[':
			inKey = true
		case c == ']':
			inKey = false
		case inKey:
		case c == '.':
			steps = append(steps, step.String())
			step.Reset()
		default:
			step.WriteByte(c)
		}
	}
	if step.Len() > 0 {
		steps = append(steps, step.String())
	}
	return steps
}
