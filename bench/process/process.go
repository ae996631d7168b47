// Package process runs the programs that are measured, each in a process of its
// own, and reads what they take.
package process

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Bx builds bx in dir as make release builds it.
func Bx(dir string) (path string, err error) {
	path = filepath.Join(dir, "bx")
	build := exec.Command("go", "build", "-C", "..", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/bx")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

// Serve starts bx serve with its default settings in front of a server with
// OpenAI's API, and waits until it answers. At the end, End it.
func Serve(bx, dir, model string, env ...string) (cmd *exec.Cmd, url string, err error) {
	listen, err := freePort()
	if err != nil {
		return nil, "", err
	}
	cmd = exec.Command(bx, "serve", "--listen", listen, "--root", dir)
	cmd.Env = append([]string{"HOME=" + dir, "OPENAI_BASE_URL=" + model + "/v1"}, env...)
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	if err := up("http://" + listen + "/healthz"); err != nil {
		End(cmd)
		return nil, "", err
	}
	return cmd, "http://" + listen, nil
}

// Self starts this program once more, in a role of its own. It prints its
// address first. At the end, End it.
func Self(args ...string) (cmd *exec.Cmd, url string, err error) {
	cmd = exec.Command(os.Args[0], args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		End(cmd)
		return nil, "", fmt.Errorf("%v says nothing: %w", args, err)
	}
	return cmd, "http://" + strings.TrimSpace(line), nil
}

// Listen is what a role serves: it prints its address and serves for good.
func Listen(h http.Handler) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, h)
}

// End ends a process.
func End(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// Memory is the resident set of a process in bytes, Peak the most that it was.
func Memory(pid int) int64 { return status(pid, "VmRSS:") }

// Peak is the most that Memory was.
func Peak(pid int) int64 { return status(pid, "VmHWM:") }

func status(pid int, field string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// Descriptors counts the files and connections that a process has open.
func Descriptors(pid int) int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(list)
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// up waits until a server answers.
func up(url string) error {
	for range 100 {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s does not answer", url)
}
