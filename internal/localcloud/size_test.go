package localcloud_test

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
)

// declaration is a job of which only the size is in question.
type declaration struct {
	app, token                    bool
	name, description, zone, path string
	headers                       map[string]string
	filler                        int // bytes of one more header
	body                          int // bytes
}

func drawDeclaration(t *rapid.T) declaration {
	text := func(label string, most int) string {
		return strings.Repeat("a", rapid.IntRange(1, most).Draw(t, label))
	}
	d := declaration{
		app: rapid.Bool().Draw(t, "app engine"), token: rapid.Bool().Draw(t, "token"), name: text("name", 500),
		description: text("description", 500), zone: rapid.SampledFrom([]string{"Europe/Berlin", "UTC"}).Draw(t, "zone"),
		path: "/" + text("path", 2000), headers: map[string]string{},
	}

	names := []string{"Content-Type", "X-A", "x-b"}
	if d.app {
		names = append(names, "user-agent") // which HTTP targets replace
	}

	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "headers") {
		d.headers[name] = rapid.SampledFrom([]string{"a", "text/plain", "application/octet-stream"}).Draw(t, "value")
	}

	return d
}

// declared is the job as its author declares it.
func (d declaration) declared() jobspec.Job {
	known := jobspec.Known[string]

	headers := jobspec.Headers{"X-Filler": known(strings.Repeat("f", d.filler))}
	for name, value := range d.headers {
		headers[name] = known(value)
	}

	j := jobspec.Job{
		Name: known(d.name), Project: known("acme-prod"), Region: known("europe-west1"), Description: known(d.description),
		Schedule: known("0 3 * * *"), TimeZone: known(d.zone),
	}
	body := known(strings.Repeat("b", d.body))

	if d.app {
		j.AppEngine = jobspec.Known(jobspec.AppEngineTarget{RelativeURI: known(d.path), BodyText: body, Headers: jobspec.Known(headers)})

		return j
	}

	target := jobspec.HTTPTarget{URI: known("https://example.com" + d.path), BodyText: body, Headers: jobspec.Known(headers)}
	if d.token {
		target.OIDCToken = jobspec.Known(jobspec.OIDCToken{ServiceAccountEmail: known("caller@acme-prod.iam.gserviceaccount.com")})
	}

	j.HTTP = jobspec.Known(target)

	return j
}

// sent is the job as the provider sends it.
func (d declaration) sent() *schedulerpb.Job {
	j := d.declared()

	headers := map[string]string{"X-Filler": strings.Repeat("f", d.filler)}
	maps.Copy(headers, d.headers)

	for name, value := range jobspec.Derive(j).Headers {
		headers[name] = value.OrZero()
	}

	pb := &schedulerpb.Job{
		Name: parent + "/jobs/" + d.name, Description: d.description, Schedule: "0 3 * * *", TimeZone: d.zone,
		AttemptDeadline: durationpb.New(jobspec.Derive(j).AttemptDeadline.OrZero()),
	}
	body := []byte(strings.Repeat("b", d.body))

	if d.app {
		pb.Target = &schedulerpb.Job_AppEngineHttpTarget{AppEngineHttpTarget: &schedulerpb.AppEngineHttpTarget{
			RelativeUri: d.path, Body: body, Headers: headers,
		}}

		return pb
	}

	target := &schedulerpb.HttpTarget{Uri: "https://example.com" + d.path, Body: body, Headers: headers}
	if d.token {
		target.AuthorizationHeader = &schedulerpb.HttpTarget_OidcToken{OidcToken: &schedulerpb.OidcToken{
			ServiceAccountEmail: "caller@acme-prod.iam.gserviceaccount.com", Audience: jobspec.Derive(j).Audience.OrZero(),
		}}
	}

	pb.Target = &schedulerpb.Job_HttpTarget{HttpTarget: target}

	return pb
}

// TestWhatAPlanTakesForSmallEnoughIsCreatedAndWhatItRefusesIsNot: jobs and headers about as large as they may be.
func TestWhatAPlanTakesForSmallEnoughIsCreatedAndWhatItRefusesIsNot(t *testing.T) {
	t.Parallel()

	client := schedulerClient(t, start(t, localcloud.Config{Clock: localcloud.ManualClock(noon())}), false)
	counted := regexp.MustCompile(` has (\d+) bytes`)

	rapid.Check(t, func(rt *rapid.T) {
		d := drawDeclaration(rt)

		// What is far too large tells its size, and so how much less is just enough.
		limit, filled, rule := jobspec.MaxSize, &d.body, jobspec.RuleID("job-too-large")
		if rapid.Bool().Draw(rt, "fill the headers") {
			limit, filled, rule = jobspec.MaxHeaders-1, &d.filler, "headers-too-large"
		}

		*filled = limit + 1
		_, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: d.sent()})

		told := counted.FindStringSubmatch(status.Convert(err).Message())
		if told == nil {
			rt.Fatalf("a job that is too large: %v", err)
		}

		size, _ := strconv.Atoi(told[1])
		over := rapid.IntRange(-3, 3).Draw(rt, "over")
		*filled -= size - limit - over

		pb := d.sent()
		stored, err := client.CreateJob(t.Context(), &schedulerpb.CreateJobRequest{Parent: parent, Job: pb})

		if (status.Code(err) == codes.InvalidArgument) != (over > 0) {
			rt.Fatalf("%d bytes over the limit: %v", over, err)
		}

		refused := slices.ContainsFunc(jobspec.Check(d.declared()), func(f jobspec.Finding) bool { return f.Rule == rule })
		if refused != (over > 0) {
			rt.Fatalf("%d bytes over the limit: the plan refuses it: %t", over, refused)
		}

		if err != nil {
			return
		}

		// What the server has added since does not make it too large for the next update.
		_, err = client.UpdateJob(t.Context(), &schedulerpb.UpdateJobRequest{Job: stored, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"schedule"}}})
		if err == nil {
			err = client.DeleteJob(t.Context(), &schedulerpb.DeleteJobRequest{Name: pb.GetName()})
		}

		if err != nil {
			rt.Fatal(err)
		}
	})
}
