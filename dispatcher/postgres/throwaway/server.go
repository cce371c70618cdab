// Package throwaway runs a Postgres server for as long as the process that started it lives, from the binaries of
// the machine, and leaves nothing behind: whatever ends that process, a panic and SIGKILL included, ends the
// server and removes its data.
package throwaway

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Options say what kind of server is wanted.
type Options struct {
	// Durable leaves fsync on, as in production. Off it is quicker, and as correct as long as the machine stays up.
	Durable bool
}

// Server is a running server.
type Server struct {
	// Folder holds the data, the log and the socket.
	Folder string

	port     int
	password string
	keeper   *exec.Cmd
	lifeline io.Closer // closed, by us or by the end of this process, it ends the keeper and all it keeps
}

// ErrNoBinaries says that the machine has no Postgres server.
var ErrNoBinaries = errors.New("no Postgres server on this machine")

// binaries is where Debian keeps them, one folder per version; they are not on its PATH.
var binaries = "/usr/lib/postgresql/*/bin"

// Start makes a database cluster and serves it. The superuser is postgres.
func Start(ctx context.Context, o Options) (*Server, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "squall-postgres-")
	if err != nil {
		return nil, fmt.Errorf("start a Postgres server: %w", err)
	}
	s := &Server{Folder: folder, password: rand.Text()}
	if err := s.start(ctx, bin, o); err != nil {
		return nil, errors.Join(fmt.Errorf("start a Postgres server: %w", err), s.Stop(), os.RemoveAll(folder))
	}
	return s, nil
}

// find returns the folder of the binaries: that of initdb on PATH, else the newest of Debian's.
func find() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if initdb, err = filepath.EvalSymlinks(initdb); err == nil {
			return filepath.Dir(initdb), nil
		}
	}
	newest, version := "", 0.0
	folders, err := filepath.Glob(filepath.Join(binaries, "initdb"))
	if err != nil {
		return "", err
	}
	for _, initdb := range folders {
		bin := filepath.Dir(initdb)
		if v, err := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64); err == nil && v > version {
			newest, version = bin, v
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%w: neither is initdb on PATH, nor is there a %s; install one with `apt-get install postgresql`", ErrNoBinaries, binaries)
	}
	return newest, nil
}

func (s *Server) start(ctx context.Context, bin string, o Options) error {
	user, err := unprivileged()
	if err != nil {
		return err
	}
	if err := user.own(s.Folder); err != nil {
		return err
	}
	if err := s.initialise(ctx, bin, user); err != nil {
		return err
	}
	if s.port, err = freePort(); err != nil {
		return err
	}
	if err := s.serve(bin, user, o); err != nil {
		return err
	}
	return s.await(ctx)
}

func (s *Server) data() string { return filepath.Join(s.Folder, "data") }

func (s *Server) log() string { return filepath.Join(s.Folder, "log") }

// initialise runs initdb. Over TCP the password is asked for, since the port is open to all who share the machine; the
// socket lies in a folder of our own.
func (s *Server) initialise(ctx context.Context, bin string, user account) error {
	secret := filepath.Join(s.Folder, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return err
	}
	if err := user.own(secret); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", s.data(), "--username", "postgres", "--pwfile", secret,
		"--auth-local", "trust", "--auth-host", "md5", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = s.Folder, user.attributes()
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(output))
	}
	return nil
}

// keep is what the keeper runs: the server, until the lifeline on its standard input ends.
const keep = `
folder=$1; shift
"$@" >"$folder/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -QUIT $server 2>/dev/null
wait $server
rm -rf "$folder"
`

// serve starts the keeper, in a process group of its own: a Ctrl-C meant for us does not reach it.
func (s *Server) serve(bin string, user account, o Options) error {
	server := []string{filepath.Join(bin, "postgres"), "-D", s.data(), "-k", s.Folder, "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200", "-c", "shared_buffers=64MB"}
	if !o.Durable {
		server = append(server, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off")
	}
	s.keeper = exec.Command("/bin/sh", append([]string{"-c", keep, "keeper", s.Folder}, server...)...)
	s.keeper.Dir, s.keeper.SysProcAttr = "/", user.attributes()
	lifeline, err := s.keeper.StdinPipe()
	if err != nil {
		return err
	}
	s.lifeline = lifeline
	return s.keeper.Start()
}

// await returns when the server takes connections.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			output, _ := os.ReadFile(s.log())
			return fmt.Errorf("it does not answer: %w: %s", ctx.Err(), bytes.TrimSpace(output))
		case <-tick.C:
		}
	}
}

// ready tells what the server notes in its lock file (LOCK_FILE_LINE_PM_STATUS of miscadmin.h).
func (s *Server) ready() bool {
	status, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	lines := strings.Split(string(status), "\n")
	return err == nil && len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready"
}

// URL is where to connect for one of the server's databases; postgres always exists.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword("postgres", s.password),
		Host:   net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:   "/" + database,
	}
	return u.String() + "?sslmode=disable"
}

// Stop ends the server at once and removes its data. Done again it does nothing.
func (s *Server) Stop() error {
	if s.lifeline == nil {
		return nil
	}
	_ = s.lifeline.Close()
	s.lifeline = nil
	return s.keeper.Wait()
}

// freePort asks the kernel for a port that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
