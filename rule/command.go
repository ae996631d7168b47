package rule

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Script is a command line of simple commands, whose words are literal, joined
// by &&, ||, | and ;.
type Script struct{ steps []step }

// step is a command with what joins it to the one before.
type step struct {
	join      string // "" of the first
	words     []string
	redirects string // to nothing, or of errors to the output
}

// Parse reads a command line. The error says what about it is not simple.
func Parse(text string) (*Script, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	s := &Script{}
	for _, stmt := range file.Stmts {
		if err := s.add("; ", stmt); err != nil {
			return nil, err
		}
	}
	if len(s.steps) == 0 {
		return nil, errors.New("it is empty")
	}
	s.steps[0].join = ""
	return s, nil
}

// Commands lists the words of each command.
func (s *Script) Commands() (out [][]string) {
	for _, one := range s.steps {
		out = append(out, one.words)
	}
	return out
}

// any reports whether one of the commands begins with some words.
func (s *Script) any(rule []string) bool {
	return s != nil && slices.ContainsFunc(s.steps, func(one step) bool { return begins(rule, one.words) })
}

// opaque reports a command that may be another than its first words say.
func (s *Script) opaque() bool {
	return slices.ContainsFunc(s.steps, func(one step) bool {
		return runsOthers(one.words[0]) || hidden(one.words)
	})
}

func (s *Script) add(join string, stmt *syntax.Stmt) error {
	switch {
	case stmt.Background || stmt.Disown || stmt.Coprocess:
		return errors.New("it leaves a command running (&)")
	case stmt.Negated:
		return errors.New("it has a ! before a command")
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return s.addPair(join, cmd, stmt.Redirs)
	case *syntax.CallExpr:
		return s.addCall(join, cmd, stmt.Redirs)
	}
	return errors.New("it is more than simple commands with &&, ||, | and ;")
}

func (s *Script) addPair(join string, cmd *syntax.BinaryCmd, redirects []*syntax.Redirect) error {
	if cmd.Op == syntax.PipeAll || len(redirects) > 0 {
		return errors.New("it redirects more than one command")
	}
	if err := s.add(join, cmd.X); err != nil {
		return err
	}
	return s.add(" "+cmd.Op.String()+" ", cmd.Y)
}

func (s *Script) addCall(join string, call *syntax.CallExpr, redirects []*syntax.Redirect) error {
	if len(call.Assigns) > 0 || len(call.Args) == 0 {
		return errors.New("it sets a variable")
	}
	one := step{join: join}
	for _, w := range call.Args {
		text, err := literal(w)
		if err != nil {
			return err
		}
		one.words = append(one.words, text)
	}
	if name := one.words[0]; name == "" || strings.ContainsAny(name, "/\\") {
		return errors.New("it names a program by a path")
	}
	for _, r := range redirects {
		text, err := harmless(r)
		if err != nil {
			return err
		}
		one.redirects += " " + text
	}
	s.steps = append(s.steps, one)
	return nil
}

// harmless writes a redirection that changes no file.
func harmless(r *syntax.Redirect) (string, error) {
	text := r.Op.String()
	if r.N != nil {
		text = r.N.Value + text
	}
	if r.Word != nil {
		to, err := literal(r.Word)
		if err != nil {
			return "", err
		}
		text += to
	}
	if !slices.Contains([]string{"2>&1", ">/dev/null", "1>/dev/null", "2>/dev/null", "</dev/null"}, text) {
		return "", errors.New("it redirects to or from a file")
	}
	return text, nil
}

// literal is a word that the shell takes as it stands, quotes and backslashes aside.
func literal(w *syntax.Word) (string, error) {
	var b strings.Builder
	for i, part := range w.Parts {
		text, err := literalPart(part, i == 0)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

var errExpands = errors.New("it has words that the shell expands")

func literalPart(part syntax.WordPart, first bool) (string, error) {
	switch part := part.(type) {
	case *syntax.Lit:
		return unquoted(part.Value, first)
	case *syntax.SglQuoted:
		if part.Dollar {
			return "", errExpands
		}
		return part.Value, nil
	case *syntax.DblQuoted:
		if part.Dollar {
			return "", errExpands
		}
		return doubleQuoted(part)
	}
	return "", errExpands
}

// unquoted is a piece of a word without quotes.
func unquoted(s string, first bool) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case strings.IndexByte("*?[]{}$`\\", c) >= 0, c == '~' && (first && i == 0 || i > 0 && strings.IndexByte("=:", s[i-1]) >= 0):
			return "", errExpands
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

func doubleQuoted(q *syntax.DblQuoted) (string, error) {
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", errExpands
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				if i++; s[i] == '\n' {
					continue
				}
			}
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// Text writes the script anew, every word quoted and every program by the path
// that find gives, so that no shell can read it otherwise.
func (s *Script) Text(find func(program string) (string, error)) (string, error) {
	var b strings.Builder
	for _, one := range s.steps {
		b.WriteString(one.join)
		words := slices.Clone(one.words)
		if changesFolder(words) {
			b.WriteString("cd -- " + quote(words[1]) + one.redirects)
			continue
		}
		at, err := find(words[0])
		if err != nil {
			return "", err
		}
		if !path.IsAbs(at) {
			return "", fmt.Errorf("%s: want an absolute path", at)
		}
		words[0] = at
		for i, w := range careful(one.words[0], words) {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quote(w))
		}
		b.WriteString(one.redirects)
	}
	return b.String(), nil
}

// careful adds to what only looks at a repository that git starts no program which
// that repository names.
func careful(program string, words []string) []string {
	if program != "git" || len(words) < 2 {
		return words
	}
	switch words[1] {
	case "diff", "log", "show":
		words = slices.Insert(words, 2, "--no-ext-diff", "--no-textconv")
	case "status", "blame", "grep":
	default:
		return words
	}
	return slices.Insert(words, 1, "-c", "core.fsmonitor=false")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// changesFolder reports a cd to a folder that it names.
func changesFolder(words []string) bool {
	return len(words) == 2 && words[0] == "cd" && words[1] != "" && words[1][0] != '-'
}

// outside is the first word of a command that may name a file outside of a root.
func outside(words []string, root string) string {
	for _, w := range words[1:] {
		for _, p := range append(strings.FieldsFunc(w, func(r rune) bool { return r == '=' || r == ':' || r == ',' }), w) {
			if p == "/dev/null" {
				continue
			}
			if strings.HasPrefix(p, "-") {
				if i := strings.IndexByte(p, '/'); i > 0 {
					p = p[i:] // a path that is written onto its option: -f/etc/x
				}
			}
			p = filepath.ToSlash(p)
			switch {
			case slices.Contains(strings.Split(p, "/"), ".."), strings.HasPrefix(p, "~"):
				return w
			case path.IsAbs(p) && (root == "" || p != root && !strings.HasPrefix(path.Clean(p)+"/", root+"/")):
				return w
			}
		}
	}
	return ""
}
