package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// traceFile gets a line of JSON for every piece of every request.
type traceFile struct {
	name string
	mu   sync.Mutex
	f    *os.File
}

// openTrace begins a file that only the user may read.
func openTrace(dir string) (*traceFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	t := &traceFile{name: filepath.Join(dir, "serve-"+time.Now().UTC().Format("20060102T150405.000000000")+".jsonl")}
	var err error
	if t.f, err = os.OpenFile(t.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	return t, nil
}

// write does not fail: the request is worth more than its trace.
func (t *traceFile) write(piece gateway.Trace) {
	line, err := json.Marshal(piece)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.f.Write(append(line, '\n'))
}

func (t *traceFile) close() { _ = t.f.Close() }
