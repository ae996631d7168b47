package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/rule"
	"github.com/unifiedtoolprotocol/utp/tool"
)

// historyFile is where what was typed in this repository is kept; "" is nowhere.
func (t *talk) historyFile() string {
	dir, err := t.app.dataDir(t.set.Session.Storage)
	if err != nil || t.app.noSession {
		return ""
	}
	sum := sha256.Sum256([]byte(t.root))
	return filepath.Join(dir, "history", fmt.Sprintf("%x", sum[:8]))
}

// inEditor has a text edited in the user's editor.
func (t *talk) inEditor(text string) (string, error) {
	words := strings.Fields(cmp.Or(t.app.env("VISUAL"), t.app.env("EDITOR"), "vi"))
	f, err := os.CreateTemp("", "bx-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := exec.Command(words[0], append(words[1:], f.Name())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.app.in, t.app.out, t.app.err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w (EDITOR names your editor)", words[0], err)
	}
	b, err := os.ReadFile(f.Name())
	return string(b), err
}

// attachment is what goes along with a question beside the words that were typed.
type attachment struct {
	text     string
	pictures []utp.Part
}

// mention is a file in a question: @docs/cli.md, @"a name.txt", @main.go:10-20.
var mention = regexp.MustCompile(`(^|[\s(])@(?:"([^"\n]+)"|([^\s"]+))`)

// lineRange is the end of a mention that names lines.
var lineRange = regexp.MustCompile(`^(.+?):(\d{1,7})(?:-(\d{1,7}))?$`)

// attached is what the user's commands printed and the files that a question
// names, each once.
func (t *talk) attached(ctx context.Context, typed string) (out attachment, err error) {
	texts := append([]string{}, t.ran...)
	seen := map[string]bool{}
	for _, m := range mention.FindAllStringSubmatch(typed, -1) {
		name := m[2]
		if name == "" {
			name = t.trimmed(m[3])
		}
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		r, told := t.readMentioned(ctx, name)
		if r == nil {
			if told != "" {
				t.view.Line(view.Normal, "%s", told)
			}
			continue
		}
		if r.Status != utp.StatusOK {
			return out, fmt.Errorf("@%s: %s (the question was not sent)", cells.Clean(name), cells.Clean(reason(*r)))
		}
		for _, p := range r.Parts {
			if _, text := p.(utp.Text); !text {
				out.pictures = append(out.pictures, p)
			}
		}
		texts = append(texts, "[@"+name+"]\n"+r.Text())
		t.view.Line(view.Normal, "%s", told)
	}
	out.text = strings.Join(texts, "\n\n")
	return out, nil
}

// reason is what a failed result says.
func reason(r utp.Result) string {
	var told struct{ Error string }
	if json.Unmarshal([]byte(r.Text()), &told) == nil && told.Error != "" {
		return told.Error
	}
	return r.Text()
}

// trimmed takes the end of a sentence off a name, where there is no such file.
func (t *talk) trimmed(name string) string {
	for name != "" {
		if _, err := t.stat(name); err == nil {
			return name
		}
		cut := strings.TrimRight(name, ".,;:!?)'")
		if cut == name {
			return name
		}
		name = cut
	}
	return name
}

