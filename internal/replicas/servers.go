//go:build unix

// Package replicas starts real PostgreSQL and Redis servers for tests, as Debian packages
// them, and has the tests that every implementation of fleet.State and fleet.Ledger must
// pass.
package replicas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Required is the environment variable that, set to 1, makes a test fail instead of
// skipping it if a server is missing.
const Required = "BX_SERVERS"

// Server is a server started by a test, which may kill and restart it.
type Server struct {
	Address string // for [ledger] or [state]
	Data    string // its directory
	t       testing.TB
	args    []string
	as      *syscall.Credential
	running *exec.Cmd
	ended   chan struct{} // closed when running is over
	ready   func() error
}

// absent skips a test for a missing program, or fails it if servers are Required.
func absent(t testing.TB, what, packages string) {
	t.Helper()
	text := fmt.Sprintf("%s is not on this machine, and %s is NOT tested against it: apt-get install %s", what, t.Name(), packages)
	if os.Getenv(Required) == "1" {
		t.Fatal(text)
	}
	fmt.Fprintln(os.Stderr, "LEFT OUT:", text)
	t.Skip(text)
}

// program returns the path of a PostgreSQL program, which Debian keeps outside of PATH.
func program(name string) string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.Sort(found)
	if len(found) > 0 {
		return found[len(found)-1]
	}
	path, _ := exec.LookPath(name)
	return path
}

// freePort returns a free port below the ephemeral ones, so that no other program takes
// it before the server starts or while it is down.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 12000 + rand.IntN(20000)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			_ = l.Close() // it is free
			return port
		}
	}
	t.Fatal("no port is free between 12000 and 32000")
	return 0
}

// account returns the user that the servers run as, since PostgreSQL refuses root.
func account(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		absent(t, "the user postgres", "postgresql")
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// room returns a directory owned by the account.
func room(t testing.TB, as *syscall.Credential) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bx-servers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Postgres starts a PostgreSQL of its own, with fsync as it is by default.
func Postgres(t testing.TB) *Server {
	t.Helper()
	initdb, postgres := program("initdb"), program("postgres")
	if initdb == "" || postgres == "" {
		absent(t, "PostgreSQL", "postgresql")
	}
	as := account(t)
	dir := room(t, as)
	data, port := filepath.Join(dir, "data"), freePort(t)
	s := &Server{Data: data, t: t, as: as, Address: fmt.Sprintf("postgres://bx@127.0.0.1:%d/postgres", port)}
	made := s.command(initdb, "-D", data, "-U", "bx", "-A", "trust", "-E", "UTF8", "--locale=C")
	if text, err := made.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, text)
	}
	s.args = []string{postgres, "-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"}
	s.ready = func() error {
		text, err := s.command(program("pg_isready"), "-h", "127.0.0.1", "-p", strconv.Itoa(port)).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		return nil
	}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// Redis starts a Redis of its own, which keeps nothing on disk.
func Redis(t testing.TB) *Server {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		absent(t, "Redis", "redis-server")
	}
	port := freePort(t)
	dir := room(t, nil)
	s := &Server{Data: dir, t: t, Address: fmt.Sprintf("redis://127.0.0.1:%d/0", port)}
	s.args = []string{path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir}
	s.ready = func() error {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.Write([]byte("PING\r\n")); err != nil {
			return err
		}
		answer := make([]byte, 5)
		if _, err := c.Read(answer); err != nil || string(answer) != "+PONG" {
			return errors.Join(errors.New("no PONG"), err)
		}
		return nil
	}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as}
	c.Dir = filepath.Dir(s.Data)
	return c
}

// Start starts the server, and returns when it answers.
func (s *Server) Start() {
	s.t.Helper()
	log, err := os.OpenFile(s.Data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = os.Remove(log.Name()) })
	defer log.Close()
	s.launch(log)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if err = s.ready(); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log.Name())
			s.t.Fatalf("%s does not answer: %v\n%s", s.args[0], err, said)
		case <-s.ended: // children of the one that was killed still hold what it shared with them
			time.Sleep(100 * time.Millisecond)
			s.launch(log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) launch(log *os.File) {
	s.t.Helper()
	c, ended := s.command(s.args[0], s.args[1:]...), make(chan struct{})
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // it was killed, or says in its log why not
		close(ended)
	}()
	s.running, s.ended = c, ended
}

// Kill ends the server and its children with SIGKILL, like a machine that fails.
func (s *Server) Kill() {
	if s.running == nil {
		return
	}
	_ = syscall.Kill(-s.running.Process.Pid, syscall.SIGKILL)
	<-s.ended
	s.running = nil
}

// Stop suspends the server, so that it accepts connections but does not answer.
func (s *Server) Stop() { _ = syscall.Kill(-s.running.Process.Pid, syscall.SIGSTOP) }

// Go resumes the server after Stop.
func (s *Server) Go() { _ = syscall.Kill(-s.running.Process.Pid, syscall.SIGCONT) }
