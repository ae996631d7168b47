package replicas

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Trips is a way to a server that counts round trips: how often something was asked
// after the answer to what was asked before.
type Trips struct {
	Address string // in place of the server's

	mu       sync.Mutex
	n        int
	answered map[net.Conn]bool
}

// Via makes a way to the server at an address.
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

// carry takes what one side says to the other.
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

// Of is how many round trips do takes at the least: one more asks a connection that was
// not used for a second whether it is there.
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
