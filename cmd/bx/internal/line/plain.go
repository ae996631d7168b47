package line

import (
	"context"
	"io"
	"os"
	"strings"
)

// Plain reads texts line by line, where nothing can be edited: a pipe, a dumb
// terminal, which has its own way to correct a line.
type Plain struct {
	In     *os.File
	Out    io.Writer // for prompts; nil: none
	Prompt string
	More   string

	held []byte // read beyond the end of a line
	over bool
}

// Read reads a text: a line, and those after it while one ends in a backslash or
// a fence of ``` is open. The error is io.EOF at the end, or the context's.
func (p *Plain) Read(ctx context.Context) (string, error) {
	var text strings.Builder
	prompt := p.Prompt
	for {
		if p.Out != nil {
			io.WriteString(p.Out, prompt)
		}
		line, err := p.line(ctx)
		if err != nil && (err != io.EOF || text.Len() == 0) {
			return "", err
		}
		goesOn := strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`)
		if goesOn {
			line = line[:len(line)-1]
		}
		text.WriteString(line)
		if err == io.EOF || !goesOn && !fenceOpen(text.String()) {
			return text.String(), nil
		}
		text.WriteByte('\n')
		prompt = p.More
	}
}

// line reads a line. What stands at the end without a newline is one, too.
func (p *Plain) line(ctx context.Context) (string, error) {
	for {
		if i := strings.IndexByte(string(p.held), '\n'); i >= 0 {
			line := string(p.held[:i])
			p.held = p.held[i+1:]
			return strings.TrimSuffix(line, "\r"), nil
		}
		if p.over {
			line := string(p.held)
			p.held = nil
			if line == "" {
				return "", io.EOF
			}
			return line, nil
		}
		if err := p.fill(ctx); err != nil {
			return "", err
		}
	}
}

func (p *Plain) fill(ctx context.Context) error {
	if err := Wait(ctx, p.In); err != nil {
		return err
	}
	b := make([]byte, 4096)
	n, err := p.In.Read(b)
	p.held = append(p.held, b[:n]...)
	if err == io.EOF {
		p.over = true
		return nil
	}
	return err
}
