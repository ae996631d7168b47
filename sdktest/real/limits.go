package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var limitChecks = concat(
	both("a call that the output limit cuts", outputLimit),
	[]check{
		{"llama-server", "a prompt that is too long", overflow},
		{"ollama", "no messages in OpenAI's API", noMessages},
		{"llama-server", "requests after refused ones", afterRefusals},
	},
)

// afterRefusals: llama-server ends the connection with every error, and bx keeps
// connections.
func afterRefusals(w *world) (string, error) {
	picture := []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,aGVsbG8="}}}}}
	for i := range 20 {
		got, err := apis[0].ask(w.fronts["plain"].url, asked{model: "tiny-plain", more: map[string]any{"messages": picture}})
		if err == nil && !strings.Contains(got.problem, "image input is not supported") {
			err = fmt.Errorf("a picture: HTTP %d %s", got.status, got.problem)
		}
		if err != nil {
			return "", err
		}
		if got, err = apis[0].ask(w.fronts["plain"].url, greeting); err == nil && got.text == "" {
			err = fmt.Errorf("request %d: HTTP %d %s", i, got.status, got.problem)
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// outputLimit ends in the API's own word for it, and never in half a call's text.
func outputLimit(w *world, fronts []front) (string, error) {
	limits := map[string]map[string]any{
		"chat": {"max_tokens": 30}, "responses": {"max_output_tokens": 30}, "messages": {"max_tokens": 30},
		"gemini": {"generationConfig": map[string]any{"maxOutputTokens": 30}}, "ollama": {"options": map[string]any{"num_predict": 30}},
	}
	length := []string{"length", "max_tokens", "MAX_TOKENS", "incomplete"}
	n := 0
	err := all(fronts, func(f front) error {
		return all(f.models, func(model string) error {
			return all(apis, func(a api) error {
				return all([]bool{false, true}, func(stream bool) error {
					got, err := a.ask(f.url, asked{model: model, text: question, tools: true, stream: stream, more: limits[a.name]})
					if err != nil {
						return err
					}
					n++
					if !slices.Contains(length, got.stop) {
						return fmt.Errorf("HTTP %d %s, ends in %q, text %q, calls %q", got.status, got.problem, got.stop, got.text, got.calls)
					}
					return nil
				})
			})
		})
	})
	return fmt.Sprintf("%d replies", n), err
}

// overflow: the client gets the server's own refusal in its API's form.
func overflow(w *world) (string, error) {
	q := asked{model: "tiny-plain", text: strings.Repeat("several words of text ", 500)}
	return "", all(apis, func(a api) error {
		got, err := a.ask(w.fronts["plain"].url, q)
		if err != nil {
			return err
		}
		if got.status != http.StatusBadRequest || !strings.Contains(got.raw, "context") && !strings.Contains(got.raw, "too long") {
			return fmt.Errorf("HTTP %d %s", got.status, cut(got.raw, 300))
		}
		return nil
	})
}

func noMessages(w *world) (string, error) {
	got, err := apis[0].ask(w.gateway.url, asked{model: "tiny-plain", more: map[string]any{"messages": []any{}}})
	if err == nil && got.status != http.StatusBadRequest {
		err = fmt.Errorf("HTTP %d %s, want 400", got.status, got.raw)
	}
	return "", err
}

var endChecks = concat(
	both("a client that hangs up ends the work", hangUp),
	[]check{
		{"ollama", "cold start, first token", coldStart},
		{"ollama", "a runner that is killed", killedRunner},
		{"llama-server", "a server that is loading", stillLoading},
		{"both", "bx serve before its server", serveFirst},
	},
)

// runners are the processes that work: Ollama's children, or llama-server itself.
func (w *world) runners(f front) (pids []int) {
	if f.name != "ollama" {
		return []int{w.llama[strings.TrimPrefix(f.models[0], "tiny-")].Process.Pid}
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		fields := stat(file)
		if len(fields) > 3 && fields[1] == strconv.Itoa(w.ollama.Process.Pid) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// stat is what stands behind a process's name: its state, its parent, …
func stat(file string) []string {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)
}

// ticks is the CPU time of processes.
func ticks(pids []int) (sum int) {
	for _, pid := range pids {
		if fields := stat(fmt.Sprintf("/proc/%d/stat", pid)); len(fields) > 12 {
			for _, f := range fields[11:13] {
				n, _ := strconv.Atoi(f)
				sum += n
			}
		}
	}
	return sum
}

// endless is a question that the models answer without end.
var endless = asked{text: "Please count.", max: 7000}

// hangUp closes a stream after some lines, and leaves a whole reply after a while.
func hangUp(w *world, fronts []front) (string, error) {
	if err := w.unloadAll(); err != nil { // so that one runner is left
		return "", err
	}
	var ended []time.Duration
	err := all(fronts, func(f front) error {
		return all([]bool{true, false}, func(stream bool) error {
			q := endless
			q.model, q.stream = f.models[len(f.models)-1], stream
			if _, err := apis[0].ask(f.url, asked{model: q.model, text: "Say hello"}); err != nil {
				return err
			}
			before := ticks(w.runners(f))
			if err := leave(f.url, q); err != nil {
				return err
			}
			if worked := ticks(w.runners(f)) - before; worked < 2 {
				return fmt.Errorf("nothing was worked: %d ticks", worked)
			}
			took, err := calm(w.runners(f))
			ended = append(ended, took)
			return err
		})
	})
	if len(ended) == 0 {
		return "", err
	}
	return fmt.Sprintf("work ended %s after", median(ended)), err
}

// leave asks and hangs up while the answer is written.
func leave(url string, q asked) error {
	ctx, hang := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer hang()
	resp, err := apis[0].send(ctx, url, q)
	if err != nil {
		if ctx.Err() != nil && !q.stream {
			return nil
		}
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for n := 0; lines.Scan(); n++ {
		if n == 600 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the answer ended by itself: HTTP %d, %v", resp.StatusCode, lines.Err())
}

// calm waits until processes do nothing for half a second, and says since when.
func calm(pids []int) (time.Duration, error) {
	if len(pids) == 0 {
		return 0, errors.New("there is no runner")
	}
	began := time.Now()
	last, since := ticks(pids), time.Now()
	for time.Since(began) < 10*time.Second {
		time.Sleep(50 * time.Millisecond)
		if now := ticks(pids); now > last {
			last, since = now, time.Now()
		}
		if time.Since(since) > 500*time.Millisecond {
			return since.Sub(began), nil
		}
	}
	return 10 * time.Second, errors.New("it still works after 10 s")
}

func coldStart(w *world) (string, error) {
	var cold, warm time.Duration
	for _, to := range []*time.Duration{&cold, &warm} {
		if to == &cold {
			if err := w.unloadAll(); err != nil {
				return "", err
			}
		}
		q := greeting
		q.stream = true
		got, err := apis[0].ask(w.gateway.url, q)
		if err != nil || got.text == "" {
			return "", fmt.Errorf("HTTP %d %s%q: %w", got.status, got.problem, got.text, err)
		}
		*to = got.first
	}
	return fmt.Sprintf("cold %s, loaded %s", median([]time.Duration{cold}), median([]time.Duration{warm})), nil
}

// killedRunner: the client learns of it, and the next request is answered.
func killedRunner(w *world) (string, error) {
	if err := w.unloadAll(); err != nil {
		return "", err
	}
	type outcome struct {
		answer
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		q := endless
		q.model, q.stream = "tiny-plain", true
		got, err := apis[0].ask(w.gateway.url, q)
		done <- outcome{got, err}
	}()
	var pids []int
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if pids = w.runners(w.front("ollama")); len(pids) > 0 && ticks(pids) > 50 {
			break
		}
	}
	if len(pids) == 0 {
		return "", errors.New("there is no runner")
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	got := <-done
	if got.err == nil && got.status == http.StatusOK && got.problem == "" && got.stop != "" {
		return "", fmt.Errorf("the client sees a good end: %q, %s", got.stop, cut(got.raw, 300))
	}
	next, err := apis[0].ask(w.gateway.url, greeting)
	if err == nil && next.text == "" {
		err = fmt.Errorf("the next request: HTTP %d %s", next.status, next.problem)
	}
	return "", err
}

// stillLoading: a request at a llama-server that has just begun is answered.
func stillLoading(w *world) (string, error) {
	at := address()
	front, err := w.serve("serve-loading", "OPENAI_BASE_URL=http://"+at+"/v1")
	if err != nil {
		return "", err
	}
	p, err := w.spawnLlama("plain", at)
	if err != nil {
		return "", err
	}
	began := time.Now()
	var got answer
	for time.Since(began) < 30*time.Second {
		if got, err = apis[0].ask(front.url, greeting); err != nil {
			return "", err
		}
		if got.status == http.StatusOK {
			break
		}
		if got.status < 500 {
			return "", fmt.Errorf("HTTP %d %s: clients do not try that again", got.status, got.problem)
		}
		time.Sleep(50 * time.Millisecond)
	}
	front.kill()
	p.kill()
	if got.text == "" {
		return "", fmt.Errorf("HTTP %d %s", got.status, got.problem)
	}
	return fmt.Sprintf("answered after %s", median([]time.Duration{time.Since(began)})), nil
}

// serveFirst starts bx serve, and its server afterwards.
func serveFirst(w *world) (string, error) {
	at := address()
	front, err := w.serve("serve-first", "OLLAMA_HOST=http://"+at)
	if err != nil {
		return "", err
	}
	defer front.kill()
	if _, err := get(front.url + "/readyz"); err == nil {
		return "", errors.New("/readyz says ready without a server")
	}
	server, err := w.startOllama("ollama-late", at)
	if err != nil {
		return "", err
	}
	defer server.kill()
	began := time.Now()
	for time.Since(began) < 20*time.Second {
		got, err := apis[0].ask(front.url, greeting)
		if err != nil {
			return "", err
		}
		if got.text != "" {
			_, err := get(front.url + "/readyz")
			return fmt.Sprintf("answers %s after its server", median([]time.Duration{time.Since(began)})), err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return "", errors.New("no answer 20 s after its server began")
}
