package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/translation"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// translateAPI is what --from or --to names.
func translateAPI(flag, name string) (translation.API, error) {
	api, ok := translation.Named(name)
	switch known := strings.Join(translation.Names(), ", "); {
	case ok:
		return api, nil
	case name == "":
		return api, fail(exitUsage, "--%s is missing: want one of %s", flag, known)
	default:
		return api, fail(exitUsage, "--%s %s: want one of %s", flag, name, known)
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

The APIs are ` + strings.Join(translation.Names(), ", ") + `.`,
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
	r := translation.Translation{From: from, To: to, Model: a.model}
	switch {
	case t.stream:
		r.Stream(text)
	case t.response:
		r.Response(text)
	default:
		r.Request(text)
	}
	if _, err := a.out.Write(r.Out); err != nil {
		return err
	}
	if t.explain {
		a.explainTranslation(translationReport{r.Path, r.Header, append([]translation.Loss{}, r.Losses...)})
	}
	if r.Err != nil {
		return fmt.Errorf("bx translate: %w", r.Err)
	}
	return nil
}

// translationReport is what --explain says.
type translationReport struct {
	Path   string             `json:"path,omitempty"`
	Header map[string]string  `json:"header,omitempty"`
	Losses []translation.Loss `json:"losses"`
}

func (a *app) explainTranslation(r translationReport) {
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
