package engines

import (
	"os"
	"os/exec"
	"testing"
)

// Redis returns the URL of a Redis server that evicts nothing, or of miniredis where there is no redis-server and none is required.
// Tests keep apart by the table name, which begins every key.
func Redis(t testing.TB) string {
	t.Helper()

	if _, err := exec.LookPath("redis-server"); err != nil && !required(os.Getenv(envRequire), nameRedis) {
		return of(t, nameRedis, standInForRedis()).URL()
	}

	return of(t, nameRedis, redisLauncher(t)).URL()
}

// OwnRedis starts a Redis server for one test alone, with further settings in redis-server's own form ("--maxmemory-policy",
// "allkeys-lru"). It writes every command to disk before it answers, so what it acknowledged is there after a restart.
func OwnRedis(t testing.TB, settings ...string) *Server {
	t.Helper()

	return own(t, redisLauncher(t, append([]string{"--appendonly", "yes", "--appendfsync", "always"}, settings...)...))
}

func redisLauncher(t testing.TB, settings ...string) func() (*Server, error) {
	t.Helper()

	binary, err := exec.LookPath("redis-server")
	if err != nil {
		missing(t, nameRedis, "redis-server is not on the PATH")
	}

	return func() (*Server, error) {
		return launch(nameRedis, func(s *Server, port string) error {
			s.url = "redis://" + s.addr + "/0"
			s.command = func() *exec.Cmd {
				return exec.Command(binary, append([]string{
					"--bind", "127.0.0.1", "--port", port, "--dir", s.dir, "--save", "", "--daemonize", "no",
				}, settings...)...)
			}

			return nil
		})
	}
}
