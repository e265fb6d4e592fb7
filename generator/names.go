package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// job is one job as templates see it.
type job struct {
	// Name is the job's short name, or the type of an event; empty: any other.
	Name string
	// Method is the Go method that does its work.
	Method string
	// File is the stem of its file's name: File.go and File_test.go.
	File string
	// Own says that the file holds the type of the works too.
	Own bool
}

// anyJob stands for all jobs of a handler that lists none.
func anyJob() job { return job{Method: "Work", File: "job", Own: true} }

// nameJobs gives each job a method and a file. A job's names follow from its own name and the handler's alone, so that adding,
// removing or reordering others never moves what the user wrote.
func nameJobs(spec Spec) ([]job, []*SpecError) {
	jobs, errs := nameAll(spec.Jobs, naming{field: "jobs", ending: "_job", own: spec.Name, check: checkJobName})
	if len(spec.Jobs) == 0 {
		jobs = append(jobs, anyJob())
	}
	return jobs, errs
}

// naming says how names become those of Go methods and files.
type naming struct {
	// field is what errors call the list.
	field string
	// ending ends the stem of a file's name.
	ending string
	// own is the name whose work is in job.go. Empty: none.
	own string
	// check says why a name cannot be used; empty: it can.
	check func(name string) string
	// taken are methods that are there already, and what for.
	taken map[string]string
}

// nameAll names a list, sorted.
func nameAll(names []string, n naming) ([]job, []*SpecError) {
	var jobs []job
	var errs []*SpecError
	seen := map[string]string{}
	for i, name := range names {
		refuse := func(reason string) {
			errs = append(errs, &SpecError{Field: fmt.Sprintf("%s[%d]", n.field, i), Value: name, Reason: reason})
		}
		if reason := n.check(name); reason != "" {
			refuse(reason)
			continue
		}
		j := job{Name: name, Method: methodName(name), File: fileStem(name) + n.ending}
		if j.Method == "" {
			refuse("it holds no letter or digit to name a Go method by")
			continue
		}
		if name == n.own {
			j.File, j.Own = "job", true
		}
		other, twice := seen[j.Method]
		if !twice {
			other, twice = seen[j.File]
		}
		switch what, taken := n.taken[j.Method]; {
		case taken:
			refuse(fmt.Sprintf("its Go name, %s, is that of %s: receive it by a handler of its own", j.Method, what))
			continue
		case twice && other == name:
			refuse("it is listed twice")
			continue
		case twice:
			refuse(fmt.Sprintf("it gets the same Go name as %q, %s: serve one of them by a handler of its own", other, j.Method))
			continue
		}
		seen[j.Method], seen[j.File] = name, name
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b job) int { return strings.Compare(a.Name, b.Name) })
	return jobs, errs
}

// methodName turns nightly-report into NightlyReport.
func methodName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	method := b.String()
	if method != "" && method[0] >= '0' && method[0] <= '9' {
		return "Job" + method
	}
	return method
}

// fileStem turns Nightly-Report into nightly_report. What names are made of always gets an ending such as _job: nothing that a job is
// called can then make the file a test or bind it to an operating system.
func fileStem(name string) string {
	const most = 150 // with its endings well below the 255 bytes that file systems take
	stem := strings.ToLower(strings.Join(words(name), "_"))
	if len(stem) > most {
		sum := sha256.Sum256([]byte(name))
		stem = stem[:most] + "_" + hex.EncodeToString(sum[:4])
	}
	return stem
}

// words are the parts of a name; the names of jobs have no other marks than the first two.
func words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.:/", r) })
}

// serviceName turns a handler's name into one that Cloud Run, image registries and folders take: lower case, at most 49 characters.
func serviceName(name string) string {
	const most = 49
	service := strings.ToLower(strings.Join(words(name), "-"))
	if service == "" || service[0] < 'a' || service[0] > 'z' {
		service = strings.TrimSuffix("handler-"+service, "-")
	}
	if len(service) > most {
		service = strings.TrimRight(service[:most], "-")
	}
	return service
}
