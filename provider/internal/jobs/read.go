package jobs

import (
	"context"
	"sync"
	"time"

	scheduler "cloud.google.com/go/scheduler/apiv1"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	"google.golang.org/api/iterator"
)

const (
	// readsAlone is how many jobs of a region are read one by one before the rest is taken from its list.
	readsAlone = 3
	// readPatience is how long the first reads wait for others to come.
	readPatience = 10 * time.Millisecond
	// readAge is how old a page may be. A refresh reads each job once; it is not kept for longer than a large one takes.
	readAge = time.Minute
	// readPage is the longest page that the server gives.
	readPage = 500
)

// Read reads a job for a refresh. The reads of one region are answered from pages of its list once there are more than a few, so that
// a refresh of a thousand jobs makes a handful of requests; after a write to the region each job is read for itself, since a page may
// be older than the write. A job that the list does not hold is asked for by name before it counts as gone.
func (c *Client) Read(ctx context.Context, name Name) (*schedulerpb.Job, error) {
	r := c.regions.of(name.Parent())
	if !r.crowded() {
		select {
		case <-time.After(readPatience):
		case <-ctx.Done():
		}
		if !r.stillCrowded() {
			return c.Get(ctx, name)
		}
	}
	if job := r.find(name, func(token string) ([]*schedulerpb.Job, string, error) { return c.page(ctx, name, token) }); job != nil {
		return job, nil
	}
	return c.Get(ctx, name)
}

// page reads one page of a region's list.
func (c *Client) page(ctx context.Context, name Name, token string) ([]*schedulerpb.Job, string, error) {
	var next string
	found, err := call(ctx, c, func(ctx context.Context, client *scheduler.CloudSchedulerClient) ([]*schedulerpb.Job, error) {
		var page []*schedulerpb.Job
		var err error
		next, err = iterator.NewPager(client.ListJobs(ctx, &schedulerpb.ListJobsRequest{Parent: name.Parent()}), readPage, token).NextPage(&page)
		return page, err
	})
	return found, next, err
}

// regions keeps what has been read of each region.
type regions struct {
	mu   sync.Mutex
	each map[string]*region
}

func (all *regions) of(parent string) *region {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.each == nil {
		all.each = map[string]*region{}
	}
	r, ok := all.each[parent]
	if !ok {
		r = &region{}
		all.each[parent] = r
	}
	return r
}

// wrote ends the use of pages for a region. Call it before the write is sent.
func (all *regions) wrote(name Name) {
	r := all.of(name.Parent())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// region is what has been read of one region's list.
type region struct {
	mu     sync.Mutex
	reads  int
	closed bool // written to, or its list may not be read

	fetching sync.Mutex // held while pages are fetched; guards what follows
	began    time.Time
	token    string
	complete bool
	found    map[string]*schedulerpb.Job
}

// crowded counts a read and says whether it comes after the few that are made alone.
func (r *region) crowded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	return r.reads > readsAlone && !r.closed
}

// stillCrowded is crowded without counting.
func (r *region) stillCrowded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reads > readsAlone && !r.closed
}

func (r *region) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// find is the job on the pages, of which as many are fetched as it takes. Nil: it is on none, or pages cannot be used.
func (r *region) find(name Name, fetch func(token string) ([]*schedulerpb.Job, string, error)) *schedulerpb.Job {
	r.fetching.Lock()
	defer r.fetching.Unlock()
	if r.found == nil || time.Since(r.began) > readAge {
		r.began, r.token, r.complete, r.found = time.Now(), "", false, map[string]*schedulerpb.Job{}
	}
	for r.found[name.String()] == nil && !r.complete && r.stillCrowded() {
		page, next, err := fetch(r.token)
		if err != nil {
			// Whoever may read jobs may not be allowed to list them. The read by name tells what is wrong, if anything is.
			r.close()
			return nil
		}
		for _, job := range page {
			r.found[job.GetName()] = job
		}
		r.token, r.complete = next, next == ""
	}
	if !r.stillCrowded() {
		return nil
	}
	return r.found[name.String()]
}