// stat finds a mentioned file below the root.
func (t *talk) stat(name string) (os.FileInfo, error) {
	if m := lineRange.FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(filepath.FromSlash(cmp.Or(strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/"), ".")))
}

// readMentioned reads a file, some of its lines, or lists a folder, by the same
// tools and rules as the model does. told says what goes along; without a result
// it says why nothing does, if that matters.
func (t *talk) readMentioned(ctx context.Context, name string) (r *utp.Result, told string) {
	info, err := t.stat(name)
	if err != nil {
		if strings.ContainsAny(name, "./\\") {
			return nil, fmt.Sprintf("@%s names no file here: it goes along as words", cells.Clean(name))
		}
		return nil, "" // a word such as @property
	}
	args := map[string]any{"path": name, "max_lines": 100_000}
	if m := lineRange.FindStringSubmatch(name); m != nil {
		from, _ := strconv.Atoi(m[2])
		to := from
		if m[3] != "" {
			to, _ = strconv.Atoi(m[3])
		}
		args = map[string]any{"path": m[1], "start_line": from, "max_lines": max(to-from+1, 1)}
	}
	c := utp.Call{ID: "mention", Name: "read_file"}
	if info.IsDir() {
		c.Name, args = "list_dir", map[string]any{"path": name}
	}
	c.Args, _ = json.Marshal(args)
	v, why := t.verdict(c), t.job.tools.Sensitive(c)
	switch {
	case v.Decision == rule.Deny:
		return nil, fmt.Sprintf("%s is not sent: a rule forbids it (%s)", cells.Clean(name), v.Why)
	case v.Decision == rule.Ask && why == "":
		why = "a rule asks about it (" + v.Why + ")"
	}
	if why != "" {
		key, ok := t.app.choose(ctx, fmt.Sprintf("%s: %s. Send it to the model?", cells.Clean(name), why), "y/n")
		if !ok || key != 'y' {
			return nil, fmt.Sprintf("%s was not sent", cells.Clean(name))
		}
		ctx = tool.Approve(ctx)
	}
	got := t.job.tools.Run(ctx, c)
	return &got, fmt.Sprintf("@%s goes along: %s", cells.Clean(name), amount(got))
}

// amount says how much of a file goes along, and whether it was cut.
func amount(r utp.Result) string {
	text := r.Text()
	for _, p := range r.Parts {
		if _, ok := p.(utp.Text); !ok {
			return "a picture"
		}
	}
	head, _, _ := strings.Cut(text, "\n")
	said := view.Size(text)
	if _, lines, ok := strings.Cut(head, ": lines "); ok {
		said = "lines " + lines
	}
	if strings.Contains(text, "\n[...truncated, ") {
		said += ", the rest does not fit: name the lines you want, as @FILE:200-400"
	}
	return said
}

// maxShown is how much of what a command prints the model gets, of its beginning
// and of its end.
const maxShown = 8 << 10

// shellLine runs a command of the user's, as the user. "!!" keeps it from the model.
func (t *talk) shellLine(ctx context.Context, command string) error {
	command, secret := strings.CutPrefix(command, "!")
	if command = strings.TrimSpace(command); command == "" {
		return errors.New("! wants a command: !git status; !!COMMAND keeps what it prints from the model")
	}
	if t.terminal != nil {
		defer t.terminal.Lend()()
	}
	kept := &ends{}
	cmd := exec.CommandContext(ctx, cmp.Or(t.app.env("SHELL"), "/bin/sh"), "-c", command)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", "/c", command)
	}
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.root, io.MultiWriter(t.app.out, kept), io.MultiWriter(t.app.err, kept)
	if isTerminal(t.app.in) {
		cmd.Stdin = t.app.in
	}
	err := cmd.Run()
	ended := "exit code 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		ended = exit.String()
		ended = strings.Replace(ended, "exit status", "exit code", 1)
	case err != nil:
		return fmt.Errorf("%s: %w", command, err)
	}
	if n := len(kept.tail); n > 0 && kept.tail[n-1] != '\n' || n == 0 && len(kept.head) > 0 && kept.head[len(kept.head)-1] != '\n' {
		fmt.Fprintln(t.app.out)
	}
	if bytes.ContainsRune(kept.head, 0x1b) || bytes.ContainsRune(kept.tail, 0x1b) {
		io.WriteString(t.app.out, "\x1b[0m") // colours end with the command
	}
	if secret {
		t.view.Line(view.Normal, "%s; the model sees nothing of it", ended)
		return nil
	}
	text := kept.String()
	t.ran = append(t.ran, fmt.Sprintf("[The user ran: %s]\n%s\n%s", command, text, ended))
	cut := ""
	if kept.left > 0 {
		cut = ", its middle is left out"
	}
	t.view.Line(view.Normal, "%s; the model sees it with your next question (%s%s)", ended, view.Size(text), cut)
	return nil
}

// ends keeps the beginning and the end of what is written.
type ends struct {
	head, tail []byte
	left       int // bytes between them
}

func (e *ends) Write(b []byte) (int, error) {
	n := min(len(b), maxShown-len(e.head))
	e.head = append(e.head, b[:n]...)
	e.tail = append(e.tail, b[n:]...)
	if over := len(e.tail) - maxShown; over > 0 {
		e.tail, e.left = bytes.Clone(e.tail[over:]), e.left+over
	}
	return len(b), nil
}

// sequence is what drives a terminal: colours, titles, moves.
var sequence = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\a\x1b]*(?:\a|\x1b\\\\)?|\x1b[ -/]*[0-~]")

// String is what was kept, without escape sequences.
func (e *ends) String() string {
	text := string(e.head) + string(e.tail)
	if e.left > 0 {
		text = fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", e.head, e.left, e.tail)
	}
	text = sequence.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	return strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// base is the last name of a path, for a list; that of a folder keeps its slash.
func base(p string) string {
	if strings.HasSuffix(p, "/") {
		return path.Base(p) + "/"
	}
	return path.Base(p)
}
