package localcloud

import (
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// QuotaExceeded lets the next calls of a method be refused as the real server refuses a client that calls too often: 429 with the
// quota that is used up and a time to wait. An empty method means any; less than one time means once.
func (c *Cloud) QuotaExceeded(method string, times int) {
	c.calls.fail(apiFault{method: method, times: times})
}

// errQuota has the shape that Google's service control gives such an answer. Reads and writes have quotas of their own.
func errQuota(method string) error {
	const service = "cloudscheduler.googleapis.com"

	kind, limit := "Write", "500"
	if reads(method) {
		kind, limit = "Read", "1250"
	}

	refused := status.Newf(codes.ResourceExhausted, "Quota exceeded for quota metric '%s requests' and limit '%s requests per minute' "+
		"of service '%s' for consumer 'project_number:100000000000'.", kind, kind, service)

	detailed, err := refused.WithDetails(
		&errdetails.ErrorInfo{
			Reason: "RATE_LIMIT_EXCEEDED", Domain: "googleapis.com",
			Metadata: map[string]string{
				"consumer": "projects/100000000000", "service": service, "quota_metric": service + "/" + strings.ToLower(kind) + "_requests",
				"quota_limit": kind + "RequestsPerMinutePerProject", "quota_limit_value": limit, "quota_location": "global",
				"quota_unit": "1/min/{project}",
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
