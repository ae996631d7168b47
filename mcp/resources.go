package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// Resources are files with a common beginning of their URIs. Some are listed, all
// can be read as far as the Reader lets them.
type Resources struct {
	Base   string            // what all URIs begin with: that of a directory, as FileURI gives it, and "/"
	List   func() []Resource // what is worth listing now
	Reader Runner            // gets a call {"path": …} of ReadTool and gives the whole file; the gate belongs here
}

// ReadTool is the tool whose rules hold for resources.
const ReadTool = "read_file"

// Resource is a file that is listed.
type Resource struct {
	Path        string // behind the Base, with slashes
	Description string
	MIME        string
}

// addResources offers the files.
func (s *Server) addResources() error {
	if s.resources == nil {
		return nil
	}
	if s.resources.Reader == nil || s.resources.List == nil {
		return errors.New("mcp: Config.Resources has no Reader or no List")
	}
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: "file", Title: "A file", URITemplate: s.resources.Base + "{+path}",
		Description: "Any file"}, s.read)
	s.Refresh()
	return nil
}

// Refresh looks what is worth listing now, and tells the clients if that changed.
func (s *Server) Refresh() {
	if s.resources == nil {
		return
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	now := s.resources.List()
	for _, r := range s.listed {
		if !slices.Contains(now, r) {
			s.sdk.RemoveResources(s.uri(r.Path))
		}
	}
	for _, r := range now {
		if !slices.Contains(s.listed, r) {
			s.sdk.AddResource(&sdk.Resource{URI: s.uri(r.Path), Name: r.Path, Description: r.Description, MIMEType: r.MIME}, s.read)
		}
	}
	s.listed = now
}

// Watch refreshes again and again, until ctx ends.
func (s *Server) Watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.Refresh()
		}
	}
}

func (s *Server) uri(path string) string {
	return s.resources.Base + (&url.URL{Path: path}).EscapedPath()
}

// read answers resources/read: with a call of the tool that reads files.
func (s *Server) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	escaped, ok := strings.CutPrefix(req.Params.URI, s.resources.Base)
	path, err := url.PathUnescape(escaped)
	if err != nil || !ok {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	args, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return nil, err
	}
	c := utp.Call{Name: ReadTool, Args: args, Source: utp.SourceNative}
	ask := s.asked.begin(req.ClientCapabilities(), req.Params.InputResponses, req.Params.RequestState, c)
	r := s.resources.Reader.Run(s.rooted(context.WithValue(ctx, askKey{}, ask), req.Session), c)
	if r.Status == utp.StatusDenied {
		if q, state := ask.pending(); q != nil {
			return &sdk.ReadResourceResult{InputRequests: q, RequestState: state, Contents: []*sdk.ResourceContents{}}, nil // none is an error to the SDK
		}
	}
	if r.Status != utp.StatusOK {
		//lint:ignore SA1019 the code of the protocols before 2026-07-28, which clients know
		return nil, &jsonrpc.Error{Code: sdk.CodeResourceNotFound, Message: Failure(r).Error()}
	}
	out := &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{}}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case utp.Text:
			out.Contents = append(out.Contents, &sdk.ResourceContents{URI: req.Params.URI, MIMEType: mimeOf(path), Text: p.Text})
		case utp.Blob:
			out.Contents = append(out.Contents, &sdk.ResourceContents{URI: req.Params.URI, MIMEType: p.MIME, Blob: p.Data})
		}
	}
	return out, nil
}

// Failure is a result that is not OK as an error: its text, out of the object
// {"error": text} where it is one.
func Failure(r utp.Result) error {
	var e struct{ Error string }
	if json.Unmarshal([]byte(r.Text()), &e) == nil && e.Error != "" {
		return errors.New(e.Error)
	}
	return errors.New(r.Text())
}

// mimeOf is the type of a text file.
func mimeOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".md"):
		return "text/markdown"
	case strings.HasSuffix(path, ".json"):
		return "application/json"
	}
	return "text/plain"
}
