// Command load puts bx serve under 1,000 streams at once and says what it took:
// requests, errors, memory, and what is left of goroutines and descriptors. The
// model's server is a process of its own. It exits with 1 if a bound is broken.
//
//	go run ./load -for 60s
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unifiedtoolprotocol/utp/bench/process"
)

func main() {
	streams := flag.Int("streams", 1000, "streams at once")
	long := flag.Duration("for", time.Minute, "how long")
	model := flag.Bool("model", false, "be the model's server")
	flag.Parse()
	run := func() error { return load(*streams, *long) }
	if *model {
		run = beModel
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// beModel streams a second of words and then a call in text.
func beModel() error {
	chunk := func(w io.Writer, delta, finish string) {
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	return process.Listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		c := http.NewResponseController(w)
		for range 20 {
			chunk(w, `{"content":"some more words of the answer "}`, "null")
			_ = c.Flush()
			time.Sleep(50 * time.Millisecond)
		}
		chunk(w, `{"content":"\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.go\"}}\n</tool_call>"}`, "null")
		chunk(w, "{}", `"stop"`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
}

const question = `{"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"Read it."}],"tools":[{"name":"read","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`

// The bounds: bytes of memory under load and at rest, where 25 MB are the program
// itself, which the system can take back, and 8 MB what it takes before any request.
const (
	mostUnderLoad = 180 << 20
	mostAtRest    = 48 << 20
)

func load(streams int, long time.Duration) error {
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bx, err := process.Bx(dir)
	if err != nil {
		return err
	}
	model, address, err := process.Self("-model")
	if err != nil {
		return err
	}
	defer process.End(model)
	serve, url, err := process.Serve(bx, dir, address)
	if err != nil {
		return err
	}
	defer process.End(serve)
	return measure(serve.Process.Pid, url+"/v1/messages", streams, long)
}

func measure(pid int, url string, streams int, long time.Duration) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	for range 10 {
		if err := ask(client, url); err != nil {
			return err
		}
	}
	client.CloseIdleConnections()
	time.Sleep(time.Second)
	before := process.Descriptors(pid)
	var done, failed, most atomic.Int64
	stop := time.Now().Add(long)
	var wg sync.WaitGroup
	var first sync.Once
	for range streams {
		wg.Go(func() {
			for time.Now().Before(stop) {
				if err := ask(client, url); err != nil {
					failed.Add(1)
					first.Do(func() { fmt.Println("first error:", err) })
				}
				done.Add(1)
			}
		})
	}
	wg.Go(func() {
		for time.Now().Before(stop) {
			most.Store(max(most.Load(), process.Memory(pid)))
			time.Sleep(200 * time.Millisecond)
		}
	})
	wg.Wait()
	client.CloseIdleConnections()
	fmt.Printf("%d MB at most, %d MB at the end\n", most.Load()>>20, process.Memory(pid)>>20)
	var rest int64
	var after int
	for range 60 { // memory is given back some time after the last request, idle connections after 90 s
		time.Sleep(2 * time.Second)
		if rest, after = process.Memory(pid), process.Descriptors(pid); rest <= mostAtRest && after <= before+4 {
			break
		}
	}
	fmt.Printf("%d streams at once for %s: %d requests, %d errors, %d MB at most, %d MB at rest, %d descriptors before and %d after\n",
		streams, long, done.Load(), failed.Load(), most.Load()>>20, rest>>20, before, after)
	if failed.Load() > 0 || most.Load() > mostUnderLoad || rest > mostAtRest || after > before+4 {
		return errors.New("a bound is broken: 0 errors, 180 MB under load, 48 MB at rest, no more descriptors than before")
	}
	return nil
}

// ask wants a whole reply with its call.
func ask(c *http.Client, url string) error {
	resp, err := c.Post(url, "application/json", strings.NewReader(question))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"tool_use"`)) || !bytes.Contains(body, []byte("message_stop")) {
		return fmt.Errorf("%s: %.300s", resp.Status, body)
	}
	return nil
}
