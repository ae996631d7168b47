package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/learn"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// sharing is a gateway's side of State and the Ledger.
type sharing struct {
	state, ledger presence
	members       members
	visits        sync.Map // of fleet.Visit, by id: the running ones with a limit on how many run at once
	owed          settling
}

// shareTime is how long a request waits for State or the Ledger. awayTime is how long
// requests do not ask one again after it answered nobody.
const (
	shareTime = 4 * time.Second
	awayTime  = time.Second
)

// presence records whether a server that replicas share answers.
type presence struct {
	until atomic.Int64 // not to be asked before, in Unix nanoseconds; 0: it answers
	good  atomic.Int64 // when it last answered
}

// away reports whether the server did not answer a moment ago.
func (p *presence) away(now time.Time) bool { return now.UnixNano() < p.until.Load() }

// tell records whether the server answered. A refusal is an answer, too.
func (p *presence) tell(x *house, what string, err error) {
	if err == nil {
		p.good.Store(x.Now().UnixNano())
		if p.until.Load() != 0 && p.until.Swap(0) != 0 {
			x.Log.Info("answers again", "what", what)
		}
		return
	}
	if p.until.Swap(x.Now().Add(awayTime).UnixNano()) == 0 {
		x.Log.Error("does not answer", "what", what, "error", utp.Redact(err.Error()))
	}
}

// awayNames lists the servers that do not answer.
func (s *sharing) awayNames() (out []string) {
	if s.state.until.Load() != 0 {
		out = append(out, "state")
	}
	if s.ledger.until.Load() != 0 {
		out = append(out, "ledger")
	}
	return out
}

// errAway is the error in place of asking a server that did not answer a moment ago.
var errAway = &wire.Error{Status: http.StatusServiceUnavailable, Message: "it did not answer a moment ago"}

// with asks State within the time that a request has for it.
func (s *sharing) with(ctx context.Context, h *house, p *presence, what string, ask func(ctx context.Context) error) error {
	if p.away(h.Now()) {
		return errAway
	}
	began := h.Now().UnixNano()
	within, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	err := ask(within)
	if err != nil && ctx.Err() != nil {
		return err // the caller has gone
	}
	var said *answer
	if errors.As(err, &said) {
		p.tell(h, what, nil)
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) && p.good.Load() > began {
		return err // it does answer others: many requests share one budget
	}
	p.tell(h, what, err)
	return err
}

func denial503(reason, text string) error {
	return &denial{reason, &wire.Error{Status: http.StatusServiceUnavailable, Message: text, RetryAfter: 2 * time.Second}}
}

// place identifies something kept for a client: its kind and its id.
type place struct{ what, id string }

// owner returns the owner of what is kept for the client, so that clients do not see
// each other's conversations.
func (x *exchange) owner() string {
	if x.client == nil {
		return "anybody"
	}
	return x.client.id
}

// name returns the key of a place in State. Ids may hold bytes that a text cannot.
func (p place) name() string {
	sum := sha256.Sum256([]byte(p.id))
	return p.what + ":" + hex.EncodeToString(sum[:])
}

func (p place) in(owner string) string { return p.what + "\x00" + owner + "\x00" + p.id }

// keptJSON is the form in which State stores a kept.
type keptJSON struct {
	Messages []utp.Message `json:"messages,omitempty"`
	Call     *utp.Message  `json:"call,omitempty"` // the thoughts, then the call
	Pick     learn.Pick    `json:"pick,omitzero"`
	Target   string        `json:"target,omitempty"`
}

func (k *kept) marshal() ([]byte, error) {
	j := keptJSON{Messages: k.messages, Pick: k.pick, Target: k.target}
	if k.call.Name != "" {
		j.Call = &utp.Message{Role: utp.RoleAssistant, Parts: append(append([]utp.Part(nil), k.thoughts...), k.call)}
	}
	return json.Marshal(j)
}

func (k *kept) unmarshal(b []byte) error {
	var j keptJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	k.messages, k.pick, k.target = j.Messages, j.Pick, j.Target
	if j.Call != nil {
		for _, p := range j.Call.Parts {
			if c, ok := p.(utp.Call); ok {
				k.call = c
				break
			}
			k.thoughts = append(k.thoughts, p)
		}
	}
	return nil
}

// fetch returns what is kept in each of the places, nil where nothing is. The result
// has as many entries as there are places, even with an error.
func (x *exchange) fetch(of ...place) ([]*kept, error) {
	out := make([]*kept, len(of))
	if x.State == nil {
		for i, p := range of {
			out[i] = x.gate.kept.get(p.in(x.owner()), x.began)
		}
		return out, nil
	}
	names := make([]string, len(of))
	for i, p := range of {
		names[i] = p.name()
	}
	var values [][]byte
	err := x.gate.shared.with(x.r.Context(), x.house, &x.gate.shared.state, "state", func(ctx context.Context) (err error) {
		values, err = x.State.Get(ctx, x.owner(), names, x.began)
		return err
	})
	if err != nil {
		return out, err
	}
	for i, v := range values {
		if k := (&kept{place: of[i]}); v != nil && k.unmarshal(v) == nil { // what another version wrote counts as missing
			out[i] = k
		}
	}
	return out, nil
}

// store keeps all in one round trip. A failure is only logged; later turns find nothing.
func (x *exchange) store(all ...*kept) {
	if x.State == nil {
		for _, k := range all {
			k.key = k.in(x.owner())
			x.gate.kept.put(k, x.began)
		}
		return
	}
	var items []fleet.Item
	for _, k := range all {
		if value, err := k.marshal(); err == nil && len(value) <= x.Limits.Kept {
			items = append(items, fleet.Item{Owner: x.owner(), Key: k.name(), Value: value})
		}
	}
	if len(items) == 0 {
		return
	}
	_ = x.gate.shared.with(context.WithoutCancel(x.r.Context()), x.house, &x.gate.shared.state, "state", func(ctx context.Context) error {
		return x.State.Put(ctx, items, x.began)
	}) // logged there
}
