package engines

import (
	"os/exec"
	"testing"
)

const nameGcloud = "gcloud"

// Gcloud returns the path of the gcloud command line tool, which tests use as an oracle of what Google's own client sends and reads.
func Gcloud(t testing.TB) string {
	t.Helper()

	path, err := exec.LookPath("gcloud")
	if err != nil {
		missing(t, nameGcloud, "gcloud is not on the PATH")
	}

	return path
}
