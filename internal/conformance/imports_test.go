package conformance_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The SDKs that the stores stand on, by the import path that all of an SDK's packages begin with.
const (
	firestoreSDK = "cloud.google.com/go/firestore"
	spannerSDK   = "cloud.google.com/go/spanner"
	postgresSDK  = "github.com/jackc/pgx"
	redisSDK     = "github.com/redis/go-redis"
	sqliteSDK    = "modernc.org/sqlite"
	telemetryAPI = "go.opentelemetry.io/otel"
)

// TestImportingOneStoreNeverPullsAnothersSDK: a handler links what it uses. The core links nothing but the standard library.
func TestImportingOneStoreNeverPullsAnothersSDK(t *testing.T) {
	t.Parallel()

	stores := []string{firestoreSDK, spannerSDK, postgresSDK, redisSDK, sqliteSDK}

	for name, own := range map[string]string{
		"claim/firestoreclaim":   firestoreSDK,
		"claim/spannerclaim":     spannerSDK,
		"claim/postgresclaim":    postgresSDK,
		"claim/redisclaim":       redisSDK,
		"claim/sqliteclaim":      sqliteSDK,
		"claim/memclaim":         "",
		"claim/claimtest":        "",
		"claim/otelclaim":        telemetryAPI,
		"webhook/firestoreinbox": firestoreSDK,
		"webhook/spannerinbox":   spannerSDK,
		"webhook/postgresinbox":  postgresSDK,
		"webhook/sqliteinbox":    sqliteSDK,
		"webhook/meminbox":       "",
		"webhook":                "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			deps := dependencies(t, "./runtime/"+name)
			if own != "" && !slices.ContainsFunc(deps, within(own)) {
				t.Errorf("it does not import %s: the test looks for the wrong thing", own)
			}

			for _, sdk := range stores {
				if sdk != own && slices.ContainsFunc(deps, within(sdk)) {
					t.Errorf("it pulls %s", sdk)
				}
			}

			if i := slices.IndexFunc(deps, within("github.com/hashicorp")); i >= 0 {
				t.Errorf("it pulls %s", deps[i])
			}
		})
	}
}

func TestTheCoreStandsOnTheStandardLibraryAlone(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"./runtime/run", "./runtime/claim", "./runtime/claim/memclaim", "./runtime/claim/claimtest"} {
		for _, dep := range dependencies(t, name) {
			host, _, _ := strings.Cut(dep, "/")
			if strings.Contains(host, ".") && !strings.HasPrefix(dep, module) {
				t.Errorf("%s pulls %s", name, dep)
			}
		}
	}
}

// TestTheObserverNeedsTheAPIOfOpenTelemetryAlone: which SDK, if any, is the user's to choose.
func TestTheObserverNeedsTheAPIOfOpenTelemetryAlone(t *testing.T) {
	t.Parallel()

	for _, dep := range dependencies(t, "./runtime/claim/otelclaim") {
		if strings.HasPrefix(dep, telemetryAPI+"/sdk") || strings.HasPrefix(dep, telemetryAPI+"/exporters") {
			t.Errorf("it pulls %s", dep)
		}
	}
}

const module = "github.com/idempotent-jobs/terraform-provider-idempotent"

// dependencies are the packages that one links, itself included.
func dependencies(t *testing.T, name string) []string {
	t.Helper()

	list := exec.Command("go", "list", "-deps", name)
	list.Dir = "../.."

	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", name, err)
	}

	return strings.Fields(string(out))
}

// within matches the package of that path and those below it, in any major version.
func within(path string) func(string) bool {
	return func(dep string) bool { return dep == path || strings.HasPrefix(dep, path+"/") }
}
