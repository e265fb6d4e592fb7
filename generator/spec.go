package generator

import "github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"

// Spec describes one handler. Only Name has no default.
type Spec struct {
	// Name is the handler's name, with the alphabet of a job's: [A-Za-z0-9_-]{1,500}. The folder belongs to it.
	Name string
	// Kind is where the handler runs; see [Kinds]. Empty: http.
	Kind string
	// Module is the path of the generated Go module. Empty: example.com/ and the name.
	Module string
	// Package is the name of the Go package. Empty: main, or handler for kind function. With any other than main the program is in
	// cmd/, and the package can be imported.
	Package string
	// Jobs are the short names of the jobs that the handler serves, each with a method of its own. Empty: it serves any job, with
	// one method; for kinds that forward, those of Forward. None for kinds webhook and api, which serve no jobs.
	Jobs []string
	// Forward says for each job what its runs start, for the kinds that forward; nil for the others.
	Forward map[string]Forward
	// Webhook says what is received, for kind webhook. Nil: the defaults; nil for the others.
	Webhook *Webhook
	// API says how requests are guarded, for kind api. Nil: the defaults; nil for the others.
	API *API
	// Project and Region are assumed when a delivery and the environment name none. Empty: nothing is assumed.
	Project, Region string
	// Store is where the claims are kept: a URL, which becomes the default of IDEMPOTENT_STORE, or a scheme alone, which leaves the
	// URL to the environment. It never holds a password. Empty: Firestore's default database in Project. For kind webhook it is where
	// the events are.
	Store string
	// Policy is the handler's own policy, for jobs whose deliveries carry none. Zero: the library's defaults. Of kind api it is Timeout,
	// Lease and Renew, of kind webhook these, Retention, MaxAttempts and, of the job that drains the inbox, Deadline.
	Policy run.Policy
	// RuntimeVersion is the version of the library that go.mod asks for, such as v1.2.3. Empty: go mod tidy picks the latest.
	RuntimeVersion string
}

// File is one file of a handler's folder.
type File struct {
	// Path is relative to the folder, with forward slashes.
	Path string
	// Content is the whole content.
	Content []byte
	// Ours says that the file is rewritten at each generation; otherwise it is written once and is the user's from then on.
	Ours bool
}

// LibraryModule is the path of the Go module that generated code imports.
const LibraryModule = "github.com/idempotent-jobs/terraform-provider-idempotent"

// goVersion is what the go.mod of a generated module asks for: that of the library's own.
const goVersion = "1.26.0"
