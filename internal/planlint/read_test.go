package planlint_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/unicode"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/planlint/plantest"
)

func TestWhatIsNoPlanIsSaidInOneLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ input, want string }{
		"nothing":         {"", "it is empty"},
		"binary plan":     {"PK\x03\x04rest", "it is a plan in Terraform's own format: write it as JSON by `terraform show -json PLAN`"},
		"configuration":   {"resource \"x\" \"y\" {}\n", "it is not JSON"},
		"cut short":       {`{"format_version":"1.2","resource_changes":[{"addr`, "it ends in the middle"},
		"own state file":  {`{"version":4,"lineage":"x","resources":[]}`, "it is a state file in Terraform's own format"},
		"schemas":         {`{"format_version":"1.0","provider_schemas":{}}`, "it holds the schemas of providers"},
		"another list":    {`[1,2]`, "no output of terraform show -json"},
		"another object":  {`{"a":1}`, "it has no format_version"},
		"later version":   {`{"format_version":"2.0","resource_changes":[]}`, `its format_version is "2.0", and this program reads 1.x`},
		"empty state":     {`{"format_version":"1.0"}`, "it holds no plan and no state"},
		"wrong shape":     {`{"format_version":"1.2","resource_changes":{"a":1}}`, "a list was expected"},
		"wrong kind":      {`{"format_version":"1.2","resource_changes":[{"address":5}]}`, "no output of terraform show -json"},
		"two documents":   {`{"format_version":"1.2","resource_changes":[]} {}`, "something follows the document"},
		"two plain lists": {`{"format_version":1.2}`, "no output of terraform show -json"},
		"gzip":            {"\x1f\x8b\x08\x00rest", "it is compressed"},
		"a key twice":     {`{"format_version":"1.2","resource_changes":[{"address":"a","address":"b"}]}`, "it is not JSON (duplicate object member name"},
		"a part twice":    {`{"format_version":"1.2","resource_changes":[],"resource_changes":[]}`, "it is not JSON (duplicate object member name"},
		"not UTF-8":       {"{\"format_version\":\"1.2\xff\"}", "it is not JSON (invalid UTF-8"},
		"deep":            {`{"format_version":"1.2","resource_changes":` + strings.Repeat("[", 1<<16), "it is not JSON (exceeded max depth"},
		"a byte":          {"\xff", "it is not JSON"},
		"nested modules":  {`{"format_version":"1.0","values":{"root_module":` + strings.Repeat(`{"child_modules":[`, 300) + `{}` + strings.Repeat(`]}`, 300) + `}}`, "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := planlint.Read(strings.NewReader(c.input))
			if err == nil {
				t.Fatal("it was read")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %q, want one line with %q", err, c.want)
			}
		})
	}
}

// endless gives a document whose one text never ends.
type endless struct{ begun bool }

func (e *endless) Read(p []byte) (int, error) {
	if !e.begun {
		e.begun = true
		return copy(p, `{"format_version":"1.2","resource_changes":[{"address":"`), nil
	}
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestOneEndlessValueIsRefused(t *testing.T) {
	t.Parallel()
	_, err := planlint.Read(&endless{})
	if err == nil || !strings.Contains(err.Error(), "one value is larger than 64 MiB") {
		t.Errorf("error is %v", err)
	}
}

func TestErrorOfTheInputIsTold(t *testing.T) {
	t.Parallel()
	_, err := planlint.Read(io.MultiReader(strings.NewReader(`{"format_version":"1.2",`), iotest.ErrReader(errors.New("the disk is gone"))))
	if err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("error is %v", err)
	}
}

func TestEndOfALineIsNotSaidTwice(t *testing.T) {
	t.Parallel()
	for _, input := range []string{`{"version":4,"lineage":"x"}`, `{"format_version":"1.0","provider_schemas":{}}`, `{"a":1}`} {
		_, err := planlint.Read(strings.NewReader(input))
		if err == nil || strings.Count(err.Error(), "terraform show -json") != 1 {
			t.Errorf("error is %v", err)
		}
	}
}

