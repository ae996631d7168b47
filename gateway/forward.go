package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// speaks reports whether a server of one API also serves the paths of another that the
// gateway passes through. Source: Ollama, docs/api/openai-compatibility.
func speaks(server, api string) bool {
	switch api {
	case openaiAPI, responsesAPI:
		return server == openaiAPI || server == responsesAPI || server == ollamaAPI
	}
	return server == api
}

// pass passes a request that the gateway does not serve itself, such as for files or
// batches, to a backend of the client's own API.
func (x *exchange) pass() error {
	to, body, err := x.passage()
	if err != nil {
		return err
	}
	return x.admit(func() error { return x.through(to, body) })
}

// passage returns the backend for a request that passes through, by the model in its
// body if it names one, and the body.
func (x *exchange) passage() (to Target, body []byte, err error) {
	if x.client != nil && !harmless(x.r.URL.Path) {
		return to, nil, denied(http.StatusForbidden, "not_for_clients", "%s %s is not for clients with a key of the gateway's: it may show or change what belongs to all", x.r.Method, x.r.URL.Path)
	}
	if body, err = x.body(); err != nil {
		return to, nil, err
	}
	fields := fieldsOf(body)
	if err := x.misspelt(fields); err != nil {
		return to, nil, err
	}
	model := modelOf(fields) // "" goes to the first backend
	x.report.Route = model
	if err := x.mayAsk(model); err != nil {
		return to, nil, err
	}
	if len(x.Routes) == 0 {
		return to, nil, denied(http.StatusServiceUnavailable, "no_backend", "%s", x.Absent)
	}
	var ways []*Route
	for i := range x.Routes {
		ways = append(ways, &x.Routes[i])
	}
	if model != "" {
		ways = x.ways(x.r.Context(), model)
	}
	for _, way := range ways {
		for _, t := range way.targets(x.passing(model, body)) {
			if speaks(t.Backend.API(), x.door.api) {
				return t, body, nil
			}
		}
	}
	return to, nil, denied(http.StatusNotImplemented, "no_backend", "%s %s is for a backend of the API %s, and no route for the model leads to one", x.r.Method, x.r.URL.Path, x.door.api)
}

// passing returns the request by which targets and keys are chosen for one that passes
// through. Each body has its own first choice; what belongs to an account, such as a
// file, always has the same, so that it is found where it was made.
func (x *exchange) passing(model string, body []byte) *utp.Request {
	q := &utp.Request{Model: model}
	if harmless(x.r.URL.Path) {
		q.Messages = []utp.Message{utp.NewText(utp.RoleUser, string(body[:min(len(body), 4<<10)]))}
	}
	return q
}

// harmless reports whether a path neither shows nor changes what others own under the
// gateway's key.
func harmless(path string) bool {
	for _, own := range []string{"/v1/completions", "/v1/embeddings", "/v1/moderations", "/v1/rerank", "/api/embed", "/api/embeddings"} {
		if path == own {
			return true
		}
	}
	return strings.HasPrefix(path, "/v1/audio/") || strings.HasPrefix(path, "/v1/images/") ||
		strings.HasPrefix(path, "/v1beta/models/") && (strings.HasSuffix(path, ":embedContent") || strings.HasSuffix(path, ":batchEmbedContents"))
}

// toBackend and toClient are the headers that pass through. Keys and cookies do not.
var (
	toBackend = []string{"Accept", "Content-Type", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "X-Goog-Api-Client"}
	toClient  = []string{"Content-Type", "Content-Disposition", "Retry-After", "Openai-Processing-Ms", "Openai-Version"}
)

func picked(h http.Header, names []string) http.Header {
	out := http.Header{}
	for _, n := range names {
		if v := h.Values(n); len(v) > 0 {
			out[n] = slices.Clone(v)
		}
	}
	return out
}

