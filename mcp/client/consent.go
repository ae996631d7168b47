package client

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Consents are what the user said of the servers that repositories name.
type Consents struct{ Dir string }

// Answer is what the user said.
type Answer string

const (
	Silence Answer = ""
	Yes     Answer = "yes"
	No      Answer = "no"
)

const consentFile = "consents.json"

// key stands for a server as a repository names it: whatever of it changes makes
// another one.
func key(root string, s Server) string { return digest([]byte(root + "\x00" + s.ID())) }

func (c Consents) all() (map[string]Answer, error) {
	out := map[string]Answer{}
	b, err := os.ReadFile(filepath.Join(c.Dir, consentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(b, &out)
}

// Said is what the user said of a server of the repository at root.
func (c Consents) Said(root string, s Server) (Answer, error) {
	all, err := c.all()
	return all[key(root, s)], err
}

// Say keeps an answer.
func (c Consents) Say(root string, s Server, yes bool) error {
	all, err := c.all()
	if err != nil {
		return err
	}
	all[key(root, s)] = No
	if yes {
		all[key(root, s)] = Yes
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return book{c.Dir}.put(consentFile, b)
}
