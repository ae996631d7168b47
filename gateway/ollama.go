package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

var ollamaDoor = &door{api: ollamaAPI, front: ollama.Front{}, forgets: true, framing: ollamaFraming, pinging: emptyChunk}

func ollamaFraming(*utp.Request) (wire.Framing, string) { return wire.NDJSON, "application/x-ndjson" }

// ollamaVersion is the version of the Ollama whose API is served. Clients refuse older
// servers: GitHub Copilot in VS Code wants 0.6.4.
const ollamaVersion = "0.17.4"

// emptyChunk returns a heartbeat. Ollama's clients read every line as a piece of the
// reply and fail on an empty line.
func emptyChunk(x *exchange) []byte {
	if strings.HasSuffix(x.r.URL.Path, "/generate") {
		return fmt.Appendf(nil, `{"model":%q,"created_at":%q,"response":"","done":false}`+"\n", x.request.Model, stampTime(x.began))
	}
	return fmt.Appendf(nil, `{"model":%q,"created_at":%q,"message":{"role":"assistant","content":""},"done":false}`+"\n", x.request.Model, stampTime(x.began))
}

func stampTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ollamaPaths registers the paths of Ollama's own API.
func (g *Gateway) ollamaPaths() {
	front := ollama.Front{}
	g.handle("POST /api/chat", ollamaDoor, opChat, (*exchange).chat)
	g.handle("POST /api/generate", ollamaDoor, opChat, (*exchange).chat)
	g.handle("POST /api/embed", ollamaDoor, opEmbed, (*exchange).embed)
	g.handle("POST /api/embeddings", ollamaDoor, opEmbed, (*exchange).embed)
	g.handle("GET "+ollama.TagsPath, ollamaDoor, opList, listed(front.Models))
	g.handle("GET "+ollama.RunningPath, ollamaDoor, opList, listed(front.Running))
	g.handle("POST "+ollama.ShowPath, ollamaDoor, opList, (*exchange).show)
	g.handle("GET "+ollama.VersionPath, ollamaDoor, opList, func(x *exchange) error {
		x.answer(front.Version(x.Version))
		return nil
	})
}

func listed(form func([]wire.Model) []byte) func(*exchange) error {
	return func(x *exchange) error {
		models, err := x.models(x.r.Context())
		if err != nil {
			return err
		}
		models = x.allowed(models)
		for i := range models {
			if models[i].Created == 0 {
				models[i].Created = x.Now().Unix() // Ollama's clients want a date
			}
		}
		x.answer(form(models))
		return nil
	}
}

// show describes a model: as its server does if that is Ollama, else by what is known.
func (x *exchange) show() error {
	body, err := x.body()
	if err != nil {
		return err
	}
	name, err := ollama.Front{}.ReadShow(body)
	if err != nil {
		return err
	}
	x.request, x.report.Route = &utp.Request{Model: name}, name
	if err := x.mayAsk(name); err != nil {
		return err
	}
	if x.way, err = x.route(x.r.Context(), name); err != nil {
		return err
	}
	to, err := x.itself()
	if err != nil {
		return err
	}
	models, err := x.way.models(x.r.Context())
	if err != nil {
		return err
	}
	m := named(models, name)
	if m == nil {
		m = &wire.Model{ID: name, Chat: true}
	}
	*m = promising(*m)
	if to.Backend.API() == ollamaAPI {
		return x.described(to, *m)
	}
	x.answer(ollama.Front{}.Describe(*m))
	return nil
}

// described passes on Ollama's description of a model, with the gateway's additions.
func (x *exchange) described(to Target, m wire.Model) error {
	question := ollama.ShowRequest(to.asked(m.ID))
	x.report.Backend, x.report.Speaks, x.report.Asked = to.name(), to.Backend.API(), to.asked(m.ID)
	r := onward(http.MethodPost, &url.URL{Path: ollama.ShowPath}, asJSON, question)
	resp, err := x.forward(to, r, question, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	theirs, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if x.report.Status = resp.StatusCode; resp.StatusCode == http.StatusOK {
		theirs = ollama.Front{}.Describing(theirs, m)
	}
	x.headers(x.w.Header())
	x.answer(theirs)
	return nil
}

// itself returns the target for a question about a model, never one that would answer
// with another model.
func (x *exchange) itself() (Target, error) {
	to := x.way.targets(x.request)[0]
	if standIn(to, x.request.Model) == 1 {
		return to, x.unknown(x.request.Model)
	}
	return to, nil
}

// loads reports whether a request of Ollama's API has no messages: it only loads the
// model or, with keep_alive 0, unloads it.
func (x *exchange) loads() bool {
	return x.door == ollamaDoor && len(x.request.Messages) == 0
}

// load passes such a request on to a server that loads models. For others it only
// checks that they list the model.
func (x *exchange) load() error {
	to, err := x.itself()
	if err != nil {
		return err
	}
	if to.Backend.API() == ollamaAPI {
		return x.through(to, x.sent)
	}
	if m := to.stock.known(x.r.Context(), to.asked(x.request.Model)); m == nil && len(to.stock.names()) > 0 {
		return x.unknown(x.request.Model)
	}
	x.answer(ollama.Front{}.Loaded(x.request, x.stamp()))
	return nil
}
