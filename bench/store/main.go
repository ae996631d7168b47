// Command store compares bx serve with and without its store of events, over real
// HTTP: pairs of equal loads on two gateways that run side by side, one of which
// has DO_NOT_TRACK set. It says by how much the one with the store takes longer, and
// uses more processor time, with the interval that holds the true difference with
// 95 %. It exits with 1 if the interval of the time leaves 5 %.
//
//	go run ./store -pairs 20 -n 2000
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unifiedtoolprotocol/utp/bench/process"
)

func main() {
	pairs := flag.Int("pairs", 150, "pairs of loads")
	n := flag.Int("n", 2000, "requests a load")
	model := flag.Bool("model", false, "be the model's server")
	flag.Parse()
	run := func() error { return compare(*pairs, *n) }
	if *model {
		run = beModel
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

// beModel answers with a call in text at once.
func beModel() error {
	const reply = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"I look.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.go\",}}\n</tool_call>"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`
	return process.Listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		fmt.Fprint(w, reply)
	}))
}

const question = `{"model":"m","messages":[{"role":"user","content":"Read it."}],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]}`

// side is a gateway.
type side struct {
	url string
	pid int
}

func compare(pairs, n int) error {
	dir, err := os.MkdirTemp("", "store")
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
	var sides [2]side // without and with the store
	for i, env := range []string{"DO_NOT_TRACK=1", "XDG_DATA_HOME=" + dir + "/data"} {
		serve, url, err := process.Serve(bx, dir, address, env)
		if err != nil {
			return err
		}
		defer process.End(serve)
		sides[i] = side{url + "/v1/chat/completions", serve.Process.Pid}
		if err := sides[i].load(n); err != nil { // warm
			return err
		}
	}
	var longer, busier figures
	for pair := range pairs {
		var took, used [2]float64
		for k := range 2 {
			i := (k + pair) % 2 // each goes first as often as the other
			before, began := cpu(sides[i].pid), time.Now()
			if err := sides[i].load(n); err != nil {
				return err
			}
			took[i], used[i] = time.Since(began).Seconds(), cpu(sides[i].pid)-before
		}
		longer.add(100 * (took[1]/took[0] - 1))
		busier.add(100 * (used[1]/used[0] - 1))
	}
	events, err := written(dir)
	if err != nil {
		return err
	}
	low, high := longer.interval()
	fmt.Printf("%d pairs of %d requests; %d events in the store, %d requests\n", pairs, n, events, (pairs+1)*n)
	fmt.Printf("with the store: time %+.1f %% (%+.1f to %+.1f), processor %s\n", longer.mean(), low, high, busier)
	if low < -5 || high > 5 {
		return errors.New("the interval leaves 5 %")
	}
	return nil
}

// load sends n requests, four at once.
func (s side) load(n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	failed := make(chan error, 4)
	for range 4 {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := ask(s.url); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

// ask wants a whole reply with its call.
func ask(url string) error {
	resp, err := http.Post(url, "application/json", strings.NewReader(question))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"tool_calls"`))) {
		err = fmt.Errorf("%s: %.300s", resp.Status, body)
	}
	return err
}

// cpu is the processor time of a process so far, in seconds: of its threads, which
// are counted in nanoseconds. Source: proc(5), schedstat.
func cpu(pid int) (seconds float64) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			ran, _, _ := strings.Cut(string(text), " ")
			n, _ := strconv.ParseFloat(ran, 64)
			seconds += n / 1e9
		}
	}
	return seconds
}

// written counts the lines of the segments.
func written(dir string) (n int, err error) {
	time.Sleep(1500 * time.Millisecond) // what is held is written after a second
	root := dir + "/data/bx/events"
	names, err := os.ReadDir(root)
	for _, e := range names {
		text, err := os.ReadFile(root + "/" + e.Name())
		if err != nil {
			return 0, err
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n, err
}

// figures are differences in percent.
type figures []float64

func (f *figures) add(x float64) { *f = append(*f, x) }

func (f figures) mean() (m float64) {
	for _, x := range f {
		m += x / float64(len(f))
	}
	return m
}

// interval holds the true mean with 95 % (Student's t for about 20 pairs).
func (f figures) interval() (low, high float64) {
	m, squares := f.mean(), 0.0
	for _, x := range f {
		squares += (x - m) * (x - m)
	}
	n := float64(len(f))
	half := 2.1 * math.Sqrt(squares/max(1, n-1)/n)
	return m - half, m + half
}

func (f figures) String() string {
	low, high := f.interval()
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", f.mean(), low, high)
}
