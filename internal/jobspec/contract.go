package jobspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Contract is what a handler promises to the jobs that call it. A handler object computes it, a job takes it as its attribute
// deduplication.contract; so the job needs nothing else of the handler, and nothing of the service that runs it.
type Contract struct {
	Handler        string        // the handler's name
	Kind           string        // http, function, appengine, …
	Jobs           []string      // the short ids of the jobs it serves; empty: any
	Store          string        // URL; empty: the job's own default
	RequestTimeout time.Duration // W; 0: the attempt deadline
	Audience       string        // what its tokens are for; empty: follows from the target
	Callers        []string      // addresses, and *@PROJECT.iam.gserviceaccount.com for all accounts of a project; empty: any that its platform lets in
}

// contractVersion is the only version of the encoding that this provider reads.
const contractVersion = 1

type contractJSON struct {
	Version        int      `json:"v"`
	Handler        string   `json:"handler"`
	Kind           string   `json:"kind"`
	Jobs           []string `json:"jobs,omitempty"`
	Store          string   `json:"store,omitempty"`
	RequestTimeout string   `json:"request_timeout,omitempty"`
	Audience       string   `json:"audience,omitempty"`
	Callers        []string `json:"callers,omitempty"`
}

// Encode writes the contract as JSON in one line; equal contracts give equal text.
func (c Contract) Encode() string {
	out := contractJSON{
		Version: contractVersion, Handler: c.Handler, Kind: c.Kind, Jobs: slices.Sorted(slices.Values(c.Jobs)), Store: c.Store,
		Audience: c.Audience, Callers: slices.Sorted(slices.Values(c.Callers)),
	}
	if c.RequestTimeout > 0 {
		out.RequestTimeout = seconds(c.RequestTimeout)
	}
	text, err := json.Marshal(out)
	if err != nil { // a struct of strings always marshals
		return ""
	}
	return string(text)
}

// ParseContract reads what Encode wrote. Nothing is skipped: an unknown version or key is an error, since what it asks for could
// not be kept.
func ParseContract(text string) (Contract, error) {
	var in contractJSON
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return Contract{}, fmt.Errorf("not the contract of an idempotent_handler: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Contract{}, errors.New("not the contract of an idempotent_handler: text follows it")
	}
	if in.Version != contractVersion {
		return Contract{}, fmt.Errorf("version %d of the contract is not known: this provider reads version %d", in.Version, contractVersion)
	}
	c := Contract{
		Handler: in.Handler, Kind: in.Kind, Jobs: in.Jobs, Store: in.Store, Audience: in.Audience, Callers: in.Callers,
	}
	if in.RequestTimeout != "" {
		timeout, err := time.ParseDuration(in.RequestTimeout)
		if err != nil || timeout <= 0 {
			return Contract{}, fmt.Errorf("request_timeout %q of the contract is not a positive duration", in.RequestTimeout)
		}
		c.RequestTimeout = timeout
	}
	return c, nil
}

// admits says whether the handler lets an account in. As in the handler, case does not count in the name of an account.
func (c Contract) admits(email string) bool {
	return len(c.Callers) == 0 || slices.ContainsFunc(c.Callers, func(entry string) bool {
		domain, whole := strings.CutPrefix(entry, "*@")
		if !whole {
			return strings.EqualFold(entry, email)
		}
		name, host, ok := strings.Cut(email, "@")
		return ok && name != "" && host == domain && strings.HasSuffix(domain, serviceAccountDomain)
	})
}

// promises are the parts of a contract that stand in for attributes of the job.
type promises struct {
	store, audience Value[string]
	requestTimeout  Value[time.Duration]
}

// handlerContract takes the promises out of the attribute. A contract that cannot be read promises nothing; the check says so.
func handlerContract(text Value[string]) promises {
	if text.IsUnknown() {
		return promises{store: Unknown[string](), audience: Unknown[string](), requestTimeout: Unknown[time.Duration]()}
	}
	var p promises
	if !text.IsSet() {
		return p
	}
	c, err := ParseContract(text.OrZero())
	if err != nil {
		return p
	}
	if c.Store != "" {
		p.store = Known(c.Store)
	}
	if c.Audience != "" {
		p.audience = Known(c.Audience)
	}
	if c.RequestTimeout > 0 {
		p.requestTimeout = Known(c.RequestTimeout)
	}
	return p
}
