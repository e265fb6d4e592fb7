package planlint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// SettingsFile is the name that settings have in a repository.
const SettingsFile = ".idempotent.yaml"

// Settings are the levels and suppressions of a repository. A nil Settings changes nothing.
type Settings struct {
	path         string
	levels       map[jobspec.RuleID]Level
	suppressions []suppression
}

// suppression hides the findings of one rule at one address.
type suppression struct {
	rule    jobspec.RuleID
	address string
	matches *regexp.Regexp
	reason  string
	until   time.Time // the last moment at which it counts; zero: for ever
	line    int
}

// settingsYAML is the file's shape.
type settingsYAML struct {
	Rules        map[string]string `yaml:"rules"`
	Suppressions []suppressionYAML `yaml:"suppressions"`
}

type suppressionYAML struct {
	Rule    string `yaml:"rule"`
	Address string `yaml:"address"`
	Reason  string `yaml:"reason"`
	Until   string `yaml:"until"`
}

// ParseSettings reads the settings of a repository. path is for messages. All that is wrong is reported at once.
func ParseSettings(path string, content []byte) (*Settings, error) {
	var raw settingsYAML
	decoder := yaml.NewDecoder(bytes.NewReader(content), yaml.Strict())
	if err := decoder.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))
	}
	s := &Settings{path: path, levels: map[jobspec.RuleID]Level{}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(raw.Rules)) {
		_, unknown := LookupRule(jobspec.RuleID(name))
		level, err := ParseLevel(raw.Rules[name])
		if err := errors.Join(unknown, err); err != nil {
			errs = append(errs, fmt.Errorf("%s: rules: %w", path, err))
		}
		s.levels[jobspec.RuleID(name)] = level
	}
	for i, each := range raw.Suppressions {
		read, wrong := each.read()
		for _, err := range wrong {
			errs = append(errs, fmt.Errorf("%s: suppressions[%d]: %w", path, i, err))
		}
		read.line = lineOf(content, i)
		s.suppressions = append(s.suppressions, read)
	}
	return s, errors.Join(errs...)
}

func (y suppressionYAML) read() (suppression, []error) {
	s := suppression{rule: jobspec.RuleID(y.Rule), address: y.Address, reason: strings.TrimSpace(y.Reason), matches: pattern(y.Address)}
	var errs []error
	if _, err := LookupRule(s.rule); err != nil {
		errs = append(errs, err)
	}
	if y.Address == "" {
		errs = append(errs, errors.New("the address is missing: name a resource, with * for any text"))
	}
	if s.reason == "" {
		errs = append(errs, errors.New("the reason is missing: say why the finding may stand"))
	}
	if y.Until != "" {
		day, err := time.Parse(time.DateOnly, y.Until)
		if err != nil {
			errs = append(errs, fmt.Errorf("until %q is no date: write it as 2027-01-31", y.Until))
		}
		s.until = day.AddDate(0, 0, 1)
	}
	return s, errs
}

// pattern matches an address, with * for any text. Without the key of an instance all instances of a block are meant.
func pattern(address string) *regexp.Regexp {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(address), `\*`, `.*`)
	return regexp.MustCompile(`^(?s:` + quoted + `)(\[[^\]]*\])?$`)
}

// lineOf is the line of the n-th suppression, 0 when it cannot be told.
func lineOf(content []byte, n int) int {
	path, err := yaml.PathString(fmt.Sprintf("$.suppressions[%d].rule", n))
	if err != nil {
		return 0
	}
	node, err := path.ReadNode(bytes.NewReader(content))
	if err != nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}

// applied is the settings during one check.
type applied struct {
	*Settings

	now  time.Time
	used []bool
}

func (s *Settings) begin(now time.Time) applied {
	if s == nil {
		s = &Settings{}
	}
	return applied{s, now, make([]bool, len(s.suppressions))}
}

// level is a rule's level under the settings.
func (a applied) level(id jobspec.RuleID, own Level) Level {
	if l, ok := a.levels[id]; ok {
		return l
	}
	return own
}

// suppress finds the reason why a finding is suppressed. One that has ended hides nothing, but counts as used.
func (a applied) suppress(f Finding, about *resource) (string, bool) {
	reason, hidden := "", false
	for i, s := range a.suppressions {
		if s.rule != f.Rule || !s.matches.MatchString(f.Address) && (about == nil || !s.matches.MatchString(about.previous)) {
			continue
		}
		a.used[i] = true
		if !hidden && !s.ended(a.now) {
			reason, hidden = s.reason, true
		}
	}
	return reason, hidden
}

func (s suppression) ended(now time.Time) bool {
	return !s.until.IsZero() && !now.IsZero() && !now.Before(s.until)
}

// leftOver are the findings about the suppressions themselves.
func (a applied) leftOver() []Finding {
	var findings []Finding
	for i, s := range a.suppressions {
		f := Finding{
			Address: a.path, Position: Position{a.path, s.line}, Path: jobspec.Path{"suppressions", i},
			Remedy: "Remove it.",
		}
		switch {
		case s.ended(a.now):
			f.Rule = jobspec.SuppressionExpired
			f.Summary = fmt.Sprintf("suppression of %s at %s: it ended on %s", s.rule, s.address, s.until.AddDate(0, 0, -1).Format(time.DateOnly))
			f.Detail = "It hides nothing any more. Its reason was: " + s.reason + "."
			f.Remedy = "Mend the finding and remove the suppression, or give it a later date with a reason that still holds."
		case !a.used[i]:
			f.Rule = jobspec.SuppressionUnused
			f.Summary = fmt.Sprintf("suppression of %s at %s: it hides nothing", s.rule, s.address)
			f.Detail = "No finding of the rule is at that address. It would hide one that nobody has weighed, should it appear."
		default:
			continue
		}
		rule, _ := LookupRule(f.Rule)
		if f.Level = a.level(f.Rule, rule.Level); f.Level != Off {
			findings = append(findings, f)
		}
	}
	return findings
}
