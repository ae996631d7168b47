package replicas

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Trips is a proxy to a server that counts round trips: how often a client sent something
// after an answer.
type Trips struct {
	Address string // to use in place of the server's

	mu       sync.Mutex
	n        int
	answered map[net.Conn]bool
}

// Via returns a proxy to the server at an address.
func Via(t testing.TB, address string) *Trips {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	server := to.Host
	to.Host = l.Addr().String()
	w := &Trips{Address: to.String(), answered: map[net.Conn]bool{}}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			at, err := net.Dial("tcp", server)
			if err != nil {
				_ = from.Close()
				continue
			}
			w.note(from, false)
			go w.carry(from, at, from, true)
			go w.carry(at, from, from, false)
		}
	}()
	return w
}

// carry copies from one side to the other; asks says that from is the client.
func (w *Trips) carry(from, to, client net.Conn, asks bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			w.note(client, asks)
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *Trips) note(client net.Conn, asks bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if asks && w.answered[client] {
		w.n++
	}
	w.answered[client] = !asks
}

// Of returns the least number of round trips that do takes: some runs need one more, to
// check a connection that was idle for a second.
func (w *Trips) Of(do func()) (least int) {
	for try := range 5 {
		w.mu.Lock()
		w.n = 0
		w.mu.Unlock()
		do()
		w.mu.Lock()
		if try == 0 || w.n < least {
			least = w.n
		}
		w.mu.Unlock()
	}
	return least
}
