package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/unifiedtoolprotocol/utp/transcript"
)

// worker is an Ollama whose model talks on and on, writes files, or has a command
// run, and answers whatever is asked when it has gone on.
type worker struct {
	*httptest.Server
	does string // text, write, shell, ask
	mark string // of the command's processes
}

const writtenFiles, writtenBytes = 8, 1 << 17

func newWorker(t *testing.T, does, mark string) *worker {
	w := &worker{does: does, mark: mark}
	w.Server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.Close)
	return w
}

func (k *worker) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/chat" {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	say := func(content string, calls []any, done bool) {
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "done": done, "message": map[string]any{"role": "assistant", "content": content, "tool_calls": calls}})
		w.(http.Flusher).Flush()
	}
	if bytes.Contains(body, []byte("Go on.")) || bytes.Contains(body, []byte(`"role":"tool"`)) {
		say("Gone on.", nil, true)
		return
	}
	say("I begin. ", nil, false)
	for i := 0; k.does == "text"; i++ {
		say(fmt.Sprintf("word%d ", i), nil, false)
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Millisecond):
		}
	}
	say("", k.calls(), true)
}

func (k *worker) calls() (out []any) {
	call := func(name string, args map[string]any) {
		out = append(out, map[string]any{"function": map[string]any{"name": name, "arguments": args}})
	}
	switch k.does {
	case "shell":
		call("shell", map[string]any{"command": fmt.Sprintf("echo more >> a.txt; (sleep %s & sleep %s); echo late > late.txt", k.mark, k.mark)})
	case "ask":
		call("write_file", map[string]any{"path": "a.txt", "content": "new"})
	case "write":
		for i := range writtenFiles {
			call("write_file", map[string]any{"path": fmt.Sprintf("f%d.txt", i), "content": newText(i), "mode": "rewrite"})
		}
	}
	return out
}

func oldText(i int) string { return strings.Repeat(fmt.Sprintf("old %d\n", i), writtenBytes/8) }
func newText(i int) string { return strings.Repeat(fmt.Sprintf("new line %d\n", i), writtenBytes/12) }

// Killed and stopped while text streams, a question waits, files are written or a
// command runs: what was on the screen is in the session, the next question goes
// on, every file is whole, bx undo takes back what was written, and no process is
// left. -long tries 50 points of each.
//
// contract: C-06 C-07
func TestKilledAtAnyPointNothingIsLost(t *testing.T) {
	points := 1
	if *long {
		points = 50
	}
	situations := []string{"text", "ask", "write", "shell"}
	if why := noSandbox(t.Context()); why != "" {
		situations = situations[:3] // what a command leaves running without a sandbox nobody ends
		t.Logf("no command is run: %s", why)
	}
	for _, does := range situations {
		for _, signal := range []os.Signal{syscall.SIGKILL, os.Interrupt} {
			for i := range points {
				t.Run(fmt.Sprintf("%s/%s/%d", does, signal, i), func(t *testing.T) {
					t.Parallel()
					endAt(t, does, signal, time.Duration(i)*4*time.Millisecond+7*time.Millisecond)
				})
			}
		}
	}
}

// endAt ends bx some time after it has begun to do what it shall be ended in.
func endAt(t *testing.T, does string, signal os.Signal, after time.Duration) {
	u := newUser(t)
	mark := fmt.Sprintf("3%d", 100000+time.Now().UnixNano()%800000)
	server := newWorker(t, does, mark)
	u.write(t, "a.txt", "old")
	for i := range writtenFiles {
		u.write(t, fmt.Sprintf("f%d.txt", i), oldText(i))
	}
	before := contents(t, u.repo)
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(u.bx, args...)
		cmd.Dir, cmd.Env = u.repo, append(environment(u.home), "OLLAMA_HOST="+server.URL, "PATH="+os.Getenv("PATH"), "TERM=dumb")
		return cmd
	}
	args := []string{"--model", "m", "--tier", "run", "--output-format", "stream-json", "Work."}
	if does != "ask" {
		args = append([]string{"--allow", "run", "--allow", "shell"}, args...)
	}
	cmd := run(args...)
	begun := map[string]string{"text": `"kind":"text"`, "ask": `[y/n`, "write": `"decision":"allowed"`, "shell": `"decision":"allowed"`}[does]
	screen := &waiting{want: begun, seen: make(chan bool)}
	cmd.Stdout, cmd.Stderr = screen, screen
	if does == "ask" || does == "shell" {
		giveTerminal(t, cmd, screen)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	if why := screen.wait(cmd.Process.Pid, ended); why != "" {
		_ = cmd.Process.Kill()
		<-ended
		t.Fatalf("%q did not come, bx %s: %s", begun, why, screen)
	}
	time.Sleep(after)
	_ = cmd.Process.Signal(signal)
	<-ended
	if code := cmd.ProcessState.ExitCode(); signal == os.Interrupt && code != exitInterrupted && code != 0 {
		t.Errorf("exit code %d: %s", code, screen)
	}
	checkScreen(t, screen.String(), func(args ...string) (string, error) {
		out, err := run(args...).CombinedOutput()
		return string(out), err
	})
	noProcess(t, mark)
	checkFiles(t, u.repo, before, does)

	answer, err := run("--model", "m", "-c", "Go on.").CombinedOutput()
	if err != nil || !strings.Contains(string(answer), "Gone on.") {
		t.Errorf("the next question: %v\n%s", err, answer)
	}
	if does == "shell" && signal == syscall.SIGKILL {
		return // what a command changed until bx was killed cannot be taken back
	}
	for out, err := run("undo").CombinedOutput(); err == nil; out, err = run("undo").CombinedOutput() {
		if strings.Contains(string(out), "changed since") {
			t.Errorf("undo: %s", out)
			break
		}
	}
	if after := contents(t, u.repo); !maps.Equal(before, after) {
		t.Errorf("after bx undo the files are %v", differences(before, after))
	}
}

