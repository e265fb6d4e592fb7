package forward

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// CheckName takes the resource name of a target apart: projects/PROJECT/locations/REGION/{collection}/NAME, with the collections
// workflows, jobs and triggers.
func CheckName(collection, name string) (project, location string, err error) {
	parts := regexp.MustCompile(`^projects/([A-Za-z0-9:.-]{1,100})/locations/([a-z0-9-]{1,63})/` + regexp.QuoteMeta(collection) +
		`/[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`).FindStringSubmatch(name)
	if parts == nil {
		return "", "", fmt.Errorf("%q is not the name it should be: write it like projects/PROJECT/locations/REGION/%s/NAME", name, collection)
	}
	return parts[1], parts[2], nil
}

// maxArgument leaves room for the run below the 32 KB that Workflows takes.
const maxArgument = 31 << 10

// CheckArgument reads the argument of a workflow: a JSON object of at most 31 KB without a field run, in which the execution gets its
// run. Empty: {}.
func CheckArgument(text string) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if text == "" {
		return fields, nil
	}
	if len(text) > maxArgument {
		return nil, fmt.Errorf("it has %d bytes, it may have %d: hand over a reference to what is large", len(text), maxArgument)
	}
	if err := json.Unmarshal([]byte(text), &fields); err != nil || fields == nil {
		return nil, errors.New(`it is no JSON object: write it like {"key": "value"}`)
	}
	if _, taken := fields["run"]; taken {
		return nil, errors.New("it has a field run, in which the execution gets its run: give it another name")
	}
	return fields, nil
}

// CheckVariable judges the name of an environment variable for a started job.
func CheckVariable(name string) error {
	if name == EnvRunID || name == EnvScheduleTime {
		return fmt.Errorf("it holds %s, in which the execution gets its run: give it another name", name)
	}
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
		return fmt.Errorf("it holds %q, which is no name of a variable: use letters, digits and underscores", name)
	}
	return nil
}

// CheckSubstitution judges the name of a substitution for a started build.
func CheckSubstitution(name string) error {
	if name == SubstitutionRunID {
		return fmt.Errorf("it holds %s, in which the build gets its run: give it another name", name)
	}
	if !regexp.MustCompile(`^_[A-Z0-9_]{1,99}$`).MatchString(name) {
		return fmt.Errorf("it holds %q: a substitution of your own begins with _ and has capitals, digits and underscores", name)
	}
	return nil
}

// CheckTasks judges the number of tasks of a started job. Zero: the job's own.
func CheckTasks(n int) error {
	if most := 10_000; n < 0 || n > most {
		return fmt.Errorf("it is %d: write a number from 1 to %d, or leave it out for the job's own", n, most)
	}
	return nil
}

// CheckTaskTimeout judges the time that a task of a started job may take. Zero: the job's own.
func CheckTaskTimeout(d time.Duration) error {
	if longest := 7 * 24 * time.Hour; d < 0 || d > longest {
		return fmt.Errorf("it is %v: write a time of at most %v, or leave it out for the job's own", d, longest)
	}
	return nil
}

// CheckRevision judges what a build builds: one of branch, tag and commit, or none.
func CheckRevision(branch, tag, commit string) error {
	given := 0
	for _, revision := range []string{branch, tag, commit} {
		if revision != "" {
			given++
		}
	}
	if given > 1 {
		return errors.New("branch, tag and commit exclude each other: give one of them, or none")
	}
	return nil
}
