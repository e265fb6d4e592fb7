package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// reenter makes the test binary be the program.
const reenter = "IDEMPOTENT_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(reenter) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T, environment ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), reenter+"=1", "TF_PLUGIN_MAGIC_COOKIE="), environment...)
	return cmd
}

func TestWithoutArgumentsItHelps(t *testing.T) {
	t.Parallel()
	output, err := program(t).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, command := range []string{"generate", "dev"} {
		if !strings.Contains(string(output), command) {
			t.Errorf("the help does not name %s:\n%s", command, output)
		}
	}
}

func TestUnderTerraformItServesProtocolSix(t *testing.T) {
	t.Parallel()
	cmd := program(t, "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", "PLUGIN_PROTOCOL_VERSIONS=6")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	handshake, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if parts := strings.Split(handshake, "|"); len(parts) < 5 || parts[1] != "6" || parts[4] != "grpc" {
		t.Errorf("handshake %q", handshake)
	}
}
