package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

// apiNames lists the APIs that --from and --to take.
func apiNames() string {
	var names []string
	for _, a := range translate.APIs() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// translateAPI is what --from or --to names.
func translateAPI(flag, name string) (translate.API, error) {
	switch api := translate.API(name); {
	case slices.Contains(translate.APIs(), api):
		return api, nil
	case name == "":
		return "", fail(exitUsage, "--%s is missing: want one of %s", flag, apiNames())
	default:
		return "", fail(exitUsage, "--%s %s: want one of %s", flag, name, apiNames())
	}
}

// translateFlags are the options of bx translate.
type translateFlags struct {
	from, to                           string
	request, response, stream, explain bool
}

func (a *app) translateCommand() *cobra.Command {
	var t translateFlags
	cmd := &cobra.Command{
		Use: "translate --from API --to API [FILE|-]", Short: "Rewrite a request, a reply or a stream of one provider's API for another",
		Long: `Read a request, or with --response or --stream a reply, as one provider's API has
it, and print it as another's has it. With --explain, standard error says what the
other API cannot say. docs/translate.md has examples.

The APIs are ` + apiNames() + `.`,
		Example: `  bx translate --from anthropic --to openai --explain request.json
  curl -sN $OLLAMA/api/chat -d @request.json | bx translate --from ollama --to anthropic --stream`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.translate(cmd.Context(), args, t) },
	}
	f := cmd.Flags()
	f.StringVar(&t.from, "from", "", "the `API` that the input is written for")
	f.StringVar(&t.to, "to", "", "the `API` that the output is written for")
	f.BoolVar(&t.request, "request", false, "the input is a request (default)")
	f.BoolVar(&t.response, "response", false, "the input is a whole reply")
	f.BoolVar(&t.stream, "stream", false, "the input is a streamed reply")
	f.BoolVar(&t.explain, "explain", false, "say on standard error where a request goes and what is lost; with --json as JSON")
	return cmd
}

func (a *app) translate(ctx context.Context, args []string, t translateFlags) error {
	if t.request && t.response || t.request && t.stream || t.response && t.stream {
		return fail(exitUsage, "--request, --response and --stream exclude each other")
	}
	from, err := translateAPI("from", t.from)
	if err != nil {
		return err
	}
	to, err := translateAPI("to", t.to)
	if err != nil {
		return err
	}
	in, err := a.inputFile("translate", args)
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := readAll(ctx, in)
	if err != nil {
		return err
	}
	r := translated{Losses: []translate.Loss{}}
	p := translate.Pair{From: from, To: to, Model: a.model}
	switch {
	case t.stream:
		err = r.stream(p, text)
	case t.response:
		err = r.reply(p, text)
	default:
		err = r.request(p, text)
	}
	if _, err := a.out.Write(r.out); err != nil {
		return err
	}
	if t.explain {
		a.explainTranslation(r)
	}
	if err != nil {
		return fmt.Errorf("bx translate: %w", err)
	}
	return nil
}

// translated is a text for another API. Its JSON is what --explain says of it.
type translated struct {
	out    []byte
	Path   string            `json:"path,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Losses []translate.Loss  `json:"losses"`
}

// request translates a client's request.
func (r *translated) request(p translate.Pair, text []byte) error {
	x, err := p.Request(text)
	if err != nil {
		return err
	}
	r.out, r.Path, r.Header, r.Losses = indented(x.Body), x.Path, x.Header, append(r.Losses, x.Losses...)
	return nil
}

// reply translates a whole reply.
func (r *translated) reply(p translate.Pair, text []byte) error {
	answer, err := p.Answer()
	if err != nil {
		return err
	}
	out, losses, err := answer.Reply(text)
	if err != nil {
		return err
	}
	r.out, r.Losses = indented(out), append(r.Losses, losses...)
	return nil
}

// stream translates a streamed reply. It keeps what was translated of a stream that broke.
func (r *translated) stream(p translate.Pair, text []byte) error {
	answer, err := p.Answer()
	if err != nil {
		return err
	}
	s := answer.Stream()
	r.out = s.Feed(text)
	end, err := s.Close()
	r.out = append(r.out, end...)
	if err != nil {
		return err
	}
	losses, err := s.Losses()
	r.Losses = append(r.Losses, losses...)
	return err
}

func indented(body []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return body
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func (a *app) explainTranslation(r translated) {
	if a.json {
		_ = view.JSON(a.err, r) // what cannot be told on standard error cannot be told
		return
	}
	if r.Path != "" {
		fmt.Fprintf(a.err, "POST %s\n", r.Path)
	}
	for _, l := range r.Losses {
		fmt.Fprintf(a.err, "%s: %s: %s\n", l.Path, l.What, l.Why)
	}
}
