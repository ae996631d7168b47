package gateway

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	figures "runtime/metrics"
	"strconv"
	"strings"
)

// gauge is a figure without labels, in the text form of Prometheus.
type gauge struct {
	name, kind, help string
	value            float64
}

func (g gauge) text(b *strings.Builder) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", g.name, g.help, g.name, g.kind, g.name, strconv.FormatFloat(g.value, 'g', -1, 64))
}

// process writes the metrics of the process, under the names that Prometheus's own
// libraries use. Source: Prometheus, "Writing client libraries".
func process(b *strings.Builder, version string) {
	fmt.Fprintf(b, "# HELP bx_build_info The program.\n# TYPE bx_build_info gauge\nbx_build_info{%s} 1\n", labels(label("version", version), label("goversion", runtime.Version())))
	fmt.Fprintf(b, "# HELP go_info The Go environment.\n# TYPE go_info gauge\ngo_info{%s} 1\n", label("version", runtime.Version()))
	for _, g := range append(ofGo(), ofLinux()...) {
		g.text(b)
	}
}

func ofGo() []gauge {
	threads, _ := runtime.ThreadCreateProfile(nil)
	of := []gauge{
		{"go_goroutines", "gauge", "Goroutines that exist.", float64(runtime.NumGoroutine())},
		{"go_threads", "gauge", "Threads of the system that were made.", float64(threads)},
	}
	names := []struct{ source, name, kind, help string }{
		{"/gc/gogc:percent", "go_gc_gogc_percent", "gauge", "GOGC in force."},
		{"/gc/gomemlimit:bytes", "go_gc_gomemlimit_bytes", "gauge", "GOMEMLIMIT in force."},
		{"/gc/cycles/total:gc-cycles", "go_gc_cycles_total_gc_cycles_total", "counter", "Garbage collections that are over."},
		{"/memory/classes/heap/objects:bytes", "go_memstats_alloc_bytes", "gauge", "Bytes of objects in use or not collected yet."},
		{"/memory/classes/total:bytes", "go_memstats_sys_bytes", "gauge", "Bytes had from the system."},
	}
	samples := make([]figures.Sample, len(names))
	for i, n := range names {
		samples[i].Name = n.source
	}
	figures.Read(samples)
	for i, n := range names {
		if samples[i].Value.Kind() == figures.KindUint64 {
			of = append(of, gauge{n.name, n.kind, n.help, float64(samples[i].Value.Uint64())})
		}
	}
	return of
}

// ticks is how many ticks of /proc make a second.
const ticks = 100

// ofLinux reads /proc; other systems have none of it.
// Source: proc_pid_stat(5), proc_pid_limits(5).
func ofLinux() (of []gauge) {
	stat, _ := os.ReadFile("/proc/self/stat")
	_, after, _ := bytes.Cut(stat, []byte(") "))
	f := strings.Fields(string(after)) // f[0] is field 3
	if len(f) < 22 {
		return nil
	}
	number := func(s string) float64 {
		if s == "unlimited" {
			return math.Inf(1)
		}
		n, _ := strconv.ParseFloat(s, 64)
		return n
	}
	of = append(of,
		gauge{"process_cpu_seconds_total", "counter", "Time on processors, of the program and the system for it.", (number(f[11]) + number(f[12])) / ticks},
		gauge{"process_virtual_memory_bytes", "gauge", "Virtual memory.", number(f[20])},
		gauge{"process_resident_memory_bytes", "gauge", "Memory in use.", number(f[21]) * float64(os.Getpagesize())})
	if booted := lineOf("/proc/stat", "btime "); len(booted) > 0 {
		of = append(of, gauge{"process_start_time_seconds", "gauge", "When it was started, since 1970.", number(booted[0]) + number(f[19])/ticks})
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		of = append(of, gauge{"process_open_fds", "gauge", "File descriptors in use.", float64(len(open))})
	}
	if limit := lineOf("/proc/self/limits", "Max open files "); len(limit) > 0 {
		of = append(of, gauge{"process_max_fds", "gauge", "File descriptors that may be in use.", number(limit[0])})
	}
	return of
}

// lineOf returns the words after the beginning of a line of a file.
func lineOf(file, begins string) []string {
	text, _ := os.ReadFile(file)
	for l := range strings.SplitSeq(string(text), "\n") {
		if after, found := strings.CutPrefix(l, begins); found {
			return strings.Fields(after)
		}
	}
	return nil
}
