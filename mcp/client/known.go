package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

// listed is a tool as its server describes it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// digest is equal for tools that say the same of themselves.
func (l listed) digest() string {
	b, err := json.Marshal([]any{l.Name, l.Description, l.Schema})
	if err != nil {
		return digest([]byte(l.Name + "\x00" + l.Description + "\x00" + string(l.Schema)))
	}
	return digest(b)
}

// known is what is remembered of a server.
type known struct {
	ID      string            `json:"id"`
	At      time.Time         `json:"at,omitzero"` // when it listed its tools
	Tools   []listed          `json:"tools,omitempty"`
	Allowed map[string]string `json:"allowed,omitempty"` // digests of the tools that ran, by name
}

// book is a folder with a file for each server.
type book struct{ dir string }

func (b book) file(s Server) string { return s.Name + "-" + s.ID()[:12] + ".json" }

// read is what is known of a server; nothing where there is no such file.
func (b book) read(s Server) (k known, err error) {
	empty := known{ID: s.ID()}
	if b.dir == "" {
		return empty, nil
	}
	text, err := os.ReadFile(filepath.Join(b.dir, b.file(s)))
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil || k.ID != empty.ID {
		return empty, err
	}
	return k, nil
}

// write keeps what is known of a server, for the user alone.
func (b book) write(s Server, k known) error {
	if b.dir == "" {
		return nil
	}
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return b.put(b.file(s), text)
}

func (b book) put(name string, text []byte) error {
	err := os.MkdirAll(b.dir, 0o700)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := safefile.Replace(root, name, safefile.Temp(name), text, 0o600); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(b.dir, name), err)
	}
	return nil
}

// Forget removes what is known of the servers of a name: their tools, what was
// allowed, and logins.
func Forget(dir, name string) error {
	files, err := filepath.Glob(filepath.Join(dir, name+"-*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if rest := filepath.Base(file)[len(name)+1:]; len(rest) == 12+len(".json") {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}
