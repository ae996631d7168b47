// Package cache keeps the State of package fleet in Redis, which makes it faster
// than in the database of the ledger. It uses no command that is newer than Redis 7.0.
package cache

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// Cache is a fleet.State.
type Cache struct{ of *redis.Client }

var _ fleet.State = (*Cache)(nil)

// wait bounds how long a request of a client waits for Redis.
const wait = time.Second

// Open makes ready to ask "redis://[USER:PASSWORD@]HOST:PORT/NUMBER", or rediss://
// with TLS. It sends nothing.
func Open(address string) (*Cache, error) {
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, errors.New("want redis://HOST:PORT/NUMBER") // its own error may show a password
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.MaxRetries = wait, wait, wait, 1
	o.ContextTimeoutEnabled, o.DisableIdentity = true, true
	return &Cache{redis.NewClient(o)}, nil
}

// Close closes the connections.
func (c *Cache) Close() error { return c.of.Close() }

// Ping is for fleet.State.
func (c *Cache) Ping(ctx context.Context) error { return c.of.Ping(ctx).Err() }

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
var enter = redis.NewScript(rateLine + `
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
var leave = redis.NewScript(rateLine + `
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
	answer, err := enter.Run(ctx, c.of, keys, args...).Slice()
	if err != nil {
		return pass, err
	}
	which, _ := answer[0].(int64)
	if which > 0 {
		pass.Refused, _ = answer[1].(string)
		micros, _ := answer[2].(string)
		n, err := strconv.ParseInt(micros, 10, 64)
		pass.Owner, pass.Wait = v.Rates[which-1].Owner, time.Duration(n)*time.Microsecond
		return pass, err
	}
	left, _ := answer[1].([]any)
	for i, r := range v.Rates {
		n := int64(-1)
		if r.Requests > 0 {
			text, _ := left[i].(string)
			if n, err = strconv.ParseInt(text, 10, 64); err != nil {
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
	return leave.Run(ctx, c.of, keys, args...).Err()
}

// Renew is for fleet.State.
func (c *Cache) Renew(ctx context.Context, visits []fleet.Visit, _ time.Time) error {
	p := c.of.Pipeline()
	for _, v := range visits {
		for _, r := range v.Rates {
			if r.Parallel > 0 {
				p.ZAddXX(ctx, "bx:run:"+r.Owner, redis.Z{Score: float64(v.Until.UnixMicro()), Member: v.ID})
			}
		}
	}
	if p.Len() == 0 {
		return nil
	}
	_, err := p.Exec(ctx)
	return err
}

func itemKey(owner, key string) string { return "bx:kept:{" + owner + "}:" + key }

// Get is for fleet.State.
func (c *Cache) Get(ctx context.Context, owner string, keys []string, _ time.Time) ([][]byte, error) {
	out := make([][]byte, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	p := c.of.Pipeline()
	for _, k := range keys {
		p.GetEx(ctx, itemKey(owner, k), fleet.Keep)
	}
	answers, err := p.Exec(ctx)
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	for i, a := range answers {
		value, err := a.(*redis.StringCmd).Bytes()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		out[i] = value
	}
	return out, nil
}

// Put is for fleet.State.
func (c *Cache) Put(ctx context.Context, items []fleet.Item, _ time.Time) error {
	if len(items) == 0 {
		return nil
	}
	p := c.of.Pipeline()
	for _, it := range items {
		p.Set(ctx, itemKey(it.Owner, it.Key), it.Value, fleet.Keep)
	}
	_, err := p.Exec(ctx)
	return err
}

// scanned is how many keys Redis looks at for one answer.
const scanned = 1000

// Forget is for fleet.State.
func (c *Cache) Forget(ctx context.Context, owner string) error {
	found := c.of.Scan(ctx, 0, escaped(itemKey(owner, ""))+"*", scanned).Iterator()
	for found.Next(ctx) {
		if err := c.of.Unlink(ctx, found.Val()).Err(); err != nil {
			return err
		}
	}
	return found.Err()
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

// Cool is for fleet.State.
func (c *Cache) Cool(ctx context.Context, target string, until, now time.Time) error {
	p := c.of.Pipeline()
	p.ZAddArgs(ctx, coolingKey, redis.ZAddArgs{GT: true, Members: []redis.Z{{Score: float64(until.UnixMicro()), Member: target}}})
	p.ZRemRangeByScore(ctx, coolingKey, "-inf", strconv.FormatInt(now.UnixMicro(), 10))
	_, err := p.Exec(ctx)
	return err
}

// Cooling is for fleet.State.
func (c *Cache) Cooling(ctx context.Context, now time.Time) (map[string]time.Time, error) {
	found, err := c.of.ZRangeByScoreWithScores(ctx, coolingKey, &redis.ZRangeBy{Min: "(" + strconv.FormatInt(now.UnixMicro(), 10), Max: "+inf"}).Result()
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for _, z := range found {
		if name, ok := z.Member.(string); ok {
			out[name] = time.UnixMicro(int64(z.Score)).UTC()
		}
	}
	return out, nil
}
