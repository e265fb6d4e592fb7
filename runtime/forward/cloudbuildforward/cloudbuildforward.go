// Package cloudbuildforward runs triggers of Cloud Build, one build for each run of a job.
//
// A build gets the run id in the substitution _IDEMPOTENT_RUN_ID, by which it is found again. The forwarder's service account needs
// roles/cloudbuild.builds.editor, and iam.serviceAccounts.actAs on the account that the trigger builds as.
package cloudbuildforward

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"time"

	cloudbuild "cloud.google.com/go/cloudbuild/apiv1/v2"
	"cloud.google.com/go/cloudbuild/apiv1/v2/cloudbuildpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/forward/internal/googleapi"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// Client runs triggers and looks builds up.
type Client struct{ api *cloudbuild.Client }

// Open connects to the API. Endpoint is another server than Google's, such as http://127.0.0.1:8085 for one on this machine, which
// gets no credentials; empty: Google's.
func Open(ctx context.Context, endpoint string, opts ...option.ClientOption) (*Client, error) {
	own, err := googleapi.Options(endpoint)
	if err != nil {
		return nil, err
	}
	api, err := cloudbuild.NewClient(ctx, append(own, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("open the client of Cloud Build: %w", err)
	}
	return New(api), nil
}

// New returns a Client over a client of the API, which [Client.Close] closes.
func New(api *cloudbuild.Client) *Client { return &Client{api: api} }

// Close closes the connection.
func (c *Client) Close() error {
	if err := c.api.Close(); err != nil {
		return fmt.Errorf("close the client of Cloud Build: %w", err)
	}
	return nil
}

// Trigger is what the runs of a job start. At most one of Branch, Tag and Commit is set; none: what the trigger itself builds.
type Trigger struct {
	// Name is projects/PROJECT/locations/REGION/triggers/ID.
	Name string
	// Branch, Tag and Commit say what is built.
	Branch, Tag, Commit string
	// Substitutions are for the build, with keys such as _TARGET; that of the run is taken.
	Substitutions map[string]string
}

const pageSize = 100

// Trigger returns the target for a trigger. Nothing is called.
func (c *Client) Trigger(t Trigger) (forward.Target, error) {
	project, location, err := forward.CheckName("triggers", t.Name)
	if err != nil {
		return nil, fmt.Errorf("trigger: %w", err)
	}
	if err := forward.CheckRevision(t.Branch, t.Tag, t.Commit); err != nil {
		return nil, fmt.Errorf("trigger: %w", err)
	}
	for name := range t.Substitutions {
		if err := forward.CheckSubstitution(name); err != nil {
			return nil, fmt.Errorf("substitutions: %w", err)
		}
	}
	return &target{api: c.api, trigger: t, project: project, parent: "projects/" + project + "/locations/" + location}, nil
}

type target struct {
	api             *cloudbuild.Client
	trigger         Trigger
	project, parent string
}

func (t *target) String() string { return t.trigger.Name }

// Start implements forward.Target.
func (t *target) Start(ctx context.Context, r run.Run) (string, error) {
	operation, err := t.api.RunBuildTrigger(ctx, &cloudbuildpb.RunBuildTriggerRequest{
		Name: t.trigger.Name, ProjectId: t.project, TriggerId: path.Base(t.trigger.Name), Source: t.source(r),
	})
	if err != nil {
		return "", googleapi.StartError(err)
	}
	started, err := operation.Metadata()
	if err != nil {
		return "", fmt.Errorf("read what was started: %w", err)
	}
	return t.nameOf(started.GetBuild()), nil
}

func (t *target) source(r run.Run) *cloudbuildpb.RepoSource {
	source := &cloudbuildpb.RepoSource{Substitutions: map[string]string{forward.SubstitutionRunID: r.ID}}
	maps.Copy(source.GetSubstitutions(), t.trigger.Substitutions)
	switch {
	case t.trigger.Branch != "":
		source.Revision = &cloudbuildpb.RepoSource_BranchName{BranchName: t.trigger.Branch}
	case t.trigger.Tag != "":
		source.Revision = &cloudbuildpb.RepoSource_TagName{TagName: t.trigger.Tag}
	case t.trigger.Commit != "":
		source.Revision = &cloudbuildpb.RepoSource_CommitSha{CommitSha: t.trigger.Commit}
	}
	return source
}

// nameOf is the name of a build; older replies carry its id alone. Empty: the reply names none.
func (t *target) nameOf(b *cloudbuildpb.Build) string {
	if b.GetName() == "" && b.GetId() != "" {
		return t.parent + "/builds/" + b.GetId()
	}
	return b.GetName()
}

// Find implements forward.Target. Builds are filtered by time and compared by their substitution: a filter by trigger would want the
// trigger's id, and its name may stand for it here.
func (t *target) Find(ctx context.Context, r run.Run, since time.Time) (string, error) {
	found := t.api.ListBuilds(ctx, &cloudbuildpb.ListBuildsRequest{
		Parent: t.parent, ProjectId: t.project, PageSize: pageSize, Filter: fmt.Sprintf("create_time>=%q", run.FormatTime(since.Truncate(time.Second))),
	})
	for range googleapi.MaxPages * pageSize {
		b, err := found.Next()
		switch {
		case errors.Is(err, iterator.Done):
			return "", nil
		case err != nil:
			return "", fmt.Errorf("list builds: %w", err)
		case b.GetSubstitutions()[forward.SubstitutionRunID] == r.ID:
			return t.nameOf(b), nil
		}
	}
	return "", googleapi.ErrTooMany("builds")
}
