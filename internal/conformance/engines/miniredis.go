package engines

import (
	"fmt"
	"os"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// standInForRedis starts miniredis in this process, for machines without redis-server: it runs the scripts and keeps nothing. It says
// so on standard error and in the list of skips, since what passes over it has not been seen on Redis.
func standInForRedis() func() (*Server, error) {
	return func() (*Server, error) {
		const notice = nameRedis + ": redis-server is not on the PATH, miniredis stands in for it"

		fmt.Fprintln(os.Stderr, notice)

		if path := os.Getenv(envSkipped); path != "" {
			if err := appendLine(path, notice); err != nil {
				return nil, fmt.Errorf("write the list of skips: %w", err)
			}
		}

		mini := miniredis.NewMiniRedis()
		if err := mini.Start(); err != nil {
			return nil, fmt.Errorf("start miniredis: %w", err)
		}

		mini.Server().SetPreHook(tellsPolicy)

		return &Server{name: nameRedis, addr: mini.Addr(), url: "redis://" + mini.Addr() + "/0", stop: mini.Close}, nil
	}
}

// tellsPolicy answers INFO memory, which miniredis does not know: it evicts nothing.
func tellsPolicy(peer *server.Peer, command string, args ...string) bool {
	if !strings.EqualFold(command, "INFO") || len(args) != 1 || !strings.EqualFold(args[0], "memory") {
		return false
	}

	peer.WriteBulk("# Memory\r\nmaxmemory_policy:noeviction\r\n")

	return true
}
