package localcloud

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

const (
	// removedSignature is what Cloud Run puts in place of the signature of a token that it has checked.
	removedSignature = "SIGNATURE_REMOVED_BY_GOOGLE"
	// googleIssuer is the issuer that a service on Cloud Run reads in every token.
	googleIssuer = "https://accounts.google.com"

	serverlessAuthorization = "X-Serverless-Authorization"
)

// Front stands before a handler as Cloud Run stands before a service that only callers with roles/run.invoker may call: it checks the
// token of the request, and the handler gets it without its signature.
type Front struct {
	// Listen is the loopback host and port that it serves on; port 0 takes a free one.
	Listen string
	// Target is the base URL of the handler.
	Target string
	// Audiences are accepted besides the front's own origin, as custom audiences are.
	Audiences []string
	// Invokers are the service accounts that may call; empty: any.
	Invokers []string
}

// front is one that serves.
type front struct {
	Front

	issuer   *issuer
	url      string
	listener net.Listener
	http     *http.Server
}

// newFront listens; nothing is served before serve.
func newFront(cfg Front, tokens *issuer) (*front, error) {
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil || !loopback.Host(host) {
		return nil, fmt.Errorf("the Cloud Run front's listen address %q is not a loopback HOST:PORT: write it like 127.0.0.1:8080", cfg.Listen)
	}

	target, err := url.Parse(cfg.Target)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		return nil, fmt.Errorf("the Cloud Run front's target %q is no http or https URL: write it like http://127.0.0.1:8081", cfg.Target)
	}

	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", cfg.Listen, err)
	}

	f := &front{Front: cfg, issuer: tokens, listener: listener, url: "http://" + listener.Addr().String()}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "The service is not available: nothing answers at "+cfg.Target+".", http.StatusServiceUnavailable)
		},
	}
	f.http = &http.Server{Handler: f.guard(proxy), ReadHeaderTimeout: headerTimeout, ErrorLog: proxy.ErrorLog}

	return f, nil
}

// guard lets in whom IAM would let in.
func (f *front) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// With both headers Cloud Run checks this one only.
		name := headerAuthorization
		if r.Header.Get(serverlessAuthorization) != "" {
			name = serverlessAuthorization
		}

		raw, found := strings.CutPrefix(r.Header.Get(name), "Bearer ")
		if !found {
			// In life, a request without any token is one of allUsers, who are not invokers.
			http.Error(w, "The request was not authenticated. Give the job an oidc_token.", http.StatusForbidden)

			return
		}

		who, err := f.issuer.verify(raw)
		if err == nil && !f.audience(who.Audience) {
			err = fmt.Errorf("the audience %q is not one of the service: it is %s or a custom audience", who.Audience, f.url)
		}

		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			http.Error(w, "The access token could not be verified: "+err.Error()+".", http.StatusUnauthorized)

			return
		}

		if len(f.Invokers) > 0 && !slices.Contains(f.Invokers, who.Email) {
			http.Error(w, "The account "+who.Email+" does not have roles/run.invoker.", http.StatusForbidden)

			return
		}

		stripped, err := withoutSignature(raw)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)

			return
		}

		r.Header.Set(name, "Bearer "+stripped)
		next.ServeHTTP(w, r)
	})
}

// audience accepts the origin of the service, with or without a path and never with a query, and custom audiences.
func (f *front) audience(asked string) bool {
	if slices.Contains(f.Audiences, asked) {
		return true
	}

	rest, found := strings.CutPrefix(asked, f.url)

	return found && (rest == "" || strings.HasPrefix(rest, "/")) && !strings.ContainsAny(rest, "?#")
}

// withoutSignature is a token as Cloud Run hands it on. The issuer is named as in life, since services insist on it.
func withoutSignature(raw string) (string, error) {
	parts := strings.Split(raw, ".")

	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}

	var fields map[string]any

	err = json.Unmarshal(payload, &fields)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}

	fields["iss"] = googleIssuer

	payload, err = json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("write the token: %w", err)
	}

	return parts[0] + "." + base64.RawURLEncoding.EncodeToString(payload) + "." + removedSignature, nil
}

// verify checks a token that this issuer made.
func (i *issuer) verify(raw string) (claims, error) {
	var out claims

	signed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return out, errors.New("it is no signed JWT")
	}

	i.mu.Lock()
	err = i.prepare()
	key := i.key
	i.mu.Unlock()

	if err != nil {
		return out, err
	}

	payload, err := signed.Verify(key.Public())
	if err != nil {
		return out, errors.New("its signature is not the local cloud's")
	}

	err = json.Unmarshal(payload, &out)
	if err != nil {
		return out, errors.New("its claims cannot be read")
	}

	if time.Now().After(time.Unix(out.Expires, 0)) {
		return out, errors.New("it has expired")
	}

	return out, nil
}

// FrontURLs are the URLs of the Cloud Run fronts, in the order of Config.Fronts: what jobs name as their target.
func (c *Cloud) FrontURLs() []string {
	var out []string
	for _, f := range c.fronts {
		out = append(out, f.url)
	}

	return out
}

// openFronts listens for all fronts, or for none.
func (c *Cloud) openFronts() error {
	for _, cfg := range c.cfg.Fronts {
		f, err := newFront(cfg, c.issuer)
		if err != nil {
			return errors.Join(err, c.closeFronts())
		}

		c.fronts = append(c.fronts, f)
		c.serving.Go(func() { _ = f.http.Serve(f.listener) }) // it ends when the cloud closes
	}

	return nil
}

func (c *Cloud) closeFronts() error {
	var errs []error
	for _, f := range c.fronts {
		errs = append(errs, f.http.Close())
	}

	return errors.Join(errs...)
}
