package planlint

import (
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/jobspec"
)

// fillAccount gives a job the address of a service account that is created with it: the address follows from its id and project,
// so the rules about it need not wait for apply.
func (c *checker) fillAccount(j *job) {
	t, ok := j.spec.HTTP.Get()
	if !ok || j.account == nil {
		return
	}
	oidc, hasOIDC := t.OIDCToken.Get()
	oauth, hasOAuth := t.OAuthToken.Get()
	if !hasOIDC && !hasOAuth || !oidc.ServiceAccountEmail.IsUnknown() && !oauth.ServiceAccountEmail.IsUnknown() {
		return
	}
	if !singleReference(j.account) {
		return
	}
	referred := c.referred(j.resource, j.account)
	if len(referred) != 1 || referred[0].kind != typeAccount {
		return
	}
	email, ok := c.email(referred[0])
	if !ok {
		return
	}
	fill := func(spec *jobspec.Job) {
		t := spec.HTTP.OrZero()
		if token, ok := t.OIDCToken.Get(); ok && token.ServiceAccountEmail.IsUnknown() {
			token.ServiceAccountEmail = jobspec.Known(email)
			t.OIDCToken = jobspec.Known(token)
		}
		if token, ok := t.OAuthToken.Get(); ok && token.ServiceAccountEmail.IsUnknown() {
			token.ServiceAccountEmail = jobspec.Known(email)
			t.OAuthToken = jobspec.Known(token)
		}
		spec.HTTP = jobspec.Known(t)
	}
	fill(&j.spec)
	if !j.secret {
		j.masked = j.spec
	}
}

// singleReference says that an expression refers to one thing and, where that is a service account, to its address: only then is
// its value that address.
func singleReference(e any) bool {
	first := ""
	for _, reference := range expressionOf(e).References {
		steps := addressSteps(reference)
		if len(steps) < 2 || steps[0] == typeAccount && len(steps) > 2 && steps[2] != "email" {
			return false
		}
		root := steps[0] + "." + steps[1]
		if first != "" && root != first {
			return false
		}
		first = root
	}
	return first != ""
}

// email is the address of a service account, known or about to be; false when it is not.
func (c *checker) email(r *resource) (string, bool) {
	email, seen := c.emails[r]
	if !seen {
		email = c.readEmail(r)
		c.emails[r] = email
	}
	return email, email != ""
}

func (c *checker) readEmail(r *resource) string {
	n := r.planned()
	if email, ok := n.attribute("email").text().Get(); ok {
		return email
	}
	id, known := n.attribute("account_id").text().Get()
	project, placed := c.place(r, n, "project").Get()
	if !known || !placed || sensitiveInside(n.sensitive) {
		return ""
	}
	if domain, name, scoped := strings.Cut(project, ":"); scoped {
		project = name + "." + domain
	}
	return id + "@" + project + ".iam.gserviceaccount.com"
}
