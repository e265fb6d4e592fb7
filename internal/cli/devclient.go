package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// devClient drives a local cloud that runs elsewhere, by its control API.
type devClient struct{ url string }

func (c *devClient) addFlag(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&c.url, "cloud", "http://"+defaultDevListen, "the URL of the local cloud that dev serves")
}

// do makes one call. What the cloud refuses is an error in its words.
func (c *devClient) do(ctx context.Context, method, path string, body, into any) error {
	base, err := url.Parse(c.url)
	if err != nil || base.Host == "" {
		return fmt.Errorf("--cloud %q is no URL: write it like http://%s", c.url, defaultDevListen)
	}
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.url, "/")+"/local/"+path, sent)
	if err != nil {
		return fmt.Errorf("ask the local cloud: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no local cloud answers at %s: start one with dev, or name another with --cloud: %w", c.url, err)
	case err != nil:
		return fmt.Errorf("ask the local cloud: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing depends on it once the body is read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read what the local cloud answers: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return refusedBy(c.url, resp.StatusCode, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s does not answer as a local cloud does: %w", c.url, err)
	}
	return nil
}

func refusedBy(url string, status int, text []byte) error {
	var told struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &told) == nil && told.Error.Message != "" {
		return errors.New(told.Error.Message)
	}
	return fmt.Errorf("%s answered %d: it may be no local cloud", url, status)
}

// newDevAdvance moves the clock of a running local cloud.
func newDevAdvance(c *devClient) *cobra.Command {
	return &cobra.Command{
		Use:   "advance DURATION",
		Short: "Move the clock of the running local cloud forward",
		Long: `Move the clock of the running local cloud forward. Everything that falls due on the way happens, in
order, and has ended when the command returns.

A handler that does not answer is waited for, half a minute for each job. Deliveries beyond that fail
at their attempt deadline, by the moved clock.`,
		Example: `  terraform-provider-idempotent dev advance 24h`,
		Args:    one("DURATION", "how far the clock is moved, such as 24h"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var clock struct {
				Now time.Time `json:"now"`
			}
			if err := c.do(cmd.Context(), http.MethodPost, "advance", map[string]string{"by": args[0]}, &clock); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), clock.Now.UTC().Format(time.RFC3339))
			return err
		},
	}
}
