package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/cache"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/fleet/oidc"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// common is what a bx serve has in common with its replicas. The zero common is
// that of one without any.
type common struct {
	ledger *database.DB // nil: there is none
	redis  *cache.Cache // nil: State is elsewhere
	state  fleet.State  // nil: in this process
}

// openTime bounds how long the ledger may take at the start.
const openTime = 30 * time.Second

// openCommon opens what the file names.
func (j *job) openCommon(ctx context.Context, f *serving.File) (c common, err error) {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	books, err := f.Ledger.Where(j.app.env)
	if err != nil {
		return c, fail(exitConfig, "[ledger]: %w", err)
	}
	if books != "" {
		if c.ledger, err = database.Open(ctx, books, rand.Text); err != nil {
			return c, fail(exitBackend, "[ledger]: %w", err)
		}
	}
	where, err := f.State.Where(j.app.env)
	if err != nil {
		return c, fail(exitConfig, "[state]: %w", err)
	}
	switch where {
	case "memory":
	case "", "ledger":
		if c.ledger != nil {
			c.state = c.ledger
		}
	default:
		if c.redis, err = cache.Open(where); err != nil {
			return c, fail(exitConfig, "[state]: %w", err)
		}
		c.state = c.redis
	}
	return c, nil
}

// printCommon says for bx serve --check where the ledger and State are. Addresses may
// have passwords, so they are named by what stands before the colon.
func (s *server) printCommon() {
	for _, of := range []struct {
		table, variable string
		where           func(func(string) string) (string, error)
	}{{"ledger", s.read.Ledger.URLEnv, s.read.Ledger.Where}, {"state", s.read.State.URLEnv, s.read.State.Where}} {
		at, err := of.where(s.app.env)
		kind, _, _ := strings.Cut(at, ":")
		switch {
		case err != nil:
			s.view.Warn("[%s]: %v: bx serve does not start without it", of.table, err)
		case of.variable != "":
			fmt.Fprintf(s.app.out, "%s %s, at the address in %s\n", of.table, kind, of.variable)
		case at != "" && strings.HasPrefix(at, "sqlite:"):
			fmt.Fprintf(s.app.out, "%s %s\n", of.table, at)
		case at != "":
			fmt.Fprintf(s.app.out, "%s %s\n", of.table, kind)
		}
	}
}

func (c common) close() {
	if c.ledger != nil {
		_ = c.ledger.Close() // nothing is open in it
	}
	if c.redis != nil {
		_ = c.redis.Close()
	}
}

// into puts it into a configuration of the gateway.
func (c common) into(g *gateway.Config, replica string) {
	if g.State = c.state; c.ledger != nil {
		g.Ledger, g.Replica = c.ledger, replica
	}
}

// identify has the tokens of the file's issuer count. An issuer that stays the same
// over a change of the file keeps the keys that are known of it.
func (s *server) identify(c *gateway.Config) error {
	of := s.read.OIDC
	if !of.Set() || c.Ledger == nil {
		s.issuer = nil
		return nil
	}
	if s.issuer == nil || !reflect.DeepEqual(s.issuer.Config, of.Config()) {
		i, err := oidc.New(of.Config(), backend.HTTP(s.app.offline, 0), nil)
		if err != nil {
			return err
		}
		s.issuer = i
		go s.look(i, c.Ledger)
	}
	c.Issuer = s.issuer
	return nil
}

// look warns of an issuer that does not answer, and of teams that the ledger lacks.
func (s *server) look(i *oidc.Issuer, l fleet.Ledger) {
	if err := i.Fetch(context.Background()); err != nil {
		s.view.Warn("[oidc]: %v; it is asked again when a token comes", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	all, err := l.Teams(ctx)
	if err != nil {
		return // told where the ledger is asked
	}
	for _, t := range i.Teams {
		if !slices.ContainsFunc(all, func(own fleet.Team) bool { return own.Name == t.Team }) {
			s.view.Warn("[oidc]: the ledger has no team %q, and persons of it are refused: bx keys team create %s", t.Team, t.Team)
		}
	}
}

// pruneEvery is how often what is kept no more leaves the database.
const pruneEvery = 10 * time.Minute

func (c common) prune(ctx context.Context) {
	if c.ledger == nil {
		return
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = c.ledger.Prune(ctx, time.Now()) // comes again
		}
	}
}

// books are the ledger of the file of bx serve, for whoever administers it.
func (a *app) books(ctx context.Context, file string) (*server, error) {
	j, err := a.beginServing()
	if err != nil {
		return nil, err
	}
	s := &server{job: j, flags: serveFlags{file: file}}
	if err := s.readFile(); err != nil {
		return nil, err
	}
	if s.read.Ledger == (serving.Ledger{}) {
		return nil, fail(exitConfig, "%s has no [ledger]: want one, such as\n\n[ledger]\nurl = \"sqlite:/var/lib/bx/ledger.db\"", cmp.Or(s.file, s.fileName()))
	}
	if s.common, err = s.openCommon(ctx, s.read); err != nil {
		return nil, err
	}
	return s, nil
}

// newKeyText makes a key.
func newKeyText() string { return fmt.Sprintf("bx-%s", rand.Text()) }
