package localcloud

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// QuotaExceeded lets the next calls of a method be refused as the real server refuses a client that calls too often: 429 with the
// quota that is used up and a time to wait. An empty method means any; less than one time means once.
func (c *Cloud) QuotaExceeded(method string, times int) {
	c.calls.fail(apiFault{method: method, err: errQuota(), times: times})
}

// errQuota has the shape that Google's service control gives such an answer.
func errQuota() error {
	const (
		service = "cloudscheduler.googleapis.com"
		metric  = service + "/write_requests"
	)

	refused := status.New(codes.ResourceExhausted, "Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute' "+
		"of service '"+service+"' for consumer 'project_number:100000000000'.")

	detailed, err := refused.WithDetails(
		&errdetails.ErrorInfo{
			Reason: "RATE_LIMIT_EXCEEDED", Domain: "googleapis.com",
			Metadata: map[string]string{
				"consumer": "projects/100000000000", "service": service, "quota_metric": metric, "quota_limit": "WriteRequestsPerMinutePerProject",
				"quota_limit_value": "500", "quota_location": "global", "quota_unit": "1/min/{project}",
			},
		},
		&errdetails.Help{Links: []*errdetails.Help_Link{{
			Description: "Request a higher quota limit.", Url: "https://cloud.google.com/docs/quotas/help/request_increase",
		}}},
	)
	if err != nil {
		return refused.Err()
	}

	return detailed.Err()
}
