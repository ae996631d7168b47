package gateway

import (
	"fmt"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

var ollamaDoor = &door{api: ollamaAPI, front: ollama.Front{}, forgets: true, flat: true, framing: ollamaFraming, pinging: emptyChunk}

func ollamaFraming(*utp.Request) (wire.Framing, string) { return wire.NDJSON, "application/x-ndjson" }

// ollamaVersion is of the Ollama whose API this is. Clients refuse servers that
// say an older one: GitHub Copilot in VS Code wants 0.6.4.
const ollamaVersion = "0.17.4"

// emptyChunk is a heartbeat. Ollama's clients read every line as a piece of the
// reply; an empty line is an error to them.
func emptyChunk(x *exchange) []byte {
	if strings.HasSuffix(x.r.URL.Path, "/generate") {
		return fmt.Appendf(nil, `{"model":%q,"created_at":%q,"response":"","done":false}`+"\n", x.request.Model, stampTime(x.began))
	}
	return fmt.Appendf(nil, `{"model":%q,"created_at":%q,"message":{"role":"assistant","content":""},"done":false}`+"\n", x.request.Model, stampTime(x.began))
}

func stampTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ollamaPaths are those of Ollama's own API.
func (g *Gateway) ollamaPaths() {
	front := ollama.Front{}
	g.handle("POST /api/chat", ollamaDoor, opChat, (*exchange).chat)
	g.handle("POST /api/generate", ollamaDoor, opChat, (*exchange).chat)
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
		x.answer(form(models))
		return nil
	}
}

// show describes a model: as its own server does where that is Ollama, else by
// what is known of it.
func (x *exchange) show() error {
	body, err := x.body()
	if err != nil {
		return err
	}
	name, err := ollama.Front{}.ReadShow(body)
	if err != nil {
		return err
	}
	way, err := x.route(name)
	if err != nil {
		return err
	}
	if to := way.To[0]; to.Backend.API() == ollamaAPI {
		return x.through(to, ollama.ShowRequest(to.asked(name)))
	}
	models, err := way.models(x.r.Context())
	if err != nil {
		return err
	}
	for _, m := range models {
		if m.ID == name || m.ID+":latest" == name {
			x.answer(ollama.Front{}.Describe(m))
			return nil
		}
	}
	x.answer(ollama.Front{}.Describe(wire.Model{ID: name, Chat: true}))
	return nil
}

// loads reports a request of Ollama's API that has no messages: it asks only
// that the model be loaded, and is answered at once.
func (x *exchange) loads() bool {
	return x.door == ollamaDoor && len(x.request.Messages) == 0
}
