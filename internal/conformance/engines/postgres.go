package engines

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Postgres returns the URL of a PostgreSQL server's empty database "postgres". Tests keep apart by table name.
func Postgres(t testing.TB) string {
	t.Helper()

	return of(t, namePostgres, postgresLauncher(t)).URL()
}

// OwnPostgres starts a PostgreSQL server for one test alone. What was committed is there after a restart.
func OwnPostgres(t testing.TB) *Server {
	t.Helper()

	return own(t, postgresLauncher(t))
}

// postgresBin finds a program of the server package, which Debian keeps off the PATH.
func postgresBin(name string) (string, bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}

	found, err := filepath.Glob(filepath.Join("/usr/lib/postgresql", "*", "bin", name))
	if err != nil || len(found) == 0 {
		return "", false
	}

	return slices.Max(found), true
}

func postgresLauncher(t testing.TB) func() (*Server, error) {
	t.Helper()

	initdb, found := postgresBin("initdb")
	if !found {
		missing(t, namePostgres, "initdb is neither on the PATH nor under /usr/lib/postgresql")
	}

	binary, found := postgresBin("postgres")
	if !found {
		missing(t, namePostgres, "postgres is neither on the PATH nor under /usr/lib/postgresql")
	}

	attr, err := unprivileged()
	if err != nil {
		missing(t, namePostgres, err.Error())
	}

	return func() (*Server, error) {
		return launch(namePostgres, func(s *Server, port string) error {
			if attr != nil {
				if err := os.Chown(s.dir, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
					return fmt.Errorf("hand the data folder to the user postgres: %w", err)
				}
			}

			data := filepath.Join(s.dir, "data")
			cmd := exec.Command(initdb, "--pgdata="+data, "--username=postgres", "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8")
			cmd.Dir, cmd.SysProcAttr = s.dir, attr

			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("initdb: %w: %s", err, firstLine(out))
			}

			s.url = "postgres://postgres@" + s.addr + "/postgres?sslmode=disable"
			s.stopSignal = syscall.SIGQUIT // the immediate shutdown: the data is thrown away
			s.command = func() *exec.Cmd { return postgresCommand(binary, s.dir, data, port, attr) }
			s.ready = func(ctx context.Context) error { return postgresReady(ctx, s) }

			return nil
		})
	}
}

func postgresCommand(binary, dir, data, port string, attr *syscall.SysProcAttr) *exec.Cmd {
	cmd := exec.Command(binary, "-D", data, "-p", port, "-h", "127.0.0.1", "-k", dir,
		// Nothing here outlives the machine: a killed server keeps its data without fsync, only a power cut would not.
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300", "-c", "shared_buffers=32MB")
	cmd.Dir = dir

	if attr != nil {
		clone := *attr // each start sets its own death signal
		cmd.SysProcAttr = &clone
	}

	return cmd
}

// postgresReady waits past the port: a server that still recovers accepts connections and refuses them.
func postgresReady(ctx context.Context, s *Server) error {
	if err := s.dial(ctx); err != nil {
		return err
	}

	tool, found := postgresBin("pg_isready")
	if !found {
		return nil
	}

	_, port, _ := strings.Cut(s.addr, ":")
	if out, err := exec.CommandContext(ctx, tool, "-h", "127.0.0.1", "-p", port).CombinedOutput(); err != nil {
		return fmt.Errorf("pg_isready: %w: %s", err, firstLine(out))
	}

	return nil
}

// unprivileged returns how to run as the user postgres, since initdb and postgres refuse root; nil for anybody else.
func unprivileged() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil // no attribute is what "run as I am" means to exec.Cmd
	}

	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root may not run it and there is no user postgres: %w", err)
	}

	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user id of postgres: %w", err)
	}

	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("group id of postgres: %w", err)
	}

	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}
