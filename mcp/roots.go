//lint:file-ignore SA1019 clients of the protocols before 2026-07-28 say their folders in roots

package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Roots are the folders that the client whose call ctx belongs to works in.
// Clients say so in the protocols before 2026-07-28; nil is one that does not.
func Roots(ctx context.Context) []string {
	ask, _ := ctx.Value(rootsKey{}).(func() []string)
	if ask == nil {
		return nil
	}
	return ask()
}

type rootsKey struct{}

// rootsTime is how long a client may take to say where it works.
const rootsTime = 5 * time.Second

// rootLists are the folders of clients that have said.
type rootLists struct {
	mu    sync.Mutex
	known map[*sdk.ServerSession][]string
}

func newRootLists() *rootLists { return &rootLists{known: map[*sdk.ServerSession][]string{}} }

// rooted lets the Runner of a call ask for the client's folders.
func (s *Server) rooted(ctx context.Context, client *sdk.ServerSession) context.Context {
	if client == nil {
		return ctx
	}
	p := client.InitializeParams()
	if p == nil || p.ProtocolVersion >= firstStateless || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return ctx
	}
	return context.WithValue(ctx, rootsKey{}, func() []string { return s.roots.of(ctx, client) })
}

// of asks a client once, until it says that its folders have changed.
func (r *rootLists) of(ctx context.Context, client *sdk.ServerSession) []string {
	r.mu.Lock()
	list, ok := r.known[client]
	r.mu.Unlock()
	if ok {
		return list
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	answer, err := client.ListRoots(ctx, nil)
	if err == nil {
		for _, root := range answer.Roots {
			if path, ok := pathOf(root.URI); ok {
				list = append(list, path)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[client]; !ok {
		go func() { _ = client.Wait(); r.forget(client) }() // how a session ended is told to who runs it
	}
	r.known[client] = list
	return list
}

func (r *rootLists) forget(client *sdk.ServerSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, client)
}

// FileURI is a path as a URI.
func FileURI(path string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// pathOf is the path of a file's URI.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	p := u.Path
	if len(p) > 2 && p[2] == ':' {
		p = p[1:] // /C:/x
	}
	return filepath.FromSlash(p), true
}
