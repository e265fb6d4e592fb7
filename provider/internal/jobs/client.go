// Package jobs speaks to Cloud Scheduler about jobs, one verb a file. Errors are those of the API, wrapped: explain turns them into
// diagnostics.
package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	scheduler "cloud.google.com/go/scheduler/apiv1"

	"github.com/idempotent-jobs/terraform-provider-idempotent/provider/internal/google"
)

// Client is a connection to Cloud Scheduler. It is opened by the first request, so that a plan without requests needs no
// credentials. Safe for concurrent use.
type Client struct {
	timeout time.Duration
	connect func() (*scheduler.CloudSchedulerClient, error)
	regions regions
}

// New is a client for the endpoint of the settings.
func New(settings google.Settings) *Client {
	return &Client{
		timeout: settings.Timeout(),
		connect: sync.OnceValues(func() (*scheduler.CloudSchedulerClient, error) {
			endpoint, err := google.ParseEndpoint(settings.SchedulerEndpoint)
			if err != nil {
				return nil, fmt.Errorf("cloud_scheduler_custom_endpoint: %w", err)
			}
			options, err := settings.Options(endpoint)
			if err != nil {
				return nil, err
			}
			// The connection outlives the request that opens it.
			client, err := scheduler.NewCloudSchedulerClient(context.Background(), options...)
			if err != nil {
				return nil, fmt.Errorf("connect to Cloud Scheduler: %w", err)
			}
			return client, nil
		}),
	}
}

// call makes one request on the open connection, with retries while the server is busy.
func call[T any](ctx context.Context, c *Client, request func(context.Context, *scheduler.CloudSchedulerClient) (T, error)) (T, error) {
	client, err := c.connect()
	if err != nil {
		var none T
		return none, err
	}
	return google.Call(ctx, c.timeout, func(ctx context.Context) (T, error) { return request(ctx, client) })
}
