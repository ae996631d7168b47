package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/search"
)

// guides are the files in which a repository has notes for agents; the first that
// is there counts.
var guides = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// maxGuide is how much of one is read.
const maxGuide = 256 << 10

// guide reads the notes of the repository, unless they are switched off.
func (j *job) guide() (name, text string) {
	if off := j.set.Guides; off != nil && !*off {
		return "", ""
	}
	root, err := os.OpenRoot(j.root)
	if err != nil {
		return "", ""
	}
	defer root.Close()
	for _, name := range guides {
		b, err := search.Read(root, name, maxGuide)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			j.view.Warn("%s is not sent along: %v", name, err)
		case len(b) > 0:
			return name, string(b)
		}
	}
	return "", ""
}

// takeGuide adds the notes to what an agent is sent.
func (j *job) takeGuide(c *connection) string {
	if c.client == nil {
		return ""
	}
	name, text := j.guide()
	if text == "" {
		return ""
	}
	j.view.Line(view.Verbose, "%s goes along as notes of others (%s; [agent] guides = false leaves it out)", name, view.Count(len(text), "byte"))
	return name + ":\n\n" + text
}
