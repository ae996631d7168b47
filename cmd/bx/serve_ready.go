package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

// readyTime is how long a gateway may take to say whether it is ready.
const readyTime = 10 * time.Second

// checkReady asks the gateway that runs by the same file and flags whether it is
// ready: at its listener for probes, if it has one.
func (s *server) checkReady(ctx context.Context) error {
	if err := s.readFile(); err != nil {
		return err
	}
	address, secure := cmp.Or(s.flags.listen, s.read.Listen, serveAddress), s.read.TLS != serving.TLS{}
	if probes := cmp.Or(s.flags.probes, s.read.Probes.Listen); probes != "" {
		address, secure = probes, false
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	status, text, err := askReady(ctx, address, secure)
	switch {
	case err != nil:
		return fmt.Errorf("no gateway answers at %s: %w", address, err)
	case status != http.StatusOK:
		return fmt.Errorf("the gateway at %s is not ready: HTTP %d: %s", address, status, text)
	}
	fmt.Fprintln(s.app.out, text)
	return nil
}

func askReady(ctx context.Context, address string, secure bool) (status int, text string, err error) {
	network, dial, scheme := "tcp", reachable(address), "http"
	if path, isSocket := strings.CutPrefix(address, unixPrefix); isSocket {
		network, dial = "unix", path
	}
	// The certificate is for the names of others; this goes to an own address, and
	// asks nothing that is secret.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, dial)
		}}}
	defer client.CloseIdleConnections()
	if secure {
		scheme = "https"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://localhost/readyz", nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	return resp.StatusCode, strings.TrimSpace(string(body)), err
}

// reachable is an address at which a listener of this machine can be asked.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}
