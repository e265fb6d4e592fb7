package jobs

import (
	"context"
	"iter"

	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
)

// List walks the jobs of a region, page by page as they are asked for. An error is the last pair.
func (c *Client) List(ctx context.Context, project, region string) iter.Seq2[*schedulerpb.Job, error] {
	return func(yield func(*schedulerpb.Job, error) bool) {
		place := Name{Project: project, Region: region}
		for token, first := "", true; first || token != ""; first = false {
			page, next, err := c.page(ctx, place, token)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, job := range page {
				if !yield(job, nil) {
					return
				}
			}
			token = next
		}
	}
}
