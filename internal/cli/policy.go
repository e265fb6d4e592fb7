package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// parsePolicyFlags reads key=value pairs with the keys of the policy header.
func parsePolicyFlags(pairs []string) (run.Policy, error) {
	policy := newPolicyText()
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return run.Policy{}, fmt.Errorf("--policy %q: it must be of the form key=value, such as lease=210s", pair)
		}
		policy.add(key, value)
	}
	p, err := policy.parse()
	if err != nil {
		return run.Policy{}, eachSpecError(errors.Join(err), flagError)
	}
	return p, nil
}

// policyText collects settings in the header's own encoding, whose parser then is the only judge.
type policyText struct{ text strings.Builder }

func newPolicyText() *policyText {
	p := &policyText{}
	p.text.WriteString("v=1")
	return p
}

func (p *policyText) add(key, value string) {
	p.text.WriteString(";" + url.PathEscape(key) + "=" + url.PathEscape(value))
}

func (p *policyText) parse() (run.Policy, error) {
	policy, err := run.ParsePolicy(p.text.String())
	if refused, ok := errors.AsType[*run.PolicyError](err); ok {
		reason := "it " + refused.Reason
		if strings.HasPrefix(refused.Reason, "is unknown") {
			reason = "there is no such setting of a policy"
		}
		return run.Policy{}, &generator.SpecError{Field: "policy." + refused.Key, Value: refused.Value, Reason: reason}
	}
	return policy, err
}
