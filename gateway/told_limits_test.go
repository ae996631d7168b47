package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// Each API's clients are told what is left of the minute in its own headers: by the key
// or its team, whichever has less, and also where they are refused.
func TestLimitsInHeaders(t *testing.T) {
	minute := func(requests, tokens int64) fleet.Budget {
		return fleet.Budget{fleet.Minute: {Requests: requests, Tokens: tokens}}
	}
	for _, tt := range []struct {
		name      string
		own, team fleet.Budget
		want      [2]string // of two replies: the status, of how many requests how many are left, of how many tokens
	}{
		{"the key's", minute(2, 100000), nil, [2]string{"200: 1 of 2 requests, some of 100000 tokens", "200: 0 of 2 requests, some of 100000 tokens"}},
		{"the team's", nil, minute(2, 100000), [2]string{"200: 1 of 2 requests, some of 100000 tokens", "200: 0 of 2 requests, some of 100000 tokens"}},
		{"the key has less", minute(2, 90000), minute(9, 100000), [2]string{"200: 1 of 2 requests, some of 90000 tokens", "200: 0 of 2 requests, some of 90000 tokens"}},
		{"the team has less", minute(9, 100000), minute(2, 90000), [2]string{"200: 1 of 2 requests, some of 90000 tokens", "200: 0 of 2 requests, some of 90000 tokens"}},
		{"a day's", fleet.Budget{fleet.Day: {Requests: 9}}, nil, [2]string{"200: ", "200: "}},
		{"the key's are used up", minute(1, 0), minute(9, 0), [2]string{"200: 0 of 1 requests, ", "429: 0 of 1 requests, "}},
		{"the team's are used up", minute(9, 0), minute(1, 0), [2]string{"200: 0 of 1 requests, ", "429: 0 of 1 requests, "}},
		{"too few tokens", minute(0, 30), nil, [2]string{"429: all of 30 tokens", "429: all of 30 tokens"}},
	} {
		for _, a := range []struct{ path, body, limit, remaining, reset string }{
			{"/v1/chat/completions", limited, "X-Ratelimit-Limit-%s", "X-Ratelimit-Remaining-%s", "X-Ratelimit-Reset-%s"},
			{"/v1/responses", `{"model":"m","max_output_tokens":10,"input":"Hi."}`, "X-Ratelimit-Limit-%s", "X-Ratelimit-Remaining-%s", "X-Ratelimit-Reset-%s"},
			{"/v1/messages", limited, "Anthropic-Ratelimit-%s-Limit", "Anthropic-Ratelimit-%s-Remaining", "Anthropic-Ratelimit-%s-Reset"},
			{"/api/chat", `{"model":"m","stream":false,"options":{"num_predict":10},"messages":[{"role":"user","content":"Hi."}]}`, "", "", ""},
		} {
			t.Run(tt.name+a.path, func(t *testing.T) {
				b := books(t, tt.own, tt.team)
				c := &clock{at: time.Date(2026, 11, 24, 12, 0, 30, 0, time.UTC)}
				url := start(t, costly(apis[0], utp.Usage{Input: 20, Output: 7}), backend.Config{Provider: "openai"}, b.into, func(g *gateway.Config) { g.Now = c.now })
				for i, want := range tt.want {
					resp, text := get(t, "POST", url+a.path, a.body, "Authorization", b.bearer())
					told := func(form, unit string) string { return resp.Header.Get(fmt.Sprintf(form, unit)) }
					is := fmt.Sprint(resp.StatusCode, ": ")
					if a.limit == "" {
						if want = want[:5]; strings.Contains(strings.ToLower(fmt.Sprint(resp.Header)), "ratelimit") {
							t.Errorf("%v", resp.Header)
						}
					} else {
						if n := told(a.limit, "Requests"); n != "" {
							is += told(a.remaining, "Requests") + " of " + n + " requests, "
						}
						if n := told(a.limit, "Tokens"); n != "" {
							left := "all"
							if told(a.remaining, "Tokens") != n {
								left = "some"
							}
							is += left + " of " + n + " tokens"
							if reset := told(a.reset, "Tokens"); reset != "30s" && reset != "2026-11-24T12:01:00Z" {
								t.Errorf("tokens again: %q", reset)
							}
						}
					}
					if is != want {
						t.Errorf("reply %d: %q, want %q: %s", i+1, is, want, text)
					}
				}
			})
		}
	}
}