// through passes the request on and the answer back.
func (x *exchange) through(to Target, body []byte) error {
	x.report.Backend, x.report.Speaks, x.report.Asked = to.name(), to.Backend.API(), to.asked(x.report.Route)
	path := x.r.URL.Path
	if to.Model != "" && to.Model != x.report.Route {
		path, body = pathFor(path, to.Model), renamed(body, to.Model)
	}
	head := picked(x.r.Header, toBackend)
	if x.r.Header.Get("Anthropic-Version") == "" && to.Backend.API() == anthropicAPI {
		head.Set("Anthropic-Version", "2023-06-01")
	}
	body, limit := x.limited(body)
	r := onward(x.r.Method, &url.URL{Path: path, RawQuery: withoutKey(x.r.URL.Query())}, head, body)
	if x.report.Operation == opPass && !harmless(x.r.URL.Path) {
		r.GetBody = nil // it may create something
	}
	book, err := x.bookPassage(to, limit)
	if err != nil {
		return err
	}
	resp, err := x.forward(to, r, body, book)
	if err != nil {
		book.end(nil, err)
		return err
	}
	defer resp.Body.Close()
	x.told, x.report.ReplyID = true, cmp.Or(resp.Header.Get("X-Request-Id"), resp.Header.Get("Request-Id"))
	x.report.Status = resp.StatusCode
	for k, v := range picked(resp.Header, toClient) {
		x.w.Header()[k] = v
	}
	for k, v := range resp.Header {
		if strings.HasPrefix(k, "X-Ratelimit-") || strings.HasPrefix(k, "Anthropic-Ratelimit-") {
			x.w.Header()[k] = v
		}
	}
	x.headers(x.w.Header())
	x.w.WriteHeader(resp.StatusCode)
	if resp.StatusCode >= 400 {
		book.end(nil, &wire.Error{Status: resp.StatusCode})
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		_, err = io.WriteString(x.w, utp.Redact(string(text))) // servers quote keys
		return err
	}
	count := &counting{from: resp.Body}
	defer func() {
		x.report.Usage = count.usage()
		book.endPassage(count)
	}()
	return pour(x.w, count)
}

// onward returns a request to a backend that is sent again if the backend closed the
// connection before it answered.
func onward(method string, to *url.URL, head http.Header, body []byte) *http.Request {
	again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r := &http.Request{Method: method, URL: to, Header: head, ContentLength: int64(len(body)), GetBody: again}
	r.Body, _ = again()
	return r
}

var asJSON = http.Header{"Content-Type": {"application/json"}}

// maxRefusal bounds how many bytes of an error are passed on.
const maxRefusal = 64 << 10

// pour copies as the bytes come.
func pour(w http.ResponseWriter, from io.Reader) error {
	control := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			if err := control.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &abort{err} // a regular end would make the answer look complete
		}
	}
}

// pathFor returns a path of Gemini's API with another model.
func pathFor(path, model string) string {
	before, rest, ok := strings.Cut(path, "/models/")
	if _, method, named := cutLast(rest, ":"); ok && named {
		return before + "/models/" + model + ":" + method
	}
	return path
}

// fieldsOf returns the fields of a JSON object by their exact names; decoding into a
// struct would also take "MODEL" for "model". nil if body is no object.
func fieldsOf(body []byte) (all map[string]json.RawMessage) {
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	return all
}

// modelOf returns the model that a JSON body names, "" if none.
func modelOf(fields map[string]json.RawMessage) (model string) {
	_ = json.Unmarshal(fields["model"], &model)
	return model
}

// renamed returns a JSON body with another model.
func renamed(body []byte, model string) []byte {
	fields := fieldsOf(body)
	if fields["model"] == nil {
		return body
	}
	name, err := marshal(model)
	if err != nil {
		return body
	}
	fields["model"] = name
	if out, err := marshal(fields); err == nil {
		return out
	}
	return body
}

// marshal writes JSON without HTML escaping: models and people read it.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// isObject reports whether b, which is JSON, is an object.
func isObject(b []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) }
