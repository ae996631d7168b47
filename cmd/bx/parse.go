package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/envelope"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// parseFlags are the options of bx parse.
type parseFlags struct {
	grammar, model, tools, prefill, policy, input string
	chunk                                         int
	events, lines                                 bool
}

func (a *app) parseCommand() *cobra.Command {
	var p parseFlags
	cmd := &cobra.Command{
		Use: "parse [FILE|-]", Short: "Read the tool calls in a model's text or a provider's reply",
		Long: `Read a model's text, or a provider's reply, from FILE or standard input and print
what is in it as one JSON object: content, reasoning, tool_calls with their places
and repairs, and problems. docs/parse.md explains every key.

Nothing need be known of the model: every dialect is tried. Hints help where
dialects look alike: --tools most of all, then --model.`,
		Example: `  bx parse --tools tools.json reply.txt
  curl -s $URL/v1/chat/completions -d @request.json | bx parse
  bx parse --jsonl < replies.jsonl > calls.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.parse(cmd.Context(), args, p) },
	}
	f := cmd.Flags()
	f.StringVar(&p.grammar, "grammar", "auto", "read this dialect only: its `NAME` (bx grammar list), prefer:NAME to try it first, or the path of a file")
	f.StringVar(&p.model, "model", "", "try the dialects of this `MODEL` before others")
	f.StringVar(&p.tools, "tools", "", "the tools that were offered: a `FILE` with a JSON list in OpenAI's, Anthropic's or a plain style")
	f.StringVar(&p.prefill, "prefill", "", "how the prompt ended: `TEXT` such as \"<think>\"")
	f.StringVar(&p.policy, "policy", "", "what to do with doubtful calls, a `LIST` of unknown=keep|text|flag, malformed=keep|strip|error, repair=safe|off|aggressive, empty=keep|drop, shown=text|run, repeated=text|run")
	f.StringVar(&p.input, "input", "auto", "take the input for a `KIND`: text, reply, or auto (a reply if a provider's envelope is around it)")
	f.IntVar(&p.chunk, "chunk", 0, "feed the text in pieces of `N` bytes, as a stream would")
	f.BoolVar(&p.events, "events", false, "list the events of the stream too")
	f.BoolVar(&p.lines, "jsonl", false, `read {"id","input","tools","model","grammar","prefill"} a line, or pieces of texts, answer each with a line`)
	return cmd
}

func (a *app) parse(ctx context.Context, args []string, p parseFlags) error {
	o, err := a.readingOptions(p)
	if err != nil {
		return err
	}
	in, err := a.inputFile("parse", args)
	if err != nil {
		return err
	}
	defer in.Close()
	if p.lines {
		return a.parseLines(ctx, in, o)
	}
	text, err := readAll(ctx, in)
	if err != nil {
		return err
	}
	r, err := reading.Read(o, text)
	if err != nil {
		return fmt.Errorf("bx parse: %w", err)
	}
	return view.JSON(a.out, r)
}

func (a *app) readingOptions(p parseFlags) (o reading.Options, err error) {
	kind, err := reading.ParseInput(p.input)
	switch {
	case err != nil:
		return o, fail(exitUsage, "--input %w", err)
	case p.chunk < 0:
		return o, fail(exitUsage, "--chunk %d: want a number of bytes, 1 or more", p.chunk)
	}
	o = reading.Options{Prefill: p.prefill, Input: kind, Chunk: p.chunk, Events: p.events,
		Replies: func(tools []utp.Tool) reading.Replies { return envelope.New(tools) }}
	if o.Policy, err = reading.ParsePolicy(p.policy); err != nil {
		return o, fail(exitUsage, "--policy %w", err)
	}
	if o.Dialects, err = a.dialects(p.grammar); err != nil {
		return o, err
	}
	o.Dialects.Model = p.model
	o.Ops = lineOps(o.Dialects.Own)
	if p.tools != "" {
		o.Tools, err = a.toolsFile(p.tools)
	}
	return o, err
}

// own are the dialects of the user's configuration. That of the folder around has
// no say in them.
func (a *app) own() (config.Own, error) {
	c, err := config.Load(config.Places{User: dirs.User(), File: a.configFile(), Try: dialect.Try})
	if err != nil {
		return nil, err
	}
	return c.Own, nil
}

// dialects reads --grammar.
func (a *app) dialects(s string) (reading.Dialects, error) {
	own, err := a.own()
	if err != nil {
		return reading.Dialects{}, err
	}
	d, err := reading.ParseDialects(s, dialect.Try, own...)
	var unknown *reading.UnknownGrammar
	switch {
	case errors.As(err, &unknown):
		return d, fail(exitUsage, "--grammar %s: %w", s, err)
	case err != nil:
		return d, fmt.Errorf("--grammar: %w", err)
	}
	return d, nil
}

func (a *app) toolsFile(file string) ([]utp.Tool, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--tools: %w", err)
	}
	tools, err := reading.ParseTools(b)
	if err != nil {
		return nil, fmt.Errorf("--tools %s: %w", file, err)
	}
	for _, issue := range schema.Compile(tools).Broken() {
		fmt.Fprintf(a.err, "bx: --tools %s: %v\n", file, issue)
	}
	return tools, nil
}

// inputFile opens the one FILE of the command line; none and "-" are standard
// input.
func (a *app) inputFile(command string, args []string) (*os.File, error) {
	switch {
	case len(args) > 1:
		return nil, fail(exitUsage, "bx %s wants one FILE, not %d", command, len(args))
	case len(args) == 1 && args[0] != "-":
		return os.Open(args[0])
	}
	if isTerminal(a.in) {
		fmt.Fprintln(a.err, "reading standard input (Ctrl-D ends it)")
	}
	return a.in, nil
}

// readAll reads everything, or until ctx ends.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	done := make(chan error, 1)
	go func() {
		_, err := b.ReadFrom(r)
		done <- err
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case err := <-done:
		return b.Bytes(), err
	}
}

// garbage is how much the heap may grow between collections, in percent: what
// a line leaves behind is small, and collecting it is a tenth of the work.
const garbage = 400

func (a *app) parseLines(ctx context.Context, in io.Reader, o reading.Options) error {
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	t, err := reading.Lines(ctx, in, a.out, o)
	switch {
	case err != nil:
		return fmt.Errorf("bx parse: %w", err)
	case t.Bad > 0:
		return fmt.Errorf("bx parse: %d of %d lines could not be read; the first: %s", t.Bad, t.Lines, t.First)
	}
	return nil
}
