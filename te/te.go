// Package te writes the tool envelope: a result of a search as one line of
// facts (the header), lines in the order of their rank, and a note of what was
// left out and where (the breadcrumbs).
//
//	# TE_BEGIN_META
//	{"v":1,"cmd":"search","matches":15,"truncated":true,"hot_zone":"tools/rag/ (80%)"}
//	# TE_END_META
//
//	tools/rag/database.py:42: def database_connection():
//	tools/rag/database.py-43-     return pool.get()
//	tools/rag/pool.py:7: class Pool:
//
//	# TE: 10 more in tools/rag/
//	# TE: 3 more in tests/
//
// A match is one line "path:LINE: text". Further lines of the same place read
// "path-LINE- text", as grep -C prints them, and do not count. Matches shown
// and matches in breadcrumbs add up to "matches". An envelope states facts and
// never tells its reader what to do. Nothing found in a file can pass for a
// header or a breadcrumb: a line of content always begins with its path.
//
// Source: Tool Envelope v1.2.
package te

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Version is the "v" of every header.
const Version = 1

const (
	begin     = "# TE_BEGIN_META\n"
	end       = "# TE_END_META\n"
	crumb     = "# TE: "
	errorMark = "[TE] "
)

// Meta is the header. Zero fields are left out, but a search always says how
// many matches there are and whether some were left out.
type Meta struct {
	Cmd         string // the command: search, grep, cat, find …
	Matches     int
	Lines       int
	Files       int
	Size        int64  // bytes
	Truncated   bool   // the content below is not all
	Handle      string // by which the whole result can be fetched: "res_" and 12 hex digits
	HotZone     string // where most of it is: "tools/rag/ (73%)"
	ContentType string // as ContentType says
	Error       string // a code: invalid_pattern, timeout …
	Hint        string // a fact that a reader cannot know from training
}

// header is Meta on the wire, in the order of the keys.
type header struct {
	V           int    `json:"v"`
	Cmd         string `json:"cmd"`
	Matches     *int   `json:"matches,omitempty"`
	Lines       int    `json:"lines,omitempty"`
	Files       int    `json:"files,omitempty"`
	Size        int64  `json:"size,omitempty"`
	Truncated   *bool  `json:"truncated,omitempty"`
	Handle      string `json:"handle,omitempty"`
	HotZone     string `json:"hot_zone,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Error       string `json:"error,omitempty"`
	Hint        string `json:"hint,omitempty"`
}

func (m Meta) header() header {
	h := header{V: Version, Cmd: m.Cmd, Lines: m.Lines, Files: m.Files, Size: m.Size,
		Handle: m.Handle, HotZone: m.HotZone, ContentType: m.ContentType, Error: m.Error, Hint: m.Hint}
	searched := m.Error == "" && (m.Cmd == "search" || m.Cmd == "grep")
	if m.Matches != 0 || searched {
		h.Matches = &m.Matches
	}
	if m.Truncated || m.Error == "" && m.Cmd == "search" {
		h.Truncated = &m.Truncated
	}
	return h
}

func (h header) meta() Meta {
	m := Meta{Cmd: h.Cmd, Lines: h.Lines, Files: h.Files, Size: h.Size, Handle: h.Handle,
		HotZone: h.HotZone, ContentType: h.ContentType, Error: h.Error, Hint: h.Hint}
	if h.Matches != nil {
		m.Matches = *h.Matches
	}
	if h.Truncated != nil {
		m.Truncated = *h.Truncated
	}
	return m
}

// String is the header with its markers and the blank line that ends it.
func (m Meta) String() string {
	var b bytes.Buffer
	b.WriteString(begin)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.header()); err != nil {
		panic(fmt.Sprintf("te: a header of strings and numbers did not marshal: %v", err))
	}
	b.WriteString(end + "\n")
	return b.String()
}

// Fail is the envelope of a command that failed: a code for programs in the
// header and text for the reader below it.
func Fail(cmd, code, text string) string {
	return Meta{Cmd: cmd, Error: code}.String() + errorMark + clean(text) + "\n"
}
