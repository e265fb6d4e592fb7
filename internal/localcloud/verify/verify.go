package verify

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Config says what is verified and how it is called.
type Config struct {
	// URL is where the handler takes deliveries.
	URL string
	// Project, Region and Job are what deliveries say that they come from.
	Project, Region, Job string
	// Account is the service account whose tokens are sent, and Audience what they are made out to; empty: URL.
	Account, Audience string
	// Token makes a signed token; nil: none is sent, and nothing is checked about callers.
	Token func(ctx context.Context, account, audience string) (string, error)
	// Effects is a URL that answers a GET with the number of effects so far, as a plain decimal; empty: only answers are judged.
	Effects string
	// Timeout is how long one delivery may take; zero: 30 s.
	Timeout time.Duration
	// Rivals is how many deliveries race for one run; zero: 8.
	Rivals int
	// Only names the checks to make; empty: all.
	Only []string
}

// Verdict is what became of a check.
type Verdict string

const (
	// Holds says that the handler did what the contract asks.
	Holds Verdict = "holds"
	// Fails says that it did not.
	Fails Verdict = "fails"
	// Unclear says that the answers do not tell.
	Unclear Verdict = "unclear"
)

// Result is one check and what became of it.
type Result struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Verdict Verdict `json:"verdict"`
	// Detail says what was seen; empty: what was expected.
	Detail string `json:"detail,omitempty"`
}

// Report is what all checks found.
type Report struct {
	URL     string   `json:"url"`
	Results []Result `json:"results"`
	Holds   int      `json:"holds"`
	Fails   int      `json:"fails"`
	Unclear int      `json:"unclear"`
}

// ErrUnreachable says that nothing answers at the URL, so that nothing could be checked.
var ErrUnreachable = errors.New("the handler cannot be reached")

// Run makes the checks one after the other. A check that fails is no error; an error says that checking was impossible.
func Run(ctx context.Context, cfg Config) (Report, error) {
	v, err := newVerifier(cfg)
	if err != nil {
		return Report{}, err
	}
	defer v.client.CloseIdleConnections()

	checks, err := chosen(cfg)
	if err != nil {
		return Report{}, err
	}

	err = v.reach(ctx)
	if err != nil {
		return Report{}, err
	}

	report := Report{URL: cfg.URL}

	for _, c := range checks {
		result := Result{ID: c.id, Title: c.title}

		finding, err := c.run(ctx, v)
		switch {
		case ctx.Err() != nil:
			return report, context.Cause(ctx)
		case err != nil:
			result.Verdict, result.Detail = Fails, err.Error()
		default:
			result.Verdict, result.Detail = finding.verdict, finding.detail
		}

		switch result.Verdict {
		case Holds:
			report.Holds++
		case Fails:
			report.Fails++
		case Unclear:
			report.Unclear++
		}

		report.Results = append(report.Results, result)
	}

	return report, nil
}

// verifier holds what the checks share.
type verifier struct {
	cfg    Config
	client *http.Client
	// base is a time that has passed, each check takes its runs from there; salt keeps runs of earlier verifications apart.
	base time.Time
	used int
}

func newVerifier(cfg Config) (*verifier, error) {
	for name, value := range map[string]string{"project": cfg.Project, "region": cfg.Region, "job": cfg.Job} {
		if value == "" {
			return nil, fmt.Errorf("%s is missing", name)
		}
	}

	parsed, err := url.Parse(cfg.URL)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("the URL %q is no http or https URL: write it like http://127.0.0.1:8080/", cfg.URL)
	}

	cfg.Audience = cmp.Or(cfg.Audience, cfg.URL)
	cfg.Timeout = cmp.Or(cfg.Timeout, 30*time.Second)
	cfg.Rivals = cmp.Or(cfg.Rivals, 8)

	salt, err := rand.Int(rand.Reader, big.NewInt(20*24*3600))
	if err != nil {
		return nil, fmt.Errorf("pick times: %w", err)
	}

	return &verifier{
		cfg: cfg,
		client: &http.Client{Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: cfg.Rivals,
			// Header names go out as they are written only over HTTP/1.
			ForceAttemptHTTP2: false,
		}},
		base: time.Now().UTC().Truncate(time.Second).Add(-24*time.Hour - time.Duration(salt.Int64())*time.Second),
	}, nil
}

// past is the schedule time of a run that no other check uses.
func (v *verifier) past() time.Time {
	v.used++

	return v.base.Add(-time.Duration(v.used) * time.Second)
}

// future is the schedule time of a forced run that no other check uses.
func (v *verifier) future() time.Time {
	v.used++

	return time.Now().UTC().Truncate(time.Second).Add(30*24*time.Hour + time.Since(v.base).Truncate(time.Second) + time.Duration(v.used)*time.Hour)
}

func (v *verifier) reach(ctx context.Context) error {
	parsed, _ := url.Parse(v.cfg.URL) // it was parsed before

	host := parsed.Host
	if parsed.Port() == "" {
		host = net.JoinHostPort(parsed.Hostname(), map[string]string{"http": "80", "https": "443"}[parsed.Scheme])
	}

	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(ctx, "tcp", host)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}

	return conn.Close()
}
