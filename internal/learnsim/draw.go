package learnsim

import (
	"fmt"
	"strings"
)

// Table gives results as a table of Markdown.
func Table(rs []Result) string {
	var b strings.Builder
	b.WriteString("| | conversations of | best form leads | regret | trials (most of a run) | by credit | a change is proposed | leader moved by the broken key |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range rs {
		regret, moved := "–", "–"
		if r.Lost > 0 {
			regret = fmt.Sprintf("%.2f", r.Lost)
		}
		if r.Broken > 0 {
			moved = share(r.Moved)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s (%s) | %s | %s | %s |\n", r.Name, r.Length, share(r.Led), regret,
			share(r.Tried), share(r.TriedBy), share(r.Credit), share(r.Changed), moved)
	}
	return b.String()
}

func share(p float64) string { return fmt.Sprintf("%.1f %%", 100*p) }

// The size of a plot, and of the field in it.
const (
	width, height            = 640, 260
	left, right, top, bottom = 50, 620, 30, 220
)

// strokes are the colours of the lines, one for each length.
var strokes = []string{"#0b6bcb", "#c2410c", "#15803d"}

// Plot draws as SVG in how many of the runs the best form leads, call by call:
// the results of one scene, a line each.
func Plot(rs []Result) string {
	s := rs[0].Scene
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img">`, width, height)
	line(`<title>%s: %s</title>`, s.Name, s.About)
	line(`<rect width="%d" height="%d" fill="#fff"/>`, width, height)
	line(`<text x="%d" y="18" fill="#222">%s: %s. The best form leads in … of %d runs</text>`, left, s.Name, s.About, rs[0].Runs)
	y := func(p float64) float64 { return bottom - p*(bottom-top) }
	x := func(call int) float64 { return left + float64(call)/float64(s.Calls)*(right-left) }
	for p := range 5 {
		v := float64(p) / 4
		line(`<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#444">%.0f %%</text>`, left, y(v), right, left-6, y(v)+4, 100*v)
	}
	for i := range 5 {
		call := i * s.Calls / 4
		line(`<text x="%.1f" y="%d" text-anchor="middle" fill="#444">%d</text>`, x(call), bottom+16, call)
	}
	if s.Leads > 0 {
		line(`<path d="M%d %.1fH%d" stroke="#888" stroke-dasharray="4 4"/>`, left, y(s.Leads), right)
	}
	for i, r := range rs {
		colour := strokes[i%len(strokes)]
		var points []string
		for j, p := range r.Leading {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x((j+1)*10), y(p)))
		}
		line(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, strings.Join(points, " "), colour)
		line(`<text x="%d" y="%d" fill="%s">conversations of %d</text>`, left+10+i*160, height-8, colour, r.Length)
	}
	line(`</svg>`)
	return b.String()
}
