package main

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/line"
	"github.com/unifiedtoolprotocol/utp/search"
)

// listTime is how long a key may wait for the names of files.
const listTime = 300 * time.Millisecond

// complete says what may stand at the end of a text: a command, what it takes, a
// file.
func (t *talk) complete(text string) line.Completion {
	if name, arg, ok := slashed(text); ok {
		if !strings.ContainsAny(text, " \n") {
			return startingWith(commandNames(), text, 0)
		}
		if c := commandOfName(name); c != nil && c.complete != nil {
			return startingWith(c.complete(t), arg, len(text)-len(arg))
		}
		return line.Completion{}
	}
	at := strings.LastIndexAny(text, " \t\n(") + 1
	if quoted := strings.LastIndex(text, `@"`); quoted >= 0 && strings.Count(text[quoted:], `"`) == 1 {
		at = quoted
	}
	if !strings.HasPrefix(text[at:], "@") {
		return line.Completion{}
	}
	return t.files(strings.Trim(text[at+1:], `"`), at)
}

// startingWith are the words that begin as what was typed.
func startingWith(words []string, typed string, from int) line.Completion {
	c := line.Completion{From: from}
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			c.Options = append(c.Options, w+" ")
		}
	}
	return c
}

// files completes a path below the root: by its folder, and where nothing there
// begins so, by any part of the paths of all files.
func (t *talk) files(typed string, from int) line.Completion {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return line.Completion{}
	}
	defer root.Close()
	names := inFolder(root, typed)
	if len(names) == 0 && typed != "" {
		ctx, stop := context.WithTimeout(context.Background(), listTime)
		defer stop()
		all, _ := search.List(ctx, root, search.Options{}) // what was found in time is enough
		for _, f := range all {
			if strings.Contains(strings.ToLower(f.Path), strings.ToLower(typed)) {
				names = append(names, f.Path)
			}
		}
	}
	c := line.Completion{From: from}
	for _, name := range names {
		c.Options = append(c.Options, mentioned(name))
		c.Shown = append(c.Shown, base(name))
	}
	if !strings.HasPrefix(commonStart(c.Options), "@"+typed) && len(c.Options) > 1 {
		c.Shown = names // found by a part: the whole path tells them apart
	}
	return c
}

// mentioned is a path as a question names it. A folder may go on.
func mentioned(name string) string {
	end := " "
	if strings.HasSuffix(name, "/") {
		end = ""
	}
	if strings.ContainsAny(name, " \t") {
		if end == "" {
			return `@"` + name
		}
		return `@"` + name + `"` + end
	}
	return "@" + name + end
}

// inFolder lists what begins as typed in its folder; hidden files where their dot
// was typed.
func inFolder(root *os.Root, typed string) (names []string) {
	dir, begin := path.Split(typed)
	f, err := root.Open(path.Clean("./" + dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, begin) || name == ".git" || strings.HasPrefix(name, ".") && !strings.HasPrefix(begin, ".") {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, dir+name)
	}
	slices.Sort(names)
	return names
}

func commonStart(words []string) string {
	if len(words) == 0 {
		return ""
	}
	head := words[0]
	for _, w := range words {
		for !strings.HasPrefix(w, head) {
			head = head[:len(head)-1]
		}
	}
	return head
}
