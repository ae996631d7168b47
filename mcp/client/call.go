package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// offer is a tool as models were offered it.
type offer struct {
	server *server
	tool   listed
}

// changed reports whether the tool says something else of itself than when it ran.
func (s *server) changed(o offer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.known.Allowed[o.tool.Name]
	return was != "" && was != o.tool.digest()
}

// allow notes that the tool may run as it describes itself, and that it still does.
func (s *server) allow(o offer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, ok := s.tool(o.tool.Name)
	switch {
	case !ok:
		return errors.New("it has no such tool any more")
	case now.digest() != o.tool.digest():
		return errors.New("the tool describes itself in another way since it was offered. It is offered anew; read it, and call it again if it still fits")
	}
	if s.known.Allowed[now.Name] == now.digest() {
		return nil
	}
	if s.known.Allowed == nil {
		s.known.Allowed = map[string]string{}
	}
	s.known.Allowed[now.Name] = now.digest()
	s.remember()
	return nil
}

// tool finds one in the last list; s.mu is held.
func (s *server) tool(name string) (listed, bool) {
	for _, t := range s.known.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return listed{}, false
}

// call asks the server to run a tool. It returns in time, whatever the server does.
func (s *server) call(ctx context.Context, o offer, args json.RawMessage) (*sdk.CallToolResult, error) {
	c, err := s.get(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.allow(o); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	type outcome struct {
		r   *sdk.CallToolResult
		err error
	}
	limit, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		r, err := c.CallTool(limit, &sdk.CallToolParams{Name: o.tool.Name, Arguments: args})
		done <- outcome{r, err}
	}()
	var out outcome
	select {
	case out = <-done:
	case <-limit.Done():
		out.err = limit.Err()
	}
	return out.r, s.judge(ctx, limit, c, out.err)
}

// judge says what a failed call tells of the server.
func (s *server) judge(ctx, limit context.Context, c *session, err error) error {
	said := answer(err)
	switch {
	case err == nil:
		s.answered()
		return nil
	case ctx.Err() != nil:
		return errors.New("the call was stopped; it may have done a part")
	case limit.Err() != nil:
		return s.tooLate(c)
	case said != "":
		s.answered()
		return fmt.Errorf("it answered: %s", said)
	}
	return fmt.Errorf("%w. It may have done a part of it", s.drop(c, err))
}

func (s *server) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures, s.late = 0, 0
}

// tooLate notes a call without an answer. A server that leaves two in a row is ended.
func (s *server) tooLate(c *session) error {
	s.mu.Lock()
	s.late++
	hangs := s.late > 1
	s.mu.Unlock()
	err := fmt.Errorf("it did not answer within %v, and may still be at it", s.timeout())
	if hangs {
		err = fmt.Errorf("it did not answer within %v, for the second time: it was ended", s.timeout())
		c.end()
		s.mu.Lock()
		if s.session == c && !s.closed {
			s.fail(err)
		}
		s.mu.Unlock()
	}
	return err
}

// maxBlob is the size of a picture or a sound that is passed on, in bytes.
const maxBlob = 4 << 20

// result is what a server answered.
func result(c utp.Call, r *sdk.CallToolResult) utp.Result {
	out := utp.Result{CallID: c.ID, Name: c.Name, Status: utp.StatusOK}
	if r.IsError {
		out.Status = utp.StatusFailed
	}
	for _, one := range r.Content {
		out.Parts = append(out.Parts, part(one))
	}
	if len(r.Content) == 0 && r.StructuredContent != nil {
		if b, err := json.Marshal(r.StructuredContent); err == nil {
			out.Parts = append(out.Parts, utp.Text{Text: string(b)})
		}
	}
	if len(out.Parts) == 0 {
		out.Parts = append(out.Parts, utp.Text{Text: "(no output)"})
	}
	return out
}

func part(c sdk.Content) utp.Part {
	switch c := c.(type) {
	case *sdk.TextContent:
		return text(c.Text)
	case *sdk.ImageContent:
		return blob(c.MIMEType, c.Data)
	case *sdk.AudioContent:
		return blob(c.MIMEType, c.Data)
	case *sdk.ResourceLink:
		return text(fmt.Sprintf("[resource %s]", line(strings.Join([]string{c.URI, c.MIMEType, c.Title, c.Description}, " "))))
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return text("[resource]")
		}
		head := fmt.Sprintf("[resource %s]", line(c.Resource.URI+" "+c.Resource.MIMEType))
		if len(c.Resource.Blob) > 0 {
			return text(fmt.Sprintf("%s [%d bytes]", head, len(c.Resource.Blob)))
		}
		return text(head + "\n" + c.Resource.Text)
	}
	return text(fmt.Sprintf("[content of a kind that is not known: %T]", c))
}

func text(s string) utp.Part { return utp.Text{Text: strings.ToValidUTF8(s, "\uFFFD")} }

func blob(mime string, data []byte) utp.Part {
	if len(data) > maxBlob {
		return text(fmt.Sprintf("[%s of %d bytes, which is too large]", line(mime), len(data)))
	}
	return utp.Blob{MIME: line(mime), Data: data}
}
