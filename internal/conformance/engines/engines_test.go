package engines

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestOneServerIsSharedByTheTestsOfAProcess(t *testing.T) {
	t.Parallel()

	first, second := Redis(t), Redis(t)
	if first != second {
		t.Errorf("two calls gave %s and %s", first, second)
	}

	if own := OwnRedis(t).URL(); own == first {
		t.Errorf("a server of one's own is the shared one, %s", own)
	}
}

func TestEveryEngineAcceptsConnections(t *testing.T) {
	t.Parallel()

	for name, start := range map[string]func(testing.TB) *Server{
		nameFirestore: OwnFirestore, namePostgres: OwnPostgres, nameRedis: func(t testing.TB) *Server { return OwnRedis(t) }, nameSpanner: OwnSpanner,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := start(t)
			if err := s.dial(t.Context()); err != nil {
				t.Error(err)
			}

			s.Restart(t)

			if err := s.dial(t.Context()); err != nil {
				t.Errorf("after a restart: %v", err)
			}
		})
	}
}

func TestAServerThatDoesNotStartAtOnceAfterAKillIsStartedAgain(t *testing.T) {
	t.Parallel()

	s := OwnRedis(t)
	if s.proc == nil {
		t.Skip("Redis runs in this process")
	}

	var starts int

	command := s.command
	s.command = func() *exec.Cmd {
		if starts++; starts < 3 {
			return exec.Command("false")
		}

		return command()
	}

	s.Restart(t)

	if err := s.dial(t.Context()); err != nil || starts != 3 {
		t.Errorf("after %d starts: %v", starts, err)
	}
}

func TestAServerEndsWithItsTest(t *testing.T) {
	t.Parallel()

	var s *Server

	t.Run("owner", func(t *testing.T) { s = OwnRedis(t) }) // the parent looks at what it left

	if s == nil {
		t.Skip("skipped with its engine")
	}

	if conn, err := net.Dial("tcp", s.addr); err == nil {
		_ = conn.Close()

		t.Errorf("%s still answers after its test", s.addr)
	}

	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data folder %s is still there: %v", s.dir, err)
	}
}

const envKilledHelper = "IDEMPOTENT_ENGINES_KILLED_HELPER"

// TestAServerEndsWithAKilledTestProcess runs this test binary a second time as a process that starts a server and is killed.
func TestAServerEndsWithAKilledTestProcess(t *testing.T) {
	if file := os.Getenv(envKilledHelper); file != "" {
		s := OwnRedis(t)
		if err := os.WriteFile(file+".tmp", []byte(s.addr), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := os.Rename(file+".tmp", file); err != nil {
			t.Fatal(err)
		}

		select {} // until killed
	}

	t.Parallel()
	redisLauncher(t) // skips where there is none

	file := filepath.Join(t.TempDir(), "addr")
	child := exec.Command(os.Args[0], "-test.run=^TestAServerEndsWithAKilledTestProcess$")
	child.Env = append(os.Environ(), envKilledHelper+"="+file)

	if err := child.Start(); err != nil {
		t.Fatal(err)
	}

	addr := waitForFile(t, file)

	if err := errors.Join(child.Process.Kill(), ignoreKill(child.Wait())); err != nil {
		t.Fatal(err)
	}

	within(t, "the server of a killed process to end", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}

		return err != nil
	})
}

func TestFoldersOfDeadProcessesAreSweptAndOthersStay(t *testing.T) {
	t.Parallel()

	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}

	stale := filepath.Join(os.TempDir(), scratchPrefix+strconv.Itoa(dead.Process.Pid)+"-redis-1")
	if err := os.Mkdir(stale, 0o700); err != nil {
		t.Fatal(err)
	}

	mine, err := scratch("mine")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = os.RemoveAll(mine) })
	sweep()

	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder of a dead process: %v, want it gone", err)
	}

	if _, err := os.Stat(mine); err != nil {
		t.Errorf("folder of this process: %v", err)
	}
}

func TestRequiredNamesOneSeveralOrAll(t *testing.T) {
	t.Parallel()

	for list, want := range map[string]bool{
		"": false, "redis": true, "spanner,redis": true, "spanner, redis": true, "all": true, "spanner": false, "redisx": false,
	} {
		if got := required(list, nameRedis); got != want {
			t.Errorf("required(%q, redis) = %v, want %v", list, got, want)
		}
	}
}

func TestAMissingEngineSkipsWithALineOrFails(t *testing.T) {
	list := filepath.Join(t.TempDir(), "skipped")
	t.Setenv(envSkipped, list)
	t.Setenv(envTofu, "/nowhere/tofu")

	t.Setenv(envRequire, "")
	t.Run("skip", func(t *testing.T) { Tofu(t) })

	got, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}

	want := "tofu: " + t.Name() + "/skip: /nowhere/tofu is not there: set IDEMPOTENT_TEST_TOFU or put tofu on the PATH\n"
	if string(got) != want {
		t.Errorf("list of skips\n got %q\nwant %q", got, want)
	}

	t.Setenv(envRequire, "tofu")

	fake := &recorder{TB: t}
	fake.run(func() { Tofu(fake) })

	if !strings.HasPrefix(fake.fatal, "engine tofu is required by IDEMPOTENT_TEST_REQUIRE and not there: ") {
		t.Errorf("a required engine that is missing: %q", fake.fatal)
	}
}

func waitForFile(t *testing.T, path string) string {
	t.Helper()

	var content []byte

	within(t, "the file "+path, func() bool {
		var err error

		content, err = os.ReadFile(path)

		return err == nil
	})

	return string(content)
}

func within(t *testing.T, what string, done func() bool) {
	t.Helper()

	deadline := time.Now().Add(readyWithin)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}

		time.Sleep(readyEvery)
	}
}

func ignoreKill(err error) error {
	if _, killed := errors.AsType[*exec.ExitError](err); killed {
		return nil
	}

	return err
}
