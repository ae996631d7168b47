package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// ErrOffline is a connection that was refused because it would leave the machine.
var ErrOffline = errors.New("offline: only this machine may be reached")

// HTTP is the client for everything that goes over the network. With offline
// set it reaches this machine only: other hosts are refused before their names
// are looked up, and no proxy is used. It does not follow a redirect to another
// host, which would take the prompt there.
func HTTP(offline bool, connect time.Duration) *http.Client {
	if connect == 0 {
		connect = 5 * time.Second
	}
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 128, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: connect,
		WriteBufferSize: 10 << 10, ReadBufferSize: 8 << 10, // a short request, and a short reply, in one piece each
	}
	if offline {
		t.Proxy = nil
		dialer.Control = onlyLoopback
		t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, err := net.SplitHostPort(address); err != nil || !Loopback(host) {
				return nil, refused(address)
			}
			return dialer.DialContext(ctx, network, address)
		}
	}
	return &http.Client{Transport: t, CheckRedirect: sameHost}
}

// Loopback reports whether host is this machine: localhost or a loopback address.
func Loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// onlyLoopback checks the address that a name resolved to.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	if host, _, err := net.SplitHostPort(address); err != nil || !Loopback(host) {
		return refused(address)
	}
	return nil
}

func refused(address string) error { return fmt.Errorf("%w, not %s", ErrOffline, address) }

const maxRedirects = 3

func sameHost(r *http.Request, via []*http.Request) error {
	switch {
	case r.URL.Host != via[0].URL.Host:
		return fmt.Errorf("the server redirects to another host, %s: put that address into the configuration if it is right", r.URL.Host)
	case len(via) > maxRedirects:
		return errors.New("the server redirects in circles")
	}
	return nil
}
