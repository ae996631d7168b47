//go:build unix

package reading_test

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

// The texts that typescript/bench.mjs reads too, and what it compares: the median by the
// clock and the mean of processor time.
func BenchmarkDesk(b *testing.B) {
	const sentence = "The forecast for the week says that it will rain on most days, with some sun on Thursday. "
	prose := strings.Repeat(sentence, (1<<20)/len(sentence))
	call := `<tool_call>{"name": "now", "arguments": {"n": "2", "note": "` + strings.Repeat("x", 60) + `"}}</tool_call>`
	for name, text := range map[string]string{"prose": prose, "long": prose + call, "reply": strings.Repeat(sentence, 10) + call} {
		b.Run(name, func(b *testing.B) {
			h, err := reading.NewDesk(reading.Options{}).Hints([]byte(deskHints))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			var took []time.Duration
			before := processorTime(b)
			for b.Loop() {
				start := time.Now()
				r, err := h.Read(text)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(r); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns")
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(len(took)), "cpu-ns")
		})
	}
}

// processorTime is what this process has taken.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