func TestFolderIsNoEmptyPlan(t *testing.T) {
	t.Parallel()
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	if _, err := planlint.Read(folder); err == nil || !strings.Contains(err.Error(), "it cannot be read") {
		t.Errorf("error is %v", err)
	}
}

func TestByteOrderMarkIsPassedOver(t *testing.T) {
	t.Parallel()
	if _, err := planlint.Read(strings.NewReader("\xef\xbb\xbf" + `{"format_version":"1.2","resource_changes":[]}`)); err != nil {
		t.Error(err)
	}
}

func TestPlanThatPowerShellWroteIsRead(t *testing.T) {
	t.Parallel()
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(aJob(`"schedule":"0 3 * * ü"`))
		if err != nil {
			t.Fatal(err)
		}
		document, err := planlint.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(planlint.Check(document, planlint.Options{Now: now})); !strings.Contains(got, "schedule-invalid") {
			t.Errorf("findings are %s", got)
		}
	}
}

// aJob is a state with one job of hashicorp/google of these values.
func aJob(values string) string {
	return `{"format_version":"1.0","values":{"root_module":{"resources":[{"address":"google_cloud_scheduler_job.a","mode":"managed",` +
		`"type":"google_cloud_scheduler_job","name":"a","values":{"name":"a","project":"acme-prod","region":"europe-west1",` + values + `}}]}}}`
}

func TestAudienceThatCloudSchedulerSetsByDefaultIsNoDeclaration(t *testing.T) {
	t.Parallel()
	for audience, found := range map[string]bool{"https://api-abc123-ew.a.run.app/run": false, "https://api-abc123-ew.a.run.app/other": true} {
		document, err := planlint.Read(strings.NewReader(aJob(`"schedule":"0 3 * * *","http_target":[{"uri":"https://api-abc123-ew.a.run.app/run",` +
			`"oidc_token":[{"service_account_email":"caller@acme-prod.iam.gserviceaccount.com","audience":"` + audience + `"}]}]`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(planlint.Check(document, planlint.Options{Now: now})); strings.Contains(got, "audience-origin") != found {
			t.Errorf("%s: findings are %s", audience, got)
		}
	}
}

func TestHugeNumbersAreOutOfRange(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e15", "99999999999999999999999", "1e999", "-1e999", "-3"} {
		document, err := planlint.Read(strings.NewReader(aJob(`"schedule":"0 3 * * *","retry_config":[{"retry_count":` + number + `,"max_doublings":` + number + `}]`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(planlint.Check(document, planlint.Options{Now: now})); !strings.Contains(got, "retry-out-of-range google_cloud_scheduler_job.a retry_config.0.retry_count") {
			t.Errorf("%s: findings are %s", number, got)
		}
	}
}

func TestStateIsJudgedLikeAPlan(t *testing.T) {
	t.Parallel()
	for _, e := range corpus(t) {
		if e.name != "authentication" && e.name != "for-each" && e.name != "modules" && e.name != "sensitive" {
			continue
		}
		state, err := plantest.State(e.after)
		if err != nil {
			t.Fatal(err)
		}
		result := e.check(t, state)
		for line := range strings.Lines(e.want) {
			fields := strings.Fields(line)
			if fields[0] == "error" && !strings.Contains(lines(result), " "+fields[1]+" "+fields[2]+" ") {
				t.Errorf("%s: the state lacks %s at %s:\n%s", e.name, fields[1], fields[2], lines(result))
			}
		}
		if len(result.Waiting) > 0 && e.name != "sensitive" {
			t.Errorf("%s: a state knows everything, but waits: %v", e.name, result.Waiting)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, e := range corpus(f) {
		plan := e.plan(f)
		if len(plan) < 40_000 {
			f.Add(plan)
		}
	}
	f.Add([]byte(`{"format_version":"1.0","values":{"root_module":{"resources":[{"mode":"managed","type":"google_cloud_scheduler_job","values":{}}]}}}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		document, err := planlint.Read(bytes.NewReader(input))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		result := planlint.Check(document, planlint.Options{Now: now})
		for _, write := range []func(io.Writer, planlint.Result) error{planlint.WriteText, planlint.WriteJSON} {
			if err := write(io.Discard, result); err != nil {
				t.Error(err)
			}
		}
	})
}
