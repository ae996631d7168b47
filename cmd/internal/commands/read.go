package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// lineRange is some lines of a file, from 1. A to of 0 is the end.
type lineRange struct{ from, to int }

var (
	rangeSyntax = regexp.MustCompile(`^(\d+)(?:([-:,])(\d*))?$`)
	rangeAtEnd  = regexp.MustCompile(`:\d+(?:[-:,]\d*)?$`)
)

func parseRange(s string) (r lineRange, ok bool) {
	m := rangeSyntax.FindStringSubmatch(s)
	if m == nil {
		return r, false
	}
	from, err := strconv.Atoi(m[1])
	if err != nil || from < 1 {
		return r, false
	}
	r = lineRange{from, from}
	if m[2] != "" {
		r.to = 0
	}
	if m[3] != "" {
		if r.to, err = strconv.Atoi(m[3]); err != nil || r.to < from {
			return r, false
		}
	}
	return r, true
}

type readFlags struct {
	lines  lineRange
	number bool
	head   int
}

func (a *app) read(ctx context.Context) (int, error) {
	var f readFlags
	words, err := options{a.sharedOptions(), {
		toggle("-n --number", &f.number), number("--head", &f.head, 1),
		{names: "--lines", value: func(s string) (err error) {
			var ok bool
			if f.lines, ok = parseRange(s); !ok {
				err = wanted("want lines such as 10-40, 10- or 10")
			}
			return err
		}},
	}}.all(a.args)
	if err != nil {
		return 0, err
	}
	if len(words) == 0 {
		return 0, usage("te %s wants a file: te %s FILE[:FROM[-TO]]", a.command, a.command)
	}
	if f.head > 0 {
		f.lines = lineRange{1, f.head}
	}
	return a.readFiles(ctx, words, f)
}

func (a *app) readFiles(ctx context.Context, names []string, f readFlags) (int, error) {
	r := result{meta: te.Meta{Cmd: a.command}, most: int(a.table.Cat.MaxOutputChars)}
	var all strings.Builder
	for _, name := range names {
		text, of, err := a.readFile(ctx, name, f)
		if err != nil {
			return 0, err
		}
		all.WriteString(text)
		if len(names) == 1 && of == (lineRange{}) {
			r.envelope = a.outline(name, text)
		}
	}
	r.text = all.String()
	if len(names) == 1 {
		r.meta.ContentType = te.ContentType(rangeAtEnd.ReplaceAllString(names[0], ""), "")
	}
	if r.envelope != nil && a.fits(r.text, a.limit(r.most)) || !a.table.Cat.Enabled {
		r.envelope = nil
	}
	return a.show(r)
}

// readFile reads what an argument names: FILE, or FILE:FROM-TO where there is
// no file of that name.
func (a *app) readFile(ctx context.Context, given string, f readFlags) (text string, of lineRange, err error) {
	of = f.lines
	t, err := a.toRead(given)
	if f := (*failure)(nil); errors.As(err, &f) {
		at := strings.LastIndexByte(given, ':')
		if at < 0 {
			return "", of, err
		}
		r, ok := parseRange(given[at+1:])
		if !ok {
			return "", of, err
		}
		of = r
		t, err = a.toRead(given[:at])
	}
	if err != nil {
		return "", of, err
	}
	if t.info.IsDir() {
		return "", of, fail("not_found", exitNone, "%s is a directory", given)
	}
	if of == (lineRange{}) && !f.number {
		src, err := search.Read(t.place.Root, t.name, handle.MaxSize)
		if err != nil {
			return "", of, readError(given, err)
		}
		return string(src), of, nil
	}
	text, err = someLines(ctx, t, max(of.from, 1), of.to, f.number)
	if errors.Is(err, search.ErrTooLarge) {
		return "", of, fail("not_found", exitNone, "these lines of %s are longer than %d MB", t.given, handle.MaxSize>>20)
	}
	return text, of, readError(given, err)
}

func readError(given string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, search.ErrBinary):
		return fail("not_found", exitNone, "%s is not text", given)
	case errors.Is(err, search.ErrTooLarge):
		return fail("not_found", exitNone, "%s is larger than %d MB: name lines, as %s:1-200", given, handle.MaxSize>>20, given)
	}
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return cannot(given, err)
}

