// Package cache keeps the State of package fleet in Redis, which makes it faster
// than in the database of the ledger. It uses no command that is newer than Redis 7.0.
package cache

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// Cache is a fleet.State.
type Cache struct{ of *redis.Pool }

var _ fleet.State = (*Cache)(nil)

// wait bounds how long a request of a client waits for Redis; maxConns and idle are
// of the pool of connections.
const (
	wait     = time.Second
	maxConns = 64
	idle     = 5 * time.Minute
)

// Open makes ready to ask "redis://[USER:PASSWORD@]HOST:PORT/NUMBER", or rediss://
// with TLS. It sends nothing.
func Open(address string) (*Cache, error) {
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "redis" && at.Scheme != "rediss" || at.Host == "" {
		return nil, errors.New("want redis://HOST:PORT/NUMBER") // its own error may show a password
	}
	return &Cache{&redis.Pool{
		MaxIdle: maxConns, MaxActive: maxConns, Wait: true, IdleTimeout: idle,
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, address, redis.DialConnectTimeout(wait), redis.DialReadTimeout(wait), redis.DialWriteTimeout(wait))
		},
	}}, nil
}

// Close closes the connections.
func (c *Cache) Close() error { return c.of.Close() }

// do asks Redis. A connection that was closed since it was last used is asked for
// nothing: another one is opened.
func (c *Cache) do(ctx context.Context, command string, args ...any) (any, error) {
	for again := true; ; again = false {
		conn, err := c.of.GetContext(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := redis.DoWithTimeout(conn, left(ctx), command, args...)
		closed := conn.Err() != nil
		_ = conn.Close() // back into the pool
		if !closed || !again || ctx.Err() != nil || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			return answer, err
		}
	}
}

// left is how long an answer may take. A context that ends before its deadline is not
// heard: to watch it takes a goroutine, which costs more than the answer.
func left(ctx context.Context) time.Duration {
	if end, has := ctx.Deadline(); has {
		return max(min(wait, time.Until(end)), time.Millisecond)
	}
	return wait
}

// script is a Lua script that Redis keeps by its hash.
type script struct{ text, hash string }

func newScript(text string) script {
	sum := sha1.Sum([]byte(text)) // as EVALSHA wants it
	return script{text, hex.EncodeToString(sum[:])}
}

func (s script) run(ctx context.Context, c *Cache, keys []string, args ...any) (any, error) {
	all := []any{s.hash, len(keys)}
	for _, k := range keys {
		all = append(all, k)
	}
	all = append(all, args...)
	answer, err := c.do(ctx, "EVALSHA", all...)
	var e redis.Error
	if errors.As(err, &e) && strings.HasPrefix(string(e), "NOSCRIPT") {
		all[0] = s.text
		return c.do(ctx, "EVAL", all...)
	}
	return answer, err
}

// Ping is for fleet.State.
func (c *Cache) Ping(ctx context.Context) error {
	_, err := c.do(ctx, "PING")
	return err
}

// rateLine is how all scripts read and fill a rate. Its fields: at, in microseconds;
// r and t, the levels of requests and tokens; sr and st, the sizes.
const rateLine = `
local function rate(key, now, sr, st)
	local h = redis.call('HMGET', key, 'at', 'r', 'sr', 't', 'st')
	local w = {at = tonumber(h[1]) or now, r = tonumber(h[2]) or sr, t = tonumber(h[4]) or st}
	w.r, w.t = w.r + sr - (tonumber(h[3]) or sr), w.t + st - (tonumber(h[5]) or st)
	if now > w.at then
		local minutes = (now - w.at) / 60000000
		w.r, w.t, w.at = w.r + minutes * sr, w.t + minutes * st, now
	end
	w.r, w.t = math.min(w.r, sr), math.min(w.t, st)
	return w
end
local function keep(key, w, sr, st)
	redis.call('HSET', key, 'at', string.format('%.0f', w.at), 'r', string.format('%.17g', w.r), 'sr', sr, 't', string.format('%.17g', w.t), 'st', st)
	redis.call('EXPIRE', key, 86400)
end
`

