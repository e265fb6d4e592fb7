package jobspec

import (
	"errors"
	"unicode/utf8"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// maxDescription is the greatest length of a description in characters (Cloud Scheduler).
const maxDescription = 500

func identityRules() []judgedRule {
	return []judgedRule{
		limit("name-invalid", "The job's name is outside its alphabet", judgeName),
		limit("project-invalid", "The project is outside its alphabet", judgeProject),
		limit("region-invalid", "The region is outside its alphabet", judgeRegion),
		acceptableLimit("description-too-long", "The description is too long", judgeDescription),
	}
}

func judgeName(v *judge) {
	if !v.job.Name.IsSet() {
		v.fail(Path{"name"}, "it is missing", "The name is part of every run's name.", "Set it to 1 to 500 letters, digits, _ or -.")
		return
	}
	judgePart(v, v.job.Name, "name", run.CheckJob)
}

func judgeProject(v *judge) { judgePart(v, v.job.Project, "project", run.CheckProject) }

func judgeRegion(v *judge) { judgePart(v, v.job.Region, "region", run.CheckRegion) }

// judgePart holds a part of a run's name against the alphabet by which handlers check it.
func judgePart(v *judge, value Value[string], attribute string, check func(string) error) {
	text, ok := get(v, value)
	if !ok {
		return
	}
	if bad, ok := errors.AsType[*run.NameError](check(text)); ok {
		v.fail(Path{attribute}, quote(text)+" cannot be part of a run's name",
			"Handlers refuse a delivery whose names are outside their alphabets, so that no two runs can share a name.",
			"Set it to a value that matches "+bad.Allowed+".")
	}
}

func judgeDescription(v *judge) {
	text, _ := get(v, v.job.Description)
	if n := utf8.RuneCountInString(text); n > maxDescription {
		v.fail(Path{"description"}, amount(n, "character")+" are too many",
			"Cloud Scheduler takes "+amount(maxDescription, "character")+".",
			"Shorten it by at least "+amount(n-maxDescription, "character")+".")
	}
}