// someLines reads lines of a file of any length, with their numbers if asked.
func someLines(ctx context.Context, t *target, from, to int, numbered bool) (string, error) {
	f, _, err := search.Open(t.place.Root, t.name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, 64<<10)
	if head, err := b.Peek(8000); search.Binary(head) {
		return "", search.ErrBinary
	} else if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	var out strings.Builder
	n, open := 0, false // lines that have begun, the last of which goes on
	for end := false; !end && (to == 0 || n < to || open); {
		part, err := b.ReadSlice('\n')
		if len(part) > 0 && !open {
			if n++; numbered && n >= from {
				fmt.Fprintf(&out, "%6d\t", n)
			}
		}
		if n >= from {
			out.Write(part)
		}
		open, end = errors.Is(err, bufio.ErrBufferFull), errors.Is(err, io.EOF)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil && !open && !end:
			return "", err
		case out.Len() > handle.MaxSize:
			return "", search.ErrTooLarge
		}
	}
	if from > n && n > 0 {
		return "", fail("not_found", exitNone, "line %d is beyond the end: %s has %s", from, t.given, plural(n, "line"))
	}
	return out.String(), nil
}

// outline shows the beginning of a program that is too long and, of the rest,
// the lines that define something. It is nil for a file that defines nothing.
func (a *app) outline(name, text string) func(te.Meta, int) string {
	if search.KindOf(name) != search.Code {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var defined []te.Line
	for i, l := range lines {
		if _, ok := search.Definition(l); ok {
			defined = append(defined, te.Line{N: i + 1, Text: l})
		}
	}
	if len(defined) == 0 {
		return nil
	}
	head := int(a.table.Cat.PreviewLines)
	return func(m te.Meta, n int) string {
		m.Lines, m.Size = len(lines), int64(len(text))
		return te.Outline(m, lines[:min(head, len(lines))], defined, n)
	}
}

// repo is te repo read --root R --path P.
func (a *app) repo(ctx context.Context) (int, error) {
	if len(a.args) == 0 || a.args[0] != "read" {
		return 0, usage("te repo wants: te repo read --root R --path P")
	}
	var dir, path string
	words, err := options{{text("--path", &path), text("--root", &dir)}, a.sharedOptions()}.all(a.args[1:])
	if err != nil {
		return 0, err
	}
	if len(words) > 0 || path == "" || dir == "" && a.dir == "" {
		return 0, usage("te repo read wants --root R and --path P")
	}
	a.table.Workspace.AllowOutsideRoot = false
	if dir != "" {
		root, err := openPlace(a.wd, dir, "")
		if err != nil {
			return 0, err
		}
		defer root.Close()
		a.root = root
	}
	a.wd = a.root.real
	return a.readFiles(ctx, []string{path}, readFlags{})
}

// rag is te rag query --q QUESTION [--k N].
func (a *app) rag(ctx context.Context) (int, error) {
	if len(a.args) == 0 || !slices.Contains([]string{"query", "search"}, a.args[0]) {
		return 0, usage("te rag wants: te rag query --q QUESTION [--k N]")
	}
	question, k := "", 0
	words, err := options{a.sharedOptions(), {text("--q --query", &question), number("--k --limit", &k, 1)}}.all(a.args[1:])
	if err != nil {
		return 0, err
	}
	if question == "" {
		question = strings.Join(words, " ")
	}
	if strings.TrimSpace(question) == "" {
		return 0, usage("te rag query wants --q QUESTION")
	}
	if a.budget > 0 {
		return 0, usage("te rag query has no --budget: --k N says how many places")
	}
	args := []string{"rag", "query", "--root", a.root.real}
	if k > 0 {
		args = append(args, "--limit", strconv.Itoa(k))
	}
	var out output
	code, err := a.bx(ctx, stream{&out, false}, append(args, "--", question)...)
	if code != exitOK && len(out.text) == 0 && err == nil {
		err = fail("internal", code, "bx rag query ended with exit code %d", code)
	}
	if err != nil {
		return code, err
	}
	a.print(string(out.text))
	return code, nil
}
