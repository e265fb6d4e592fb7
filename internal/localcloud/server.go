package localcloud

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/firestore/apiv1/admin/adminpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"cloud.google.com/go/scheduler/apiv1/schedulerpb"
	locationpb "google.golang.org/genproto/googleapis/cloud/location"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/loopback"
)

// headerTimeout bounds clients that connect and say nothing.
const headerTimeout = 10 * time.Second

// largestRequest is beyond the largest job, 1 MB, in base64.
const largestRequest = 4 << 20

// serve starts serving everything on the listener.
func (c *Cloud) serve() error {
	c.grpc = grpc.NewServer(grpc.UnaryInterceptor(c.calls.intercept), grpc.MaxRecvMsgSize(largestRequest))
	schedulerpb.RegisterCloudSchedulerServer(c.grpc, &schedulerAPI{scheduler: c.scheduler})
	locationpb.RegisterLocationsServer(c.grpc, locations{})
	adminpb.RegisterFirestoreAdminServer(c.grpc, c.fields)
	longrunningpb.RegisterOperationsServer(c.grpc, &operationsAPI{fields: c.fields})

	rest, err := newTranscoder(c.grpc, http.HandlerFunc(notServed))
	if err != nil {
		return err
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET "+discoveryPath, c.issuer.serveDiscovery)
	mux.HandleFunc("GET "+jwksPath, c.issuer.serveKeys)
	c.handleControl(mux)

	err = c.handlePage(mux)
	if err != nil {
		return fmt.Errorf("prepare the page: %w", err)
	}

	mux.Handle("/", restFront(rest))

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)

	// A page of another origin must not drive the cloud; browsers say where a request comes from.
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, http.StatusForbidden, codes.PermissionDenied.String(), "The local cloud takes nothing from pages of other origins.", nil)
	}))

	c.http = &http.Server{
		Handler:           c.byProtocol(origins.Handler(mux)),
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          slog.NewLogLogger(c.cfg.Logger.Handler(), slog.LevelDebug),
	}

	c.serving.Go(func() {
		serveErr := c.http.Serve(c.listener)
		if serveErr != nil && !errors.Is(serveErr, http.ErrServerClosed) {
			c.cfg.Logger.Error("serve", slog.Any("error", serveErr))
		}
	})

	return nil
}

// byProtocol hands gRPC to the gRPC server and everything else to the REST side.
func (c *Cloud) byProtocol(rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get(headerContentType), "application/grpc") {
			c.grpc.ServeHTTP(w, r)

			return
		}

		// A web page whose name was made to point here must not drive the cloud of the machine it is read on.
		if !c.cfg.AllowRemote && !isLocalName(r.Host) {
			writeError(w, http.StatusForbidden, codes.PermissionDenied.String(), "The local cloud answers only to loopback names, not to "+
				strconv.Quote(r.Host)+".", nil)

			return
		}

		r.Body = http.MaxBytesReader(w, r.Body, largestRequest)
		rest.ServeHTTP(w, r)
	})
}

func notServed(w http.ResponseWriter, r *http.Request) {
	http.Error(w, notServedHere(r), http.StatusNotFound)
}

func notServedHere(r *http.Request) string {
	return "The local cloud does not serve " + r.Method + " " + r.URL.Path + "."
}

func isLocalName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}

	host = strings.Trim(host, "[]")

	return loopback.Name(host)
}
