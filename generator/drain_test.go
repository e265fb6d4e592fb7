package generator_test

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/localcloud"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/webhooktest"
)

// A receiver of webhooks runs behind a local cloud, whose job drains its inbox; nobody else may.
func TestAScheduledJobDrainsAnInbox(t *testing.T) {
	if testing.Short() {
		t.Skip(longReason)
	}
	t.Parallel()
	dir := newModule(t, generator.Spec{Name: "billing", Kind: "webhook", Store: "sqlite"})
	goTool(t, dir, "build", "-o", "handler", ".")
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	cloud := startCloud(t, localcloud.Config{})
	uri := "http://" + address + "/drain"
	stop := startProgram(t, dir, address, []string{
		"PORT=" + port, run.EnvStore + "=sqlite:" + filepath.Join(dir, "inbox.db"), generator.DefaultSecret + "=" + webhooktest.Secret,
		run.EnvCaller + "=verify", run.EnvAudiences + "=" + uri, run.EnvCallers + "=" + account,
		run.EnvIssuer + "=" + cloud.Issuer(), run.EnvJWKS + "=" + cloud.JWKSURL(),
	})
	createJob(t, cloud, "webhook", uri)

	const payload = `{"type": "invoice.paid"}`
	header, err := webhooktest.Sign(webhooktest.Secret, "msg_1", time.Now(), []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"accepted", "duplicate"} {
		if status, outcome := post(t, "http://"+address+"/", header, payload); status != http.StatusOK || outcome != want {
			t.Errorf("the event was answered %d %s, want 200 %s", status, outcome, want)
		}
	}
	if status, _ := post(t, uri, http.Header{}, ""); status != http.StatusForbidden {
		t.Errorf("a drain without a token was answered %d", status)
	}
	at := time.Now().UTC().Truncate(time.Second)
	fire(t, cloud, localcloud.Fault{Job: jobName, Kind: localcloud.LostReply, Times: 1}, at, 2)
	for _, d := range cloud.Deliveries(jobName) {
		if d.Status != http.StatusOK {
			t.Errorf("a drain by the job was answered %d", d.Status)
		}
	}
	stop("webhook")
}

func post(t *testing.T, url string, header http.Header, body string) (status int, outcome string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	return reply.StatusCode, reply.Header.Get(run.HeaderOutcome)
}
