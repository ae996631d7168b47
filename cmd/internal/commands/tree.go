package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/search"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

type treeFlags struct {
	all, ignored, tokens, dirs, long bool
	depth                            int
}

func (a *app) treeOptions(f *treeFlags) options {
	return options{a.sharedOptions(), {
		toggle("-a --all -A --hidden", &f.all), toggle("--no-ignore", &f.ignored), toggle("--tokens", &f.tokens), toggle("-d", &f.dirs),
		toggle("-l", &f.long), number("-L --max-depth", &f.depth, 1), {names: "-1 -F -h -R", on: func() {}},
	}}
}

// node is a name in a tree.
type node struct {
	name         string
	kind         byte // as kindOf says
	size, tokens int
	note         string // why there are no tokens
	files        int
	below        []*node
}

func (a *app) tree(ctx context.Context) (int, error) { return a.treeOf(ctx, treeFlags{}) }

// ls is a tree of one level, in which all that git ignores is shown too.
func (a *app) ls(ctx context.Context) (int, error) { return a.treeOf(ctx, treeFlags{depth: 1}) }

func (a *app) treeOf(ctx context.Context, f treeFlags) (int, error) {
	words, err := a.treeOptions(&f).all(a.args)
	if err != nil {
		return 0, err
	}
	targets, err := a.targets(words)
	if err != nil {
		return 0, err
	}
	var tops []*node
	for _, t := range targets {
		top, err := a.nodes(ctx, t, &f)
		if err != nil {
			return 0, err
		}
		top.name = t.given
		tops = append(tops, top)
	}
	if a.command == "ls" {
		return a.showTree(tops, f, listing)
	}
	return a.showTree(tops, f, branches)
}

func (a *app) showTree(tops []*node, f treeFlags, draw func(*strings.Builder, *node, treeFlags, int)) (int, error) {
	all := func(most int) string {
		var b strings.Builder
		for _, top := range tops {
			if len(tops) > 1 && a.command == "ls" && top.kind == 'd' {
				b.WriteString(te.Quote(top.name) + ":\n")
			}
			draw(&b, top, f, most)
		}
		return b.String()
	}
	r := result{meta: te.Meta{Cmd: a.command}, text: all(1 << 30)}
	for _, top := range tops {
		r.meta.Files += top.files
	}
	if !a.fits(r.text, a.limit(0)) {
		r.envelope = func(m te.Meta, n int) string {
			m.Truncated = true
			room := n - len(m.String()) - 20
			for most := 400; ; most = most * 2 / 3 { // entries of each directory; what it leaves out it says there
				if text := all(most); len(text) <= room {
					return m.String() + text
				} else if most <= 1 {
					return te.Excerpt(m, text, nil, n)
				}
			}
		}
	}
	return a.show(r)
}

// nodes reads what stands below a target.
func (a *app) nodes(ctx context.Context, t *target, f *treeFlags) (*node, error) {
	top := &node{name: path.Base(t.name), kind: kindOf(t.info.Mode()), size: int(t.info.Size()), files: 1}
	if top.kind != 'd' {
		top.tokens, top.note = a.tokensOf(t, t.name, f)
		return top, nil
	}
	top.files, top.size = 0, 0
	if a.command == "ls" {
		if err := a.listed(t, f, top); err != nil {
			return nil, err
		}
		if !f.tokens && !f.long {
			top.total()
			return top, nil
		}
	}
	files, err := a.files(ctx, t, search.Options{Entries: true, All: f.all, Ignored: f.ignored})
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		n := top.add(strings.Split(t.below(file.Path), "/"), file)
		if file.Type.IsRegular() {
			n.tokens, n.note = a.tokensOf(t, file.Path, f)
		}
	}
	top.total()
	return top, nil
}