// enter decides of all rates and takes from all of them, or from none. KEYS are a
// rate and its running visits, again and again; ARGV the time, the visit, its end,
// then requests, tokens and parallel of each rate.
var enter = newScript(rateLine + `
local now, visit, till = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local lines, left = {}, {}
for i = 1, #KEYS / 2 do
	local a = 3 * i + 1
	local sr, st, most = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
	local w = rate(KEYS[2 * i - 1], now, sr, st)
	if st > 0 and w.t < 0.5 then return {i, 'tokens', string.format('%.0f', (0.5 - w.t) / st * 60000000)} end
	if sr > 0 and w.r < 1 then return {i, 'requests', string.format('%.0f', (1 - w.r) / sr * 60000000)} end
	if most > 0 then
		redis.call('ZREMRANGEBYSCORE', KEYS[2 * i], '-inf', string.format('%.0f', now))
		if redis.call('ZCARD', KEYS[2 * i]) >= most then return {i, 'parallel', '1000000'} end
	end
	lines[i] = {w, sr, st, most}
end
for i, l in ipairs(lines) do
	local w, sr, st, most = l[1], l[2], l[3], l[4]
	if sr > 0 then w.r = w.r - 1 end
	if sr > 0 or st > 0 then keep(KEYS[2 * i - 1], w, sr, st) end
	if most > 0 then
		redis.call('ZADD', KEYS[2 * i], string.format('%.0f', till), visit)
		redis.call('EXPIRE', KEYS[2 * i], 86400)
	end
	left[i] = string.format('%.0f', math.floor(math.max(w.r, 0)))
end
return {0, left}
`)

// leave takes tokens and ends a visit. KEYS and ARGV are as those of enter, with the
// tokens in place of the visit's end.
var leave = newScript(rateLine + `
local now, visit, tokens = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
for i = 1, #KEYS / 2 do
	local a = 3 * i + 1
	local sr, st, most = tonumber(ARGV[a]), tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
	if most > 0 then redis.call('ZREM', KEYS[2 * i], visit) end
	if st > 0 and tokens ~= 0 then
		local w = rate(KEYS[2 * i - 1], now, sr, st)
		w.t = w.t - tokens
		keep(KEYS[2 * i - 1], w, sr, st)
	end
end
return 0
`)

// arguments are those of both scripts.
func arguments(v fleet.Visit, now time.Time, third int64) (keys []string, args []any) {
	args = []any{now.UnixMicro(), v.ID, third}
	for _, r := range v.Rates {
		keys = append(keys, "bx:rate:"+r.Owner, "bx:run:"+r.Owner)
		args = append(args, r.Requests, r.Tokens, r.Parallel)
	}
	return keys, args
}

// Enter is for fleet.State.
func (c *Cache) Enter(ctx context.Context, v fleet.Visit, now time.Time) (pass fleet.Pass, err error) {
	keys, args := arguments(v, now, v.Until.UnixMicro())
	answer, err := redis.Values(enter.run(ctx, c, keys, args...))
	if err != nil {
		return pass, err
	}
	which, _ := answer[0].(int64)
	if which > 0 {
		if pass.Refused, err = redis.String(answer[1], nil); err != nil {
			return pass, err
		}
		n, err := redis.Int64(answer[2], nil)
		pass.Owner, pass.Wait = v.Rates[which-1].Owner, time.Duration(n)*time.Microsecond
		return pass, err
	}
	left, _ := answer[1].([]any)
	for i, r := range v.Rates {
		n := int64(-1)
		if r.Requests > 0 {
			if n, err = redis.Int64(left[i], nil); err != nil {
				return pass, err
			}
		}
		pass.Left = append(pass.Left, n)
	}
	return pass, nil
}

// Leave is for fleet.State.
func (c *Cache) Leave(ctx context.Context, v fleet.Visit, tokens int64, now time.Time) error {
	keys, args := arguments(v, now, tokens)
	_, err := leave.run(ctx, c, keys, args...)
	return err
}

