package run

import "time"

// alphabet is the set of texts that a part of a name may hold.
type alphabet struct {
	allowed string
	most    int
	low     uint64 // the characters below 64, a bit each
	high    uint64 // those from 64 to 127
}

const (
	digits = (1<<10 - 1) << '0'
	lower  = (1<<26 - 1) << ('a' - 64)
	upper  = (1<<26 - 1) << ('A' - 64)
)

func (a *alphabet) fits(s string) bool {
	if s == "" || len(s) > a.most {
		return false
	}
	for i := range len(s) {
		set := a.low
		if s[i] >= 64 {
			set = a.high
		}
		if s[i] >= 128 || set>>(s[i]%64)&1 == 0 {
			return false
		}
	}
	return true
}

func projectAlphabet() alphabet {
	return alphabet{`[A-Za-z0-9:.-]{1,300}`, 300, digits | 1<<':' | 1<<'.' | 1<<'-', lower | upper}
}

func regionAlphabet() alphabet { return alphabet{`[a-z0-9-]{1,63}`, 63, digits | 1<<'-', lower} }

func jobAlphabet() alphabet {
	return alphabet{`[A-Za-z0-9_-]{1,500}`, 500, digits | 1<<'-', lower | upper | 1<<('_'-64)}
}

func scopeAlphabet() alphabet {
	return alphabet{`[A-Za-z0-9_-]{1,100}`, 100, digits | 1<<'-', lower | upper | 1<<('_'-64)}
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