// listed adds the names in a directory, also those that git ignores.
func (a *app) listed(t *target, f *treeFlags, top *node) error {
	entries, err := fs.ReadDir(t.place.FS(), t.name)
	if err != nil {
		return cannot(cmp.Or(t.given, "."), err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' && !f.all {
			continue
		}
		n := &node{name: e.Name(), kind: kindOf(e.Type())}
		if info, err := e.Info(); err == nil && f.long && n.kind != 'd' {
			n.size = int(info.Size())
		}
		if n.kind != 'd' {
			n.files = 1
		}
		top.below = append(top.below, n)
	}
	return nil
}

// tokensOf estimates what a file costs to read, or says why it cannot be read.
func (a *app) tokensOf(t *target, name string, f *treeFlags) (n int, note string) {
	if !f.tokens {
		return 0, ""
	}
	src, err := search.Read(t.place.Root, name, handle.MaxSize)
	switch {
	case errors.Is(err, search.ErrBinary):
		return 0, "not text"
	case errors.Is(err, search.ErrTooLarge):
		return 0, fmt.Sprintf("larger than %d MB", handle.MaxSize>>20)
	case errors.Is(err, fs.ErrPermission):
		return 0, "permission denied"
	case err != nil:
		return 0, "cannot be read"
	}
	return utp.Tokens(src), ""
}

// add adds an entry, and a node for each directory above that has none.
func (n *node) add(names []string, e search.File) *node {
	below := n.child(names[0])
	if len(names) > 1 {
		below.kind = 'd'
		return below.add(names[1:], e)
	}
	below.kind, below.size = kindOf(e.Type), int(e.Size)
	if below.kind != 'd' {
		below.files = 1
	}
	return below
}

func (n *node) child(name string) *node {
	if i := len(n.below) - 1; i >= 0 && n.below[i].name == name { // files come in order
		return n.below[i]
	}
	for _, b := range n.below {
		if b.name == name {
			return b
		}
	}
	n.below = append(n.below, &node{name: name})
	return n.below[len(n.below)-1]
}

// total sorts what is below and counts it.
func (n *node) total() {
	slices.SortStableFunc(n.below, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for _, b := range n.below {
		b.total()
		n.files, n.size, n.tokens = n.files+b.files, n.size+b.size, n.tokens+b.tokens
	}
}

func (n *node) label(f treeFlags) string {
	s := te.Quote(n.name)
	switch {
	case n.kind == 'd' && !strings.HasSuffix(s, "/"):
		s += "/"
	case n.kind == 'l':
		s += "@"
	case n.kind == 'p':
		s += "|"
	}
	switch {
	case f.tokens && (n.note != "" || n.kind == 'l' || n.kind == 'p'):
		return strings.TrimRight(s+"  "+n.note, " ")
	case f.tokens:
		return fmt.Sprintf("%s  %d tokens", s, n.tokens)
	case f.long:
		return fmt.Sprintf("%10d  %s", n.size, s)
	}
	return s
}

// listing is one line for each entry.
func listing(b *strings.Builder, top *node, f treeFlags, most int) {
	if top.kind != 'd' {
		b.WriteString(top.label(f) + "\n")
		return
	}
	top.entries(b, f, "", most, 1)
}

// branches is a line for the top and, further in, one for each entry below.
func branches(b *strings.Builder, top *node, f treeFlags, most int) {
	if top.name == "" {
		top.name = "."
	}
	b.WriteString(top.label(f) + "\n")
	top.entries(b, f, "  ", most, 1)
}

func (n *node) entries(b *strings.Builder, f treeFlags, indent string, most, depth int) {
	if f.depth > 0 && depth > f.depth {
		return
	}
	shown := 0
	for i, e := range n.below {
		if f.dirs && e.kind != 'd' {
			continue
		}
		if shown++; shown > most {
			files := 0
			for _, rest := range n.below[i:] {
				files += rest.files
			}
			fmt.Fprintf(b, "%s# TE: %s more here, with %s\n", indent, plural(len(n.below)-i, "name"), plural(files, "file"))
			return
		}
		b.WriteString(indent + e.label(f) + "\n")
		e.entries(b, f, indent+"  ", most, depth+1)
	}
}
