package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Models, as make engines writes them: for Ollama with templates of their own.
var (
	ollamaModels = []string{"hermes", "native", "coder", "coderp", "plain"}
	llamaModels  = []string{"hermes", "coder", "plain"}
)

const (
	patience = 90 * time.Second // for one request
	question = "Read the file docs/abc.md"
	riddle   = "What is the secret word in the file docs/abc.md?"
	secret   = "plover"
)

// world is the servers and gateways that the checks share.
type world struct {
	dir     string // of the engines
	work    string // logs, homes, models
	bx      string
	repo    string // a repository with docs/abc.md
	ollama  *process
	llama   map[string]*process
	gateway *process            // before Ollama
	fronts  map[string]*process // before each llama-server
	running []*process
}

// process is a program that was started here. It leads a group of its own, which
// ends with it.
type process struct {
	*exec.Cmd
	url string
	log string // file
}

func newWorld(dir string) (w *world, err error) {
	for _, name := range []string{"ollama", "llama-server", "tiny-hermes.gguf"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("%s is not there: run make engines first", filepath.Join(dir, name))
		}
	}
	w = &world{dir: dir, llama: map[string]*process{}, fronts: map[string]*process{}}
	if w.work, err = os.MkdirTemp("", "bx-real"); err != nil {
		return nil, err
	}
	w.bx, w.repo = filepath.Join(w.work, "bx"), filepath.Join(w.work, "repo")
	if err := errors.Join(build(w.bx), w.makeRepo(), w.startServers()); err != nil {
		w.close(false)
		return nil, err
	}
	return w, nil
}

func (w *world) close(keep bool) {
	for _, p := range w.running {
		p.kill()
	}
	if keep {
		fmt.Println("logs in", w.work)
		return
	}
	_ = os.RemoveAll(w.work)
}

func (w *world) makeRepo() error {
	if err := os.MkdirAll(filepath.Join(w.repo, ".git"), 0o777); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(w.repo, "docs"), 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.repo, "docs", "abc.md"), []byte("The secret word is "+secret+".\n"), 0o666)
}

func (w *world) startServers() (err error) {
	if w.ollama, err = w.startOllama("ollama", address()); err != nil {
		return err
	}
	for _, m := range ollamaModels {
		cmd := exec.Command(filepath.Join(w.dir, "ollama"), "create", "tiny-"+m, "-f", filepath.Join(w.dir, m+".mf"))
		cmd.Env = append(os.Environ(), "HOME="+w.home("ollama"), "OLLAMA_HOST="+w.ollama.url)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ollama create tiny-%s: %w\n%s", m, err, out)
		}
	}
	for _, m := range llamaModels {
		if w.llama[m], err = w.startLlama(m, address()); err != nil {
			return err
		}
		if w.fronts[m], err = w.serve("serve-"+m, "OPENAI_BASE_URL="+w.llama[m].url+"/v1"); err != nil {
			return err
		}
	}
	w.gateway, err = w.serve("serve-ollama", "OLLAMA_HOST="+w.ollama.url)
	return err
}

func (w *world) startOllama(name, at string) (*process, error) {
	p, err := w.start(name, []string{"OLLAMA_HOST=" + at, "OLLAMA_MODELS=" + filepath.Join(w.work, "models"), "OLLAMA_KEEP_ALIVE=30m"}, at,
		filepath.Join(w.dir, "ollama"), "serve")
	if err != nil {
		return nil, err
	}
	return p, p.wait("/api/version")
}

func (w *world) startLlama(model, at string, flags ...string) (*process, error) {
	p, err := w.spawnLlama(model, at, flags...)
	if err != nil {
		return nil, err
	}
	return p, p.wait("/health")
}

// spawnLlama does not wait until the model is loaded.
func (w *world) spawnLlama(model, at string, flags ...string) (*process, error) {
	host, port, _ := net.SplitHostPort(at)
	args := append([]string{"-m", filepath.Join(w.dir, "tiny-"+model+".gguf"), "--alias", "tiny-" + model, "--jinja",
		"--host", host, "--port", port, "-t", "1", "-tb", "1", "-c", "8192", "--temp", "0"}, flags...)
	return w.start("llama-"+model, nil, at, filepath.Join(w.dir, "llama-server"), args...)
}

// serve starts a gateway that nobody configured.
func (w *world) serve(name, server string, args ...string) (*process, error) {
	at := address()
	p, err := w.start(name, []string{server}, at, w.bx, append([]string{"serve", "--explain", "--listen", at}, args...)...)
	if err != nil {
		return nil, err
	}
	return p, p.wait("/healthz")
}

// address is a free one.
func address() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer l.Close()
	return l.Addr().String()
}

// home is a home of a program's own.
func (w *world) home(name string) string {
	dir := filepath.Join(w.work, "home-"+name)
	_ = os.MkdirAll(dir, 0o777)
	return dir
}

// env is that of a user who has nothing but a home.
func (w *world) env(name string, more ...string) []string {
	home := w.home(name)
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CACHE_HOME=" + home}
	return append(env, more...)
}

func (w *world) start(name string, env []string, at, program string, args ...string) (*process, error) {
	log := filepath.Join(w.work, name+".log")
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{exec.Command(program, args...), "http://" + at, log}
	p.Env, p.Dir, p.Stdout, p.Stderr = w.env(name, env...), w.repo, out, out
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		return nil, err
	}
	w.running = append(w.running, p)
	return p, nil
}

// kill ends a process and those that it started.
func (p *process) kill() {
	if p.Process == nil || p.ProcessState != nil {
		return
	}
	_ = syscall.Kill(-p.Process.Pid, syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = p.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL)
		<-done
	}
}

// wait until a path is answered with 200.
func (p *process) wait(path string) error {
	var last string
	for range 300 {
		resp, err := http.Get(p.url + path)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			last = resp.Status
		} else {
			last = err.Error()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s%s: %s\n%s", p.url, path, last, p.said())
}

func (p *process) said() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// count is how often a text stands in the log.
func (p *process) count(text string) int { return strings.Count(p.said(), text) }

// loads are the starts of a runner so far.
func (w *world) loads() int {
	return w.ollama.count(`msg="starting runner" cmd="`) - w.ollama.count("--ollama-engine --port")
}

// tell runs a program of the user's to its end.
func (w *world) tell(env []string, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.repo, w.env("user", env...), time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, &out)
	}
	return out.String(), err
}

// get reads a JSON answer.
func get(url string) (any, error) {
	return fetch(http.MethodGet, url, nil)
}

func fetch(method, url string, body []byte) (any, error) {
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s %s", method, url, resp.Status, cut(string(b), 400))
	}
	return decode(b), nil
}