// checkScreen looks for what was printed in bx sessions show.
func checkScreen(t *testing.T, screen string, bx func(args ...string) (string, error)) {
	t.Helper()
	id, said, names := "", "", map[string]int{}
	for line := range strings.Lines(screen) {
		var e struct {
			Session string
			transcript.Entry
		}
		if json.Unmarshal([]byte(strings.TrimSpace(line)), &e) != nil {
			continue
		}
		id = e.Session
		switch e.Kind {
		case transcript.Text:
			said += e.Text
		case transcript.Call:
			names[e.Call.Name]++
		}
	}
	show, err := bx("sessions", "show", id)
	if err != nil || !strings.Contains(show, "> Work.") || !strings.Contains(show, strings.TrimSpace(said)) {
		t.Errorf("said %q, kept %v\n%s", said, err, show)
	}
	for name, n := range names {
		if strings.Count(show, "  "+name+" ") < n {
			t.Errorf("%d calls of %s were on the screen:\n%s", n, name, show)
		}
	}
}

// checkFiles wants every file as it was or as it was to be.
func checkFiles(t *testing.T, repo string, before map[string]string, does string) {
	t.Helper()
	for name, now := range contents(t, repo) {
		was, known := before[name]
		var i int
		_, err := fmt.Sscanf(name, "f%d.txt", &i)
		switch {
		case strings.HasPrefix(filepath.Base(name), ".bx-"): // removed at the next start
		case known && now == was, err == nil && now == newText(i):
		case name == "a.txt" && does == "shell" && now == "oldmore\n":
		default:
			t.Errorf("%s holds %d bytes: %.20q", name, len(now), now)
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func differences(a, b map[string]string) (out []string) {
	for name := range b {
		if a[name] != b[name] {
			out = append(out, fmt.Sprintf("%s: %d bytes, %.20q", name, len(b[name]), b[name]))
		}
	}
	for name := range a {
		if _, ok := b[name]; !ok {
			out = append(out, name+" is gone")
		}
	}
	return out
}

// noProcess waits until no process has a word in its command line. One that sleeps
// is left; one that is killed runs once more, however late.
func noProcess(t *testing.T, mark string) {
	t.Helper()
	watched := map[int]*watch{}
	for {
		left := ""
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range lines {
			if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(mark)) {
				left = f + " " + string(b)
			}
		}
		if left == "" {
			return
		}
		pid := 0
		_, _ = fmt.Sscanf(left, "/proc/%d/", &pid)
		if watched[pid] == nil {
			watched[pid] = &watch{pid: pid}
		}
		if why := watched[pid].look(); why != "" {
			t.Errorf("a process is left that %s: %s", why, left)
			return
		}
		time.Sleep(pause)
	}
}

// A watch tells a process that is slow, because others have the processors, from
// one that will do nothing more. It is to look every pause.
type watch struct {
	pid    int
	used   time.Duration // of processors, by all its threads
	asleep int           // looks in a row that found it so
}

const pause = 100 * time.Millisecond

// look returns why the process is not to be waited for, or "".
func (w *watch) look() string {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", w.pid))
	var used time.Duration
	sleeps := true // and is not ready to run, on a disk or stopped
	for _, thread := range threads {
		var d time.Duration
		b, _ := os.ReadFile(thread + "/schedstat")
		_, _ = fmt.Sscan(string(b), (*int64)(&d))
		used += d
		b, _ = os.ReadFile(thread + "/stat")
		sleeps = sleeps && bytes.HasPrefix(b[bytes.LastIndexByte(b, ')')+1:], []byte(" S"))
	}
	w.asleep++
	if !sleeps || used-w.used > pause/10 {
		w.asleep = 0
	}
	w.used = used
	switch {
	case w.asleep > 300:
		return "has been asleep for 30 s"
	case used > time.Minute:
		return "has used a minute of a processor"
	}
	return ""
}

// waiting is a screen that tells when something stands on it.
type waiting struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	seen chan bool
	told bool
}

func (w *waiting) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := max(w.text.Len()-len(w.want), 0)
	w.text.Write(b)
	if !w.told && bytes.Contains(w.text.Bytes()[from:], []byte(w.want)) {
		w.told = true
		close(w.seen)
	}
	return len(b), nil
}

// wait waits until that stands there, as long as the process works on it, and
// returns why it will not come.
func (w *waiting) wait(pid int, ended <-chan bool) string {
	process := watch{pid: pid}
	for {
		select {
		case <-w.seen:
			return ""
		case <-ended:
			select {
			case <-w.seen:
				return ""
			default:
				return "has ended"
			}
		case <-time.After(pause):
		}
		if why := process.look(); why != "" {
			return why
		}
	}
}

func (w *waiting) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// giveTerminal makes a terminal of its own a command's standard input, and shows
// on the screen what is written to it.
func giveTerminal(t *testing.T, cmd *exec.Cmd, screen io.Writer) {
	t.Helper()
	main, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { main.Close() })
	n, err := unix.IoctlGetInt(int(main.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(main.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { side.Close() })
	cmd.Stdin = side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	go io.Copy(screen, main)
}
