package engines

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sdkRoot is the folder of the gcloud SDK, asked for once: gcloud takes a second to answer.
var sdkRoot = sync.OnceValues(func() (string, error) {
	path, err := exec.LookPath("gcloud")
	if err != nil {
		return "", errors.New("gcloud is not on the PATH")
	}

	out, err := exec.Command(path, "info", "--format=value(installation.sdk_root)").Output()
	if err != nil {
		return "", fmt.Errorf("gcloud info: %w", err)
	}

	return strings.TrimSpace(string(out)), nil
})

// sdkFile is the path of a file of the SDK, or the reason why it is not there.
func sdkFile(component string, elem ...string) (path, reason string) {
	root, err := sdkRoot()
	if err != nil {
		return "", err.Error()
	}

	path = filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		return "", "the gcloud SDK lacks it: gcloud components install " + component
	}

	return path, ""
}

// Firestore returns the host:port of a Firestore emulator. Tests keep apart by project or collection.
func Firestore(t testing.TB) string {
	t.Helper()

	return of(t, nameFirestore, firestoreLauncher(t)).Addr()
}

// OwnFirestore starts a Firestore emulator for one test alone. It keeps nothing over a restart.
func OwnFirestore(t testing.TB) *Server {
	t.Helper()

	return own(t, firestoreLauncher(t))
}

// firestoreLauncher ends the test where the machine has no emulator.
func firestoreLauncher(t testing.TB) func() (*Server, error) {
	t.Helper()

	jar, java, reason := findFirestore()
	if reason != "" {
		missing(t, nameFirestore, reason)
	}

	return func() (*Server, error) { return launchFirestore(jar, java) }
}

// NeedFirestore ends the test where the machine has no emulator, and starts none.
func NeedFirestore(t testing.TB) {
	t.Helper()

	firestoreLauncher(t)
}

// LaunchFirestore starts a Firestore emulator outside a test; the caller closes it.
func LaunchFirestore() (*Server, error) {
	jar, java, reason := findFirestore()
	if reason != "" {
		return nil, fmt.Errorf("there is no Firestore emulator on this machine: %s", reason)
	}

	return launchFirestore(jar, java)
}

// findFirestore returns what runs the emulator, or the reason why it cannot run here.
func findFirestore() (jar, java, reason string) {
	jar, reason = sdkFile("cloud-firestore-emulator", "platform", "cloud-firestore-emulator", "cloud-firestore-emulator.jar")
	if reason != "" {
		return "", "", reason
	}

	java, err := exec.LookPath("java")
	if err != nil {
		return "", "", "java is not on the PATH"
	}

	return jar, java, ""
}

// launchFirestore runs the emulator's Java archive itself: the SDK's script would leave its Java child behind.
func launchFirestore(jar, java string) (*Server, error) {
	return launch(nameFirestore, func(s *Server, port string) error {
		s.url = "firestore://local-project/(default)"
		s.command = func() *exec.Cmd {
			return exec.Command(java, "-Duser.language=en", "-Xmx512m", "-XX:+UseSerialGC", "-cp", jar,
				"com.google.cloud.datastore.emulator.firestore.CloudFirestore", "start", "--host=127.0.0.1", "--port="+port)
		}
		s.ready = s.answersHTTP

		return nil
	})
}

// answersHTTP is the emulator's sign of life: it answers plain HTTP on its gRPC port once it serves.
func (s *Server) answersHTTP(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/", http.NoBody)
	if err != nil {
		return err
	}

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}

	if err := resp.Body.Close(); err != nil {
		return err
	}

	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}

	return nil
}

// Spanner returns the host:port of a Spanner emulator without any instance. It runs one read-write transaction at a time in a
// database, so each test makes a database of its own.
func Spanner(t testing.TB) string {
	t.Helper()

	return of(t, nameSpanner, spannerLauncher(t)).Addr()
}

// OwnSpanner starts a Spanner emulator for one test alone. It keeps nothing over a restart.
func OwnSpanner(t testing.TB) *Server {
	t.Helper()

	return own(t, spannerLauncher(t))
}

func spannerLauncher(t testing.TB) func() (*Server, error) {
	t.Helper()

	binary, reason := sdkFile("cloud-spanner-emulator", "bin", "cloud_spanner_emulator", "emulator_main")
	if reason != "" {
		missing(t, nameSpanner, reason)
	}

	return func() (*Server, error) {
		return launch(nameSpanner, func(s *Server, _ string) error {
			s.url = "spanner://projects/local-project"
			s.command = func() *exec.Cmd { return exec.Command(binary, "--host_port="+s.addr) }

			return nil
		})
	}
}
