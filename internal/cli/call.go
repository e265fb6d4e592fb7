package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

type callFlags struct {
	method   string
	data     string
	headers  []string
	key      string
	header   string
	quoted   bool
	timeout  time.Duration
	window   time.Duration
	attempts int
}

// newCallCommand sends one request under an idempotency key.
func newCallCommand() *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call URL",
		Short: "Send one API request under an idempotency key, and repeat it until it is settled",
		Long: `Send one API request under an idempotency key, and repeat it until it is settled: after timeouts,
connection errors, 5xx, and 409 for a request in progress, always with the same key and body.

The answer's body goes to standard output; the key, and how the answer came about, to standard
error. Without --idempotency-key the request is an operation of its own, under a fresh key. Give
the same key to separate calls, of a script that is run again say, and they are one operation.

Exit status 1 means an answer of 400 or above, or that nobody can say whether the request took
effect: then call again with the key that was printed, within the API's window.`,
		Example: `  terraform-provider-idempotent call https://api.example.com/deployments \
    --idempotency-key "deploy-$CI_PIPELINE_ID" --data @deployment.json --header @headers.txt
  echo '{"amount":100}' | terraform-provider-idempotent call https://api.example.com/payments --data -`,
		Args: one("URL", "the address that the request is sent to"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.method, "method", "X", http.MethodPost, "POST, PATCH, PUT or DELETE")
	flags.StringVarP(&f.data, "data", "d", "", "the body: a text, @FILE, or - for standard input")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "a header as 'Name: value', or @FILE with one a line, which keeps secrets off the command line; repeatable")
	flags.StringVar(&f.key, "idempotency-key", "", "the key of the operation (default a fresh one, which is printed)")
	flags.StringVar(&f.header, "key-header", idempotencykey.DefaultHeader, "the header that carries the key")
	flags.BoolVar(&f.quoted, "quoted", false, "send the key as a quoted string of RFC 8941")
	flags.DurationVar(&f.timeout, "timeout", idempotencykey.DefaultAttemptTimeout, "the longest that one attempt may take")
	flags.DurationVar(&f.window, "window", idempotencykey.DefaultWindow, "how long the API keeps a key")
	flags.IntVar(&f.attempts, "attempts", idempotencykey.DefaultAttempts, "how often the request is sent at most")
	return cmd
}

func (f *callFlags) run(cmd *cobra.Command, target string) error {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()

	fresh := !cmd.Flags().Changed("idempotency-key")
	if fresh {
		f.key = idempotencykey.NewKey()
	}
	req, err := f.request(idempotencykey.WithKey(ctx, f.key), cmd.InOrStdin(), target)
	if err != nil {
		return err
	}
	// Printed before anything is sent: whatever happens next, the operation can be taken up again.
	if fresh {
		fmt.Fprintf(cmd.ErrOrStderr(), "idempotency key: %s\n", f.key)
	}
	client := &http.Client{Transport: &idempotencykey.Transport{
		Header: f.header, Quoted: f.quoted, Timeout: f.timeout, Window: f.window, Attempts: f.attempts,
	}}
	res, err := client.Do(req)
	if err != nil {
		return callError(err, f.key)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	if _, err := io.Copy(cmd.OutOrStdout(), res.Body); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return f.report(cmd.ErrOrStderr(), res)
}

// request checks what was given; nothing is sent before all of it is right.
func (f *callFlags) request(ctx context.Context, in io.Reader, target string) (*http.Request, error) {
	if !idempotencykey.Mutating(f.method) {
		return nil, fmt.Errorf("--method is %q: keys serve POST, PATCH, PUT and DELETE, other requests can be repeated without one", f.method)
	}
	for flag, value := range map[string]int64{"timeout": int64(f.timeout), "window": int64(f.window), "attempts": int64(f.attempts)} {
		if value <= 0 {
			return nil, fmt.Errorf("--%s must be positive", flag)
		}
	}
	if err := idempotencykey.CheckKey(f.key); err != nil {
		return nil, fmt.Errorf("--idempotency-key: %w", err)
	}
	if f.timeout >= f.window {
		return nil, fmt.Errorf("--timeout is %v, it must be less than the --window of %v", f.timeout, f.window)
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// What url.Parse says quotes the URL, and a password with it.
		return nil, errors.New("the URL cannot be used: write it whole, as in https://api.example.com/payments")
	}
	body, err := f.body(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, f.method, target, strings.NewReader(body))
	if err != nil {
		return nil, errors.New("the URL cannot be used: write it whole, as in https://api.example.com/payments")
	}
	if err := f.setHeaders(req.Header); err != nil {
		return nil, err
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	return req, nil
}

func (f *callFlags) body(in io.Reader) (string, error) {
	switch {
	case f.data == "-":
		b, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("--data: read standard input: %w", err)
		}
		return string(b), nil
	case strings.HasPrefix(f.data, "@"):
		b, err := os.ReadFile(f.data[1:])
		if err != nil {
			return "", fmt.Errorf("--data: %w", err)
		}
		return string(b), nil
	default:
		return f.data, nil
	}
}

// setHeaders adds the headers. Errors name no values, which may be secrets.
func (f *callFlags) setHeaders(h http.Header) error {
	for i, given := range f.headers {
		lines, where := []string{given}, fmt.Sprintf("--header %d", i+1)
		if file, ok := strings.CutPrefix(given, "@"); ok {
			b, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("--header: %w", err)
			}
			lines, where = strings.Split(string(b), "\n"), file
		}
		for n, line := range lines {
			if strings.TrimSpace(line) == "" {
				continue
			}
			name, value, ok := strings.Cut(line, ":")
			name = textproto.TrimString(name)
			if !ok || name == "" || strings.ContainsAny(name, " \t") {
				return fmt.Errorf("%s, line %d: write a header as 'Name: value'", where, n+1)
			}
			if strings.EqualFold(name, f.header) {
				return fmt.Errorf("%s, line %d: the key goes into --idempotency-key, not into the header %s", where, n+1, f.header)
			}
			h.Add(name, textproto.TrimString(value))
		}
	}
	return nil
}

// report says how the answer came about. An answer of 400 or above is an error.
func (f *callFlags) report(log io.Writer, res *http.Response) error {
	report, _ := idempotencykey.ReportOf(res)
	text := fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode))
	if report.Attempts > 1 {
		text += fmt.Sprintf(", sent %d times", report.Attempts)
	}
	if report.Replayed {
		text += ", replayed: the operation was carried out before"
	}
	if res.StatusCode >= http.StatusBadRequest {
		return errors.New("the API answered " + text)
	}
	_, err := fmt.Fprintln(log, text)
	return err
}

// callError says what to do next. The URL stays out of it: it may hold a password.
func callError(err error, key string) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if _, unknown := errors.AsType[*idempotencykey.OutcomeUnknown](err); unknown {
		return fmt.Errorf("%w; the request may have taken effect: call again with --idempotency-key %s", err, shellQuote(key))
	}
	return fmt.Errorf("nothing was carried out: %w", err)
}

// shellQuote makes a key one word of a shell.
func shellQuote(key string) string { return "'" + strings.ReplaceAll(key, "'", `'\''`) + "'" }
