// Package engines finds and starts the real servers and command line tools that tests need: the Firestore and Spanner
// emulators of the gcloud SDK, PostgreSQL, Redis, Terraform and OpenTofu.
//
// A test asks for an engine by calling its function. The first call in a test process starts the server and waits, for a
// bounded time, until it answers; later calls share it. Tests keep apart by table, collection or database name. A server ends
// with its test process, however that ends: Main stops it, and where the operating system can, the kernel does so when the
// test binary is killed.
//
// An engine that this machine does not have skips the test and leaves a line in the file that IDEMPOTENT_TEST_SKIPPED names,
// so that a run can say what it left out. IDEMPOTENT_TEST_REQUIRE, a comma list of engine names or "all", turns that skip into
// a failure. An engine that is there and does not start is always a failure.
package engines

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idempotent-jobs/terraform-provider-idempotent/internal/conformance/chance"
)

// The names by which IDEMPOTENT_TEST_REQUIRE and skip lines call the engines.
const (
	nameFirestore = "firestore"
	namePostgres  = "postgres"
	nameRedis     = "redis"
	nameSpanner   = "spanner"
	nameTerraform = "terraform"
	nameTofu      = "tofu"
)

const (
	envRequire = "IDEMPOTENT_TEST_REQUIRE"
	envSkipped = "IDEMPOTENT_TEST_SKIPPED"
)

// shared holds the servers of this process. It is package state because "one server a test process" is what it means.
var shared = registry{servers: map[string]*sharedServer{}}

type registry struct {
	mu      sync.Mutex
	servers map[string]*sharedServer
}

type sharedServer struct {
	once   sync.Once
	server *Server
	err    error
}

// get returns the process's server of that name and starts it on the first call.
func (r *registry) get(name string, launch func() (*Server, error)) (*Server, error) {
	r.mu.Lock()
	entry := r.servers[name]
	if entry == nil {
		entry = &sharedServer{}
		r.servers[name] = entry
	}
	r.mu.Unlock()

	entry.once.Do(func() { entry.server, entry.err = launch() })

	return entry.server, entry.err
}

func (r *registry) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, entry := range r.servers {
		if entry.server != nil {
			entry.server.close()
		}
	}

	clear(r.servers)
}

// Main runs the tests of a package and stops the engines they started. A package that uses engines calls it from TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }
//
// Without it the servers still end with the process on Linux, but their data folders stay until the next run sweeps them.
func Main(m *testing.M) int {
	defer shared.stop()

	chance.Fix()

	return m.Run()
}

// missing ends the test because this machine lacks the engine: a skip with a line in the list of skips, or a failure where the
// engine is required.
func missing(t testing.TB, name, reason string) {
	t.Helper()

	if required(os.Getenv(envRequire), name) {
		t.Fatalf("engine %s is required by %s and not there: %s", name, envRequire, reason)
	}

	if path := os.Getenv(envSkipped); path != "" {
		if err := appendLine(path, fmt.Sprintf("%s: %s: %s", name, t.Name(), reason)); err != nil {
			t.Errorf("write the list of skips: %v", err)
		}
	}

	t.Skipf("engine %s: %s", name, reason)
}

func required(list, name string) bool {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })

	return slices.Contains(names, "all") || slices.Contains(names, name)
}

// appendLine adds one line in a single write, so that the lines of test processes that run at once do not mix.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}

	if _, err := f.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("append to %s: %w", path, closing(err, f))
	}

	return f.Close()
}

func closing(err error, f *os.File) error {
	_ = f.Close()

	return err
}