// renew lets visits go on: KEYS are of running visits, ARGV a visit and its end for
// each.
var renew = newScript(`
for i, key in ipairs(KEYS) do redis.call('ZADD', key, 'XX', ARGV[2 * i], ARGV[2 * i - 1]) end
return 0
`)

// Renew is for fleet.State.
func (c *Cache) Renew(ctx context.Context, visits []fleet.Visit, _ time.Time) error {
	var keys []string
	var args []any
	for _, v := range visits {
		for _, r := range v.Rates {
			if r.Parallel > 0 {
				keys, args = append(keys, "bx:run:"+r.Owner), append(args, v.ID, v.Until.UnixMicro())
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, err := renew.run(ctx, c, keys, args...)
	return err
}

func itemKey(owner, key string) string { return "bx:kept:{" + owner + "}:" + key }

// get reads items and keeps those that are there for ARGV[1] seconds more.
var get = newScript(`
local found = {}
for i, key in ipairs(KEYS) do
	found[i] = redis.call('GET', key)
	if found[i] then redis.call('EXPIRE', key, ARGV[1]) end
end
return found
`)

// Get is for fleet.State.
func (c *Cache) Get(ctx context.Context, owner string, keys []string, _ time.Time) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = itemKey(owner, k)
	}
	return redis.ByteSlices(get.run(ctx, c, names, int(fleet.Keep.Seconds())))
}

// put keeps items for ARGV[1] seconds.
var put = newScript(`
for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[i + 1], 'EX', ARGV[1]) end
return 0
`)

// Put is for fleet.State.
func (c *Cache) Put(ctx context.Context, items []fleet.Item, _ time.Time) error {
	if len(items) == 0 {
		return nil
	}
	keys, args := make([]string, len(items)), []any{int(fleet.Keep.Seconds())}
	for i, it := range items {
		keys[i], args = itemKey(it.Owner, it.Key), append(args, it.Value)
	}
	_, err := put.run(ctx, c, keys, args...)
	return err
}

// perScan is how many names Redis looks at in one answer.
const perScan = 1000

// Forget is for fleet.State.
func (c *Cache) Forget(ctx context.Context, owner string) error {
	cursor := "0"
	for {
		answer, err := redis.Values(c.do(ctx, "SCAN", cursor, "MATCH", escaped(itemKey(owner, ""))+"*", "COUNT", perScan))
		if err != nil {
			return err
		}
		found, err := redis.Values(answer[1], nil)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			if _, err := c.do(ctx, "UNLINK", found...); err != nil {
				return err
			}
		}
		if cursor, err = redis.String(answer[0], nil); err != nil || cursor == "0" {
			return err
		}
	}
}

// escaped is a text as a pattern of Redis's that matches it alone.
func escaped(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		switch text[i] {
		case '*', '?', '[', ']', '\\', '^':
			out = append(out, '\\')
		}
		out = append(out, text[i])
	}
	return string(out)
}

const coolingKey = "bx:cooling"

// cool notes until when a target wants no requests, and clears away what is over.
var cool = newScript(`
redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
return 0
`)

// Cool is for fleet.State.
func (c *Cache) Cool(ctx context.Context, target string, until, now time.Time) error {
	_, err := cool.run(ctx, c, []string{coolingKey}, target, until.UnixMicro(), now.UnixMicro())
	return err
}

// Cooling is for fleet.State.
func (c *Cache) Cooling(ctx context.Context, now time.Time) (map[string]time.Time, error) {
	found, err := redis.Strings(c.do(ctx, "ZRANGEBYSCORE", coolingKey, "("+strconv.FormatInt(now.UnixMicro(), 10), "+inf", "WITHSCORES"))
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for pair := range slices.Chunk(found, 2) {
		score, err := strconv.ParseFloat(pair[len(pair)-1], 64)
		if err != nil {
			return nil, err
		}
		out[pair[0]] = time.UnixMicro(int64(score)).UTC()
	}
	return out, nil
}
