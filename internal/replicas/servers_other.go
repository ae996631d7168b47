//go:build !unix

package replicas

import "testing"

// Server stands for a server that tests cannot start on this system.
type Server struct{ Address string }

// Postgres skips the test.
func Postgres(t testing.TB) *Server {
	t.Helper()
	t.Skip("PostgreSQL is started on Unix alone: NOT tested here")
	return nil
}

// Redis skips the test.
func Redis(t testing.TB) *Server {
	t.Helper()
	t.Skip("Redis is started on Unix alone: NOT tested here")
	return nil
}
