// Package run names the runs of scheduled jobs.
//
// A run is one scheduled execution of one job. Its name says which project, region, job and schedule time it belongs to; its id is
// the lower-case hex SHA-256 of the name and is what claim records are stored under and what work should hand on as the
// idempotency token of whatever it calls. The package also holds the names that both sides of a delivery must agree on: request
// headers, environment variables and the policy header by which Terraform tells a handler what was proved at plan time.
//
// Work gets its run as an argument, and code further down from the context:
//
//	func nightly(ctx context.Context, r run.Run) error {
//		return client.Start(ctx, request{Token: r.ID, Until: r.ScheduleTime, From: r.PreviousTime})
//	}
//
// The package imports the standard library only.
package run
