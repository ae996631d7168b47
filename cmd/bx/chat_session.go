package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
	"github.com/unifiedtoolprotocol/utp/store"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// take finds the session that -c, -s or --resume names, and shows where it stands.
func (t *talk) take(ctx context.Context) error {
	a := t.app
	if a.session == "" && !a.goOn && !a.resume {
		return nil
	}
	db, err := t.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if a.resume && a.session == "" {
		id, err := t.chosen(ctx, db)
		if err != nil || id == "" {
			return err
		}
		a.session = id
	}
	s, err := t.pick(ctx, db)
	if err != nil {
		return err
	}
	if a.session == "" && !t.freshEnough(ctx, s, time.Since(s.Updated)) {
		return nil
	}
	return t.goOn(ctx, s)
}

// goOn takes a session and prints its last exchange.
func (t *talk) goOn(ctx context.Context, s *store.Session) error {
	x, err := s.Last(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	t.session, t.app.session, t.app.going, t.app.goOn = s.ID, s.ID, s.ID, false
	t.tokens, t.window = 0, 0
	t.view.Line(view.Normal, "%s", goesOn(s))
	if x.Question != "" {
		fmt.Fprintln(t.view.Out, "> "+strings.ReplaceAll(view.Clean(typedOf(x.Question)), "\n", "\n. "))
		t.view.Answer(x.Answer)
	}
	return nil
}

// typedOf is a question without what went along.
func typedOf(question string) string {
	typed, _, _ := strings.Cut(strings.TrimSpace(question), "\n\n[")
	return typed
}

// chosen asks which of the latest sessions is meant; "" is none.
func (t *talk) chosen(ctx context.Context, db *store.DB) (string, error) {
	list, err := db.List(ctx, t.root, shownSessions)
	if err != nil || len(list) == 0 {
		return "", errors.Join(err, t.sessionList(ctx, ""))
	}
	for i, s := range list {
		broken := ""
		if s.Broken {
			broken = "  [broken off]"
		}
		row := fmt.Sprintf("%2d  %s  %s ago  %s%s  %s", i+1, s.ID, view.Age(time.Since(s.Updated)), view.Count(s.Count, "message"), broken, view.Short(typedOf(s.First)))
		if t.terminal != nil {
			columns, _ := t.terminal.Size()
			row = cells.Cut(row, columns)
		}
		fmt.Fprintln(t.view.Out, row)
	}
	if t.editor != nil {
		was := t.editor.Prompt
		t.editor.Prompt = "which? (Enter: none) "
		defer func() { t.editor.Prompt = was }()
	}
	text, err := t.read(ctx)
	if err != nil {
		return "", nil // no choice is none
	}
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(list) && len(text) < 3 {
		return list[n-1].ID, nil
	}
	return text, nil
}

func (t *talk) resume(ctx context.Context, id string) error {
	db, err := t.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if id == "" {
		if id, err = t.chosen(ctx, db); err != nil || id == "" {
			return err
		}
	}
	s, err := getSession(ctx, db, id)
	if err != nil {
		return err
	}
	return t.goOn(ctx, s)
}

// sessionIDs are those of the latest sessions.
func (t *talk) sessionIDs() (ids []string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	db, err := t.openStore(ctx)
	if err != nil {
		return nil
	}
	defer db.Close()
	list, _ := db.List(ctx, t.root, shownSessions) // without a list there is nothing to complete
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

func (t *talk) sessionList(ctx context.Context, _ string) error {
	db, err := t.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	list, err := db.List(ctx, t.root, shownSessions)
	if err == nil {
		view.Sessions(t.view.Out, list, t.root)
	}
	return err
}

func (t *talk) begins(context.Context, string) error {
	if t.session == "" {
		t.tell("a new session begins with the next question")
	} else {
		t.tell("a new session begins; /resume %s goes back to the one before", t.session)
	}
	t.session, t.app.session, t.ran, t.tokens = "", "", nil, 0
	return nil
}

// ownSession runs f on the session of the conversation.
func (t *talk) ownSession(ctx context.Context, f func(*store.DB, *store.Session) error) error {
	if t.session == "" {
		return errors.New("this conversation has no session yet: ask something first")
	}
	db, err := t.openStore(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := getSession(ctx, db, t.session)
	if err != nil {
		return err
	}
	return f(db, s)
}

func (t *talk) fork(ctx context.Context, _ string) error {
	return t.ownSession(ctx, func(db *store.DB, s *store.Session) error {
		copied, err := db.Fork(ctx, s, 0)
		if err != nil {
			return err
		}
		t.view.Line(view.Normal, "going on in session %s, a copy; /resume %s goes back", copied.ID, s.ID)
		t.session, t.app.session = copied.ID, copied.ID
		return nil
	})
}

// past is a session that is read and not written.
type past struct{ *store.Session }

func (past) Append(context.Context, ...transcript.Entry) error { return nil }

// sumUp is what the model is asked for by /compact.
const sumUp = `Sum up this conversation, so that somebody who has not read it can go on with it: what the user wants, ` +
	`what was found out (with files and lines), what was changed, what was decided and why, and what is left to do. ` +
	`Leave out what no longer matters. Write the summary alone.`

// compact has the model sum up the session, and goes on with that in a new one.
func (t *talk) compact(ctx context.Context, matters string) error {
	return t.ownSession(ctx, func(db *store.DB, s *store.Session) error {
		c, err := t.connection(ctx)
		if err != nil {
			return err
		}
		if c.client == nil {
			return errors.New("there is no model that could sum the session up; /new begins another one")
		}
		text, err := t.summary(ctx, c, s, matters)
		if err != nil {
			return err
		}
		short, err := db.Create(ctx, t.root, c.name)
		if err != nil {
			return err
		}
		question := utp.NewText(utp.RoleUser, "Go on from this summary of our conversation so far:\n\n"+text)
		reply := utp.NewText(utp.RoleAssistant, "I go on from there.")
		now := time.Now()
		if err := short.Append(ctx, transcript.Entry{Kind: transcript.Message, Time: now, Message: &question},
			transcript.Entry{Kind: transcript.Message, Time: now, Message: &reply}); err != nil {
			return err
		}
		t.view.Line(view.Normal, "going on with this summary in session %s; /resume %s goes back to all of it", short.ID, s.ID)
		t.session, t.app.session, t.tokens = short.ID, short.ID, 0
		return nil
	})
}

// summary asks the model, and prints what it writes as it comes.
func (t *talk) summary(ctx context.Context, c *connection, s *store.Session, matters string) (string, error) {
	question := sumUp
	if matters != "" {
		question += "\nThis matters most: " + matters
	}
	conf := agent.Config{Model: c.model, Session: past{s}, History: 1 << 30,
		Window: func(ctx context.Context) int { return c.client.Room(ctx, c.name, 0) }}
	r := &utp.Request{Model: c.name, Stream: true, Messages: []utp.Message{utp.NewText(utp.RoleSystem, "You sum up conversations."), utp.NewText(utp.RoleUser, question)}}
	for e, err := range agent.Turn(ctx, conf, r) {
		if err != nil {
			t.view.Progress.Busy("")
			return "", t.broken(ctx, err)
		}
		t.saw(e)
		t.view.Event(e)
		if e.Kind == agent.Final {
			t.spent(*e.Answer)
			t.view.Answer(e.Answer.Text)
			return e.Answer.Text, nil
		}
	}
	return "", os.ErrClosed
}

// remembered is how many tokens of earlier turns a conversation sends: as was set,
// else half of the window.
func (t *talk) remembered(ctx context.Context, conf agent.Config) int {
	if t == nil || t.set.Session.MaxHistoryTokens != defaultHistory {
		return conf.History
	}
	if conf.Window != nil {
		if room := conf.Window(ctx); room > 0 {
			return max(room/2, conf.History)
		}
	}
	return unknownHistory
}

// What a conversation sends of its earlier turns where nobody has set it:
// defaultHistory is [session] max_history_tokens, unknownHistory holds where the
// server does not tell the model's window.
const defaultHistory, unknownHistory = 4096, 16_000
