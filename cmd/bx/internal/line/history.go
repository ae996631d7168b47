package line

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

// What a history keeps.
const (
	maxEntries = 1000
	maxEntry   = 64 << 10
	maxFile    = 4 << 20
)

// History is what was typed before, oldest first. Nil is an empty one that keeps
// nothing.
type History struct {
	entries []string
	file    string // "": in memory alone
}

// OpenHistory reads a history from a file, a JSON string a line; with "" it lives
// in memory. The file is made when something is added, for its owner alone.
// Several processes may add to one file.
func OpenHistory(file string) (*History, error) {
	h := &History{file: file}
	if file == "" {
		return h, nil
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h, nil
	case err != nil:
		return h, err
	case !info.Mode().IsRegular():
		h.file = ""
		return h, fmt.Errorf("%s is no file", file)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(file, 0o600); err != nil {
			return h, err
		}
	}
	return h, h.load()
}

func (h *History) load() error {
	f, err := os.Open(h.file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines, n := bufio.NewScanner(f), 0
	lines.Buffer(nil, maxEntry*8)
	for lines.Scan() {
		var text string
		n++
		if json.Unmarshal(lines.Bytes(), &text) == nil {
			h.remember(text)
		}
	}
	if info, err := f.Stat(); n > 2*maxEntries || err == nil && info.Size() > maxFile {
		return h.shorten()
	}
	return nil // a damaged line is not worth an error: it ends what is read
}

// shorten writes the file anew with what is kept.
func (h *History) shorten() error {
	root, err := os.OpenRoot(filepath.Dir(h.file))
	if err != nil {
		return err
	}
	defer root.Close()
	var b bytes.Buffer
	for _, text := range h.entries {
		b.Write(encoded(text))
	}
	name := filepath.Base(h.file)
	return safefile.Replace(root, name, safefile.Temp(name), b.Bytes(), 0o600)
}

func encoded(text string) []byte {
	b, _ := json.Marshal(text) // a string always can be
	return append(b, '\n')
}

// Len is the number of texts.
func (h *History) Len() int {
	if h == nil {
		return 0
	}
	return len(h.entries)
}

// At is a text, the oldest at 0.
func (h *History) At(i int) string { return h.entries[i] }

// Add keeps a text: not in the file if it begins with a blank or looks as if it
// held a key, a token or a password.
func (h *History) Add(text string) error {
	if h == nil || strings.TrimSpace(text) == "" || len(text) > maxEntry {
		return nil
	}
	if n := len(h.entries); n > 0 && h.entries[n-1] == text {
		return nil
	}
	h.remember(text)
	if h.file == "" || text[0] == ' ' || Secret(text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(encoded(text))
	return errors.Join(err, f.Close())
}

func (h *History) remember(text string) {
	if n := len(h.entries); n > 0 && h.entries[n-1] == text {
		return
	}
	h.entries = append(h.entries, text)
	h.entries = h.entries[max(len(h.entries)-maxEntries, 0):]
}

// secrets are the forms of keys and tokens that vendors give out, and words that
// announce one.
var secrets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY` +
		`|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}` + // OpenAI, Anthropic, Stripe
		`|\b(?:gh[opsur]|github_pat|glpat|npm|hf|pypi|dop_v1|shpat|xox[abeprs])[-_][A-Za-z0-9_-]{16,}` +
		`|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}` +
		`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.` + // a JSON web token
		`|(?i:\bbearer\s+[A-Za-z0-9._~+/-]{12,}=*)` +
		`|(?i:\b[a-z0-9_-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key)["']?\s*(?:=|:|\bis\b)\s*["']?[^\s"']{6,})` +
		`|(?i:\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@)`) // a password in an address
})

// Secret reports that a text looks as if it held a key, a token or a password.
func Secret(text string) bool { return secrets().MatchString(text) }
