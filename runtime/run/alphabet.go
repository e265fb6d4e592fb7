package run

import "time"

// alphabet is the set of texts that a part of a name may hold.
type alphabet struct {
	allowed string
	most    int
	holds   func(c byte) bool
}

func (a alphabet) fits(s string) bool {
	if s == "" || len(s) > a.most {
		return false
	}
	for i := range len(s) {
		if !a.holds(s[i]) {
			return false
		}
	}
	return true
}

func projectAlphabet() alphabet {
	return alphabet{`[A-Za-z0-9:.-]{1,300}`, 300, func(c byte) bool { return alphanumeric(c) || c == ':' || c == '.' || c == '-' }}
}

func regionAlphabet() alphabet {
	return alphabet{`[a-z0-9-]{1,63}`, 63, func(c byte) bool { return alphanumeric(c) && (c < 'A' || c > 'Z') || c == '-' }}
}

func jobAlphabet() alphabet {
	return alphabet{`[A-Za-z0-9_-]{1,500}`, 500, func(c byte) bool { return alphanumeric(c) || c == '_' || c == '-' }}
}

func scopeAlphabet() alphabet {
	return alphabet{`[A-Za-z0-9_-]{1,100}`, 100, func(c byte) bool { return alphanumeric(c) || c == '_' || c == '-' }}
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// CheckProject returns a [*NameError] unless the text can be a project id or number.
func CheckProject(s string) error { return checkPart("project", s, projectAlphabet()) }

// CheckRegion returns a [*NameError] unless the text can be a region.
func CheckRegion(s string) error { return checkPart("region", s, regionAlphabet()) }

// CheckJob returns a [*NameError] unless the text can be the short id of a job.
func CheckJob(s string) error { return checkPart("job", s, jobAlphabet()) }

// CheckScope returns a [*NameError] unless the text can be a run scope.
func CheckScope(s string) error { return checkPart("scope", s, scopeAlphabet()) }

func checkPart(part, value string, a alphabet) error {
	if a.fits(value) {
		return nil
	}
	return &NameError{Part: part, Value: value, Allowed: a.allowed}
}

// check demands the parts that the name will hold, and refuses others that are set to what they can never be.
func (i Identity) check() error {
	if i.Format != "" && i.Format != FormatV1 && i.Format != FormatSample {
		return &NameError{Part: "format", Value: string(i.Format), Allowed: "v1 or sample"}
	}
	sample := i.Format == FormatSample
	scoped := i.Scope != ""
	if sample && scoped {
		return &NameError{Part: "scope", Value: i.Scope, Allowed: "left out in the sample's format, which has no place for it"}
	}
	if err := checkOptional(i.Project, sample || scoped, CheckProject); err != nil {
		return err
	}
	if err := checkOptional(i.Region, sample || scoped, CheckRegion); err != nil {
		return err
	}
	if err := checkOptional(i.Job, scoped, CheckJob); err != nil {
		return err
	}
	if err := checkOptional(i.Scope, true, CheckScope); err != nil {
		return err
	}
	return i.checkTime()
}

func checkOptional(value string, optional bool, check func(string) error) error {
	if value == "" && optional {
		return nil
	}
	return check(value)
}

func (i Identity) checkTime() error {
	if i.ScheduleTime.IsZero() {
		return &NameError{Part: "schedule time", Allowed: "an RFC 3339 time"}
	}
	if year := i.ScheduleTime.UTC().Year(); year < 1 || year > 9999 {
		return &NameError{Part: "schedule time", Value: FormatTime(i.ScheduleTime), Allowed: "in the years 1 to 9999"}
	}
	if i.RawTime == "" {
		return nil
	}
	if t, err := time.Parse(time.RFC3339, i.RawTime); err != nil || !t.Equal(i.ScheduleTime) {
		return &NameError{Part: "schedule time", Value: i.RawTime, Allowed: "a spelling of " + FormatTime(i.ScheduleTime)}
	}
	return nil
}
