package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store/handle"
)

//go:embed te.md
var teText string

var runTe = builtin{
	Tool: utp.Tool{
		Name: "te", Tier: utp.TierWalk, Description: teText,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"The command","enum":["grep","find","read","ls","tree","diff","log","status","json"]},` +
			`"args":{"type":"array","items":{"type":"string"},"description":"Its flags and words, one each, as [\"-w\",\"Definition\",\"search\"]"}},` +
			`"required":["command"]}`),
	},
	run: with((*Set).te), sensitive: sensitiveWords, paths: namedWords,
}

// Command is a call of one of te's commands that read.
type Command struct {
	Root    string // the directory to which it is held
	Name    string
	Args    []string
	Results *handle.Store           // for what is cut
	May     func(name string) error // refuses to show a file, by its path below the root without links
}

// Denied is the error of a call that a rule forbids.
func Denied(text string) error { return denied(text) }

type teArgs struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (s *Set) te(ctx context.Context, a teArgs) (string, error) {
	if a.Command == "" {
		return "", missing("command")
	}
	return s.config.Te(ctx, Command{Root: s.real, Name: a.Command, Args: a.Args, Results: s.results, May: func(name string) error {
		_, err := s.toRead(ctx, name)
		return err
	}})
}

// sensitiveWords is the word for a call whose words may name a file that asks.
func sensitiveWords(s *Set, args json.RawMessage) string {
	for _, w := range namedWords(args) {
		if at, err := s.find(w); err == nil && readingAsks(at) != "" {
			return readingAsks(at)
		}
	}
	return ""
}

// lines are what follows a file's name in a word: FILE:10-40.
var lines = regexp.MustCompile(`:\d+(?:[-:,]\d*)?$`)

// namedWords are the words that may be paths.
func namedWords(args json.RawMessage) (out []string) {
	a, err := arguments[teArgs](args)
	if err != nil {
		return nil
	}
	for _, w := range a.Args {
		if w != "" && !strings.HasPrefix(w, "-") {
			out = append(out, w)
		}
		if bare := lines.ReplaceAllString(w, ""); bare != w && bare != "" {
			out = append(out, bare)
		}
	}
	return slices.Clip(out)
}
