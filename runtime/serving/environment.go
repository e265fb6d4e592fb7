package serving

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// DefaultGrace fits into the ten seconds that Cloud Run leaves between SIGTERM and SIGKILL.
const DefaultGrace = 8 * time.Second

// DefaultPort is listened on where PORT is not set.
const DefaultPort = 8080

const longestGrace = time.Hour

// Port reads PORT, 8080 when it is not set.
func Port(getenv func(string) string) (int, error) {
	value := strings.TrimSpace(getenv(run.EnvPort))
	if value == "" {
		return DefaultPort, nil
	}
	port, err := strconv.ParseUint(value, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("environment variable %s is %.100q: set it to a TCP port from 1 to 65535", run.EnvPort, value)
	}
	return int(port), nil
}

// Grace reads IDEMPOTENT_SHUTDOWN_GRACE, [DefaultGrace] when it is not set.
func Grace(getenv func(string) string) (time.Duration, error) {
	value := strings.TrimSpace(getenv(run.EnvShutdownGrace))
	if value == "" {
		return DefaultGrace, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > longestGrace {
		return 0, fmt.Errorf("environment variable %s is %.100q: set it to a duration such as 8s, above zero and at most %v",
			run.EnvShutdownGrace, value, longestGrace)
	}
	return d, nil
}
