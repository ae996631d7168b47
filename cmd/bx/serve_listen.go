package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

// place is where a listener of bx serve is.
type place struct {
	address string // HOST:PORT or "unix:PATH"; "": nowhere
	mode    fs.FileMode
	tls     *tls.Config // nil: plain
}

// places are those of the file and the flags.
type places struct{ clients, probes, ui, admin place }

// places checks them. Whoever reaches the gateway can use the models behind it,
// so others than this machine need keys; who may reach a socket is said by its mode.
func (s *server) places() (at places, err error) {
	at.clients.address, at.probes.address = serveAddress, s.read.Probes.Listen
	for _, set := range []string{s.read.Listen, s.flags.listen} {
		if set != "" {
			at.clients.address = set
		}
	}
	if s.flags.probes != "" {
		at.probes.address = s.flags.probes
	}
	at.ui.address, at.admin.address = s.read.UI.Listen, s.read.Admin.Listen
	at.clients.mode, at.probes.mode, at.ui.mode, at.admin.mode = s.read.Mode(), s.read.Mode(), s.read.Mode(), s.read.Mode()
	for _, p := range []place{at.clients, at.probes, at.ui, at.admin} {
		if _, _, err := net.SplitHostPort(p.address); err != nil && p.address != "" && !p.isSocket() {
			return at, fail(exitUsage, "listen %s: want HOST:PORT, such as %s, or unix:PATH", p.address, serveAddress)
		}
	}
	if host, _, _ := net.SplitHostPort(at.clients.address); !at.clients.isSocket() && !backend.Loopback(host) && len(s.read.Clients) == 0 && s.read.Ledger == (serving.Ledger{}) {
		return at, fail(exitUsage, "%s can be reached from other machines, and whoever reaches the gateway can use the models behind it: add [[clients]] with keys to %s (bx serve --new-key NAME makes one), or listen at %s", at.clients.address, s.fileName(), serveAddress)
	}
	if t := s.read.TLS; t.Cert != "" {
		pair := &keyPair{cert: t.Cert, key: t.Key, warn: s.view.Warn}
		if _, err := pair.get(nil); err != nil {
			return at, fail(exitConfig, "[tls]: %w", err)
		}
		at.clients.tls = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}
		at.ui.tls, at.admin.tls = at.clients.tls, at.clients.tls
	}
	return at, nil
}

const unixPrefix = "unix:"

func (p place) isSocket() bool { return strings.HasPrefix(p.address, unixPrefix) }

// open listens.
func (p place) open() (net.Listener, error) {
	path, isSocket := strings.CutPrefix(p.address, unixPrefix)
	if !isSocket {
		l, err := net.Listen("tcp", p.address)
		if err != nil {
			return nil, fmt.Errorf("cannot listen: %w", err)
		}
		return l, nil
	}
	l, err := openSocket(path, p.mode)
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", path, err)
	}
	return l, nil
}

// openSocket listens at a socket that has its mode from the beginning on: it is
// made in a directory that nobody else may enter, and moved. One that a program
// has left behind is replaced; one that is answered, or another file, is not.
func openSocket(path string, mode fs.FileMode) (net.Listener, error) {
	if err := free(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".bx")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(made, mode); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{Listener: l, path: path}, nil
}

// free reports why there can be no socket at a path.
func free(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return errors.New("there is a file that is no socket")
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return nil // left behind
	}
	return errors.Join(errors.New("another program listens there"), c.Close())
}

// socket removes its file when it is closed.
type socket struct {
	net.Listener
	path string
	once sync.Once
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	s.once.Do(func() { _ = os.Remove(s.path) }) // a file that is left is replaced at the next start
	return err
}

// keyPair is a certificate that is read again when its files change.
type keyPair struct {
	cert, key string
	warn      func(string, ...any)

	mu     sync.Mutex
	pair   *tls.Certificate
	state  [2]fileState
	looked time.Time
}

// get is for tls.Config. A bad pair changes nothing but a warning.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pair != nil && time.Since(k.looked) < lookEvery {
		return k.pair, nil
	}
	k.looked = time.Now()
	now := [2]fileState{stateOf(k.cert), stateOf(k.key)}
	if k.pair != nil && now == k.state {
		return k.pair, nil
	}
	k.state = now
	pair, err := tls.LoadX509KeyPair(k.cert, k.key)
	switch {
	case err == nil:
		k.pair = &pair
	case k.pair == nil:
		return nil, err
	default:
		k.warn("the old certificate stays in force: %v", err)
	}
	return k.pair, nil
}

// notInForce lists the keys of the file that a reload has not put in force.
func notInForce(began, now *serving.File) (not []string) {
	for _, k := range []struct {
		key  string
		same bool
	}{
		{"listen", began.Listen == now.Listen}, {"socket_mode", began.SocketMode == now.SocketMode},
		{"tls", began.TLS == now.TLS}, {"probes.listen", began.Probes == now.Probes}, {"ui", began.UI == now.UI},
		{"ledger", began.Ledger == now.Ledger}, {"state.url", began.State.URL == now.State.URL && began.State.URLEnv == now.State.URLEnv}, {"admin", began.Admin == now.Admin},
	} {
		if !k.same {
			not = append(not, k.key)
		}
	}
	return not
}

// notify tells systemd, if it wants to know. Source: sd_notify(3).
func (s *server) notify(ctx context.Context, state string) {
	name := s.app.env("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	if strings.HasPrefix(name, "@") {
		name = "\x00" + name[1:]
	}
	c, err := new(net.Dialer).DialContext(ctx, "unixgram", name)
	if err == nil {
		_, err = c.Write([]byte(state))
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		s.view.Warn("systemd is not told %q: %v", state, err)
	}
}

// warnOfKey warns of a place whose key others on its way can read.
func (s *server) warnOfKey(of string, p place) {
	if host, _, _ := net.SplitHostPort(p.address); !p.isSocket() && p.tls == nil && !backend.Loopback(host) {
		s.view.Warn("the key of the %s crosses the network as it is: add [tls], or put a proxy with TLS before it", of)
	}
}
