//go:build !unix

package replicas

import "testing"

// Server is one that there is not on this system.
type Server struct{ Address string }

// Postgres leaves the test out.
func Postgres(t testing.TB) *Server {
	t.Helper()
	t.Skip("PostgreSQL is started on Unix alone: NOT tested here")
	return nil
}

// Redis leaves the test out.
func Redis(t testing.TB) *Server {
	t.Helper()
	t.Skip("Redis is started on Unix alone: NOT tested here")
	return nil
}
