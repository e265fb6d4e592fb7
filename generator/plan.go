package generator

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// Plan returns the files of the handler, sorted by path, the manifest among them. It is pure: equal specs give equal files. The
// error joins one [*SpecError] for each field that cannot be used.
func Plan(spec Spec) ([]File, error) {
	kind, data, err := read(spec)
	if err != nil {
		return nil, err
	}
	files, err := render(kind, data)
	if err != nil {
		return nil, err
	}
	manifest, err := newManifest(data, files).file()
	if err != nil {
		return nil, err
	}
	files = append(files, manifest)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}

// data is what templates see.
type data struct {
	Name, Kind, Service, Module, Package string
	// Jobs are all jobs; Job is the one whose file is being rendered, in files of one job.
	Jobs []job
	Job  job
	// Any says that the handler serves any job, with the one method of Jobs.
	Any bool
	// Own says that a job has the handler's name, so that its work is in job.go, beside the type.
	Own                     bool
	Project, Region         string
	Store                   Store
	DefaultStore, Policy    string
	Library, RuntimeVersion string
	GoVersion, GoRelease    string
	// TimeoutSeconds is how long the platform should let a request live.
	TimeoutSeconds int
	// Defaults are the settings that the environment may leave out.
	Defaults []setting
	// Client and Forwards are what a forwarder links and starts. Nil: it is none.
	Client   *client
	Forwards []forwarded
	// Webhook and API are what handlers of these kinds do. Nil: it is of another kind.
	Webhook *receiving
	API     *guarding
	// Secrets are the environment variables of a webhook or an API that hold secrets.
	Secrets []string
	// Does says in a sentence what the program does. Works is the type of the user's works; empty: it has none.
	Does, Works string
	// Opens is how the store is opened.
	Opens opening
	// Runtime is the Go of App Engine and of functions.
	Runtime string
	// Entry is the path of the package with the program, as go build takes it.
	Entry string
}

// defaultDeadline is Cloud Scheduler's attempt deadline for HTTP targets that set none.
const defaultDeadline = 180 * time.Second

// opening is the function that opens the store, of which package, and what it is then.
type opening struct{ Package, Import, Type string }

// setting is one environment variable: the name of its constant in package run, and its default.
type setting struct{ Name, Value string }

// read judges the spec whole, so that all its errors are reported at once, and fills in the defaults.
func read(spec Spec) (kind, data, error) {
	errs := checkNames(spec)
	k, kindErr := findKind(spec.Kind)
	if kindErr != nil {
		errs = append(errs, kindErr)
	}
	store, url, storeErr := findStore(spec, k)
	if storeErr != nil {
		errs = append(errs, storeErr)
	}
	store.Example = strings.ReplaceAll(store.Example, "scheduler_runs", k.collection())
	jobs, starts, more := forwards(spec, k)
	errs = append(errs, more...)
	guards, more := api(spec, k, store)
	errs = append(errs, more...)
	receives, named, more := received(spec, k, store)
	errs = append(errs, more...)
	switch {
	case receives != nil:
		jobs = named
	case guards == nil && k.client == nil:
		jobs, more = nameJobs(spec)
		errs = append(errs, more...)
	}
	if err := k.checkPackage(spec.Package); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return kind{}, data{}, join(errs)
	}
	d := data{
		Name: spec.Name, Kind: k.name, Service: serviceName(spec.Name), Package: cmp.Or(spec.Package, k.packageName()),
		Jobs: jobs, Any: len(spec.Jobs) == 0 && k.client == nil, Client: k.client, Forwards: starts, Webhook: receives, API: guards,
		Project: spec.Project, Region: spec.Region,
		Store: store, DefaultStore: url,
		Library: LibraryModule, RuntimeVersion: spec.RuntimeVersion,
		GoVersion: goVersion, GoRelease: goVersion[:strings.LastIndex(goVersion, ".")],
	}
	d.TimeoutSeconds = int(math.Ceil(cmp.Or(spec.Policy.Timeout, spec.Policy.Deadline, defaultDeadline).Seconds()))
	if k.answers == events { // the longest request is a drain
		d.TimeoutSeconds = int(math.Ceil(cmp.Or(spec.Policy.Deadline, defaultDeadline).Seconds()))
	}
	d.Runtime = "go" + strings.ReplaceAll(d.GoRelease, ".", "")
	d.Entry = "."
	if d.Package != "main" {
		d.Entry = "./cmd/" + d.Service
	}
	d.Own = slices.ContainsFunc(jobs, func(j job) bool { return j.Own })
	d.Module = cmp.Or(spec.Module, "example.com/"+d.Service)
	d.describe(k)
	defaults := []setting{{"EnvStore", url}, {"EnvProject", spec.Project}, {"EnvRegion", spec.Region}}
	for _, s := range defaults[:d.settings(k)] {
		if s.Value != "" {
			d.Defaults = append(d.Defaults, s)
		}
	}
	if policy := spec.Policy.Encode(); policy != "v=1" {
		d.Policy = policy
	}
	return k, d, nil
}

// settings is how many of the three settings with a default (store, project, region) the kind reads.
func (data) settings(k kind) int {
	switch k.answers {
	case operations:
		return 1
	case events:
		return 2
	default:
		return 3
	}
}

// describe says what the program does, with what.
func (d *data) describe(k kind) {
	defer func() {
		if d.Store.Password != "" {
			d.Secrets = append(slices.Clip(d.Secrets), d.Store.Password)
		}
	}()
	claims := opening{d.Store.Package, d.Store.Import(), "claim.Store"}
	switch {
	case k.answers == events:
		d.Does = "receives webhooks: one event has one effect, however often it is delivered."
		d.Secrets = d.Webhook.Secrets
		d.Works, d.Opens = "Events", opening{d.Store.Inbox, LibraryModule + "/runtime/webhook/" + d.Store.Inbox, "webhook.Inbox"}
	case k.answers == operations:
		d.Does = "serves an API: one idempotency key has one effect, however often its request is sent."
		d.Works, d.Opens = "API", claims
	case d.Client != nil:
		d.Does = "starts " + d.Client.Title + " for Cloud Scheduler jobs: one scheduled run starts one execution, however often it is delivered."
		d.Opens = claims
	default:
		d.Does = "does the work of Cloud Scheduler jobs: one scheduled run has one effect, however often it is delivered."
		d.Works, d.Opens = "Jobs", claims
	}
}

func join(errs []*SpecError) error {
	all := make([]error, len(errs))
	for i, e := range errs {
		all[i] = e
	}
	return errors.Join(all...)
}
