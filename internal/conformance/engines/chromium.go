package engines

import (
	"os/exec"
	"testing"
)

const nameChromium = "chromium"

// Chromium returns the path of a Chromium browser, which tests drive without a screen.
func Chromium(t testing.TB) string {
	t.Helper()

	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}

	missing(t, nameChromium, "neither chromium nor google-chrome is on the PATH")

	return ""
}
