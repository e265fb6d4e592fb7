package localcloud

import (
	"context"
	"slices"
	"strings"

	locationpb "google.golang.org/genproto/googleapis/cloud/location"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// locationIDs are the regions that Cloud Scheduler is offered in.
func locationIDs() []string {
	return []string{
		"africa-south1",
		"asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2", "asia-northeast3", "asia-south1", "asia-south2",
		"asia-southeast1", "asia-southeast2",
		"australia-southeast1", "australia-southeast2",
		"europe-central2", "europe-north1", "europe-southwest1", "europe-west1", "europe-west2", "europe-west3", "europe-west4",
		"europe-west6", "europe-west8", "europe-west9", "europe-west10", "europe-west12",
		"me-central1", "me-central2", "me-west1",
		"northamerica-northeast1", "northamerica-northeast2",
		"southamerica-east1", "southamerica-west1",
		"us-central1", "us-east1", "us-east4", "us-east5", "us-south1", "us-west1", "us-west2", "us-west3", "us-west4",
	}
}

// locations serves google.cloud.location.Locations.
type locations struct {
	locationpb.UnimplementedLocationsServer
}

func (locations) ListLocations(_ context.Context, req *locationpb.ListLocationsRequest) (*locationpb.ListLocationsResponse, error) {
	project, found := strings.CutPrefix(req.GetName(), "projects/")
	if !found || !projectPattern.MatchString(project) {
		return nil, status.Errorf(codes.InvalidArgument, `Name %q must be formatted: "projects/<PROJECT_ID>".`, req.GetName())
	}

	ids := locationIDs()
	slices.Sort(ids)

	from, to, next, err := page(req.GetPageSize(), req.GetPageToken(), ids)
	if err != nil {
		return nil, err
	}

	resp := &locationpb.ListLocationsResponse{NextPageToken: next}
	for _, id := range ids[from:to] {
		resp.Locations = append(resp.Locations, location(project, id))
	}

	return resp, nil
}

func (locations) GetLocation(_ context.Context, req *locationpb.GetLocationRequest) (*locationpb.Location, error) {
	at, err := parseParent(req.GetName(), "cloudscheduler.locations.get")
	if err != nil {
		return nil, err
	}

	return location(at.project, at.location), nil
}

func location(project, id string) *locationpb.Location {
	return &locationpb.Location{
		Name:       "projects/" + project + "/locations/" + id,
		LocationId: id,
		Labels:     map[string]string{"cloud.googleapis.com/region": id},
	}
}
