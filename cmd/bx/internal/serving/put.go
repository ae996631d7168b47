package serving

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/config"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/settings"
)

// head matches the first line of a table, routeHead that of a route, policyKey a line
// that sets the form of tools.
var (
	head      = regexp.MustCompile(`^\s*\[`)
	routeHead = regexp.MustCompile(`^\s*\[\[\s*routes\s*\]\]`)
	policyKey = regexp.MustCompile(`^\s*(tool_format|tools|grammar)\s*=`)
)

// PutForm sets the form of tools for a model at a backend, in the route for that model
// alone, and leaves the rest of the file as it is. If the route serves more models,
// PutForm inserts one for this model before it.
func PutForm(name, backend, model, form string, known config.Own, try config.Try) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := Parse(name, old, known, try)
	if err != nil {
		return err
	}
	alone := slices.IndexFunc(f.Routes, func(r Route) bool { return slices.Equal(r.To, []string{backend + "/" + model}) && len(r.Else) == 0 })
	first := slices.IndexFunc(f.Routes, func(r Route) bool { return slices.Equal(r.To, []string{backend}) && len(r.Else) == 0 })
	lines := strings.SplitAfter(string(old), "\n")
	key := "tool_format = " + strconv.Quote(form) + "\n"
	switch {
	case alone >= 0:
		lines = inRoute(lines, alone, key)
		f.Routes[alone].Format, f.Routes[alone].Tools, f.Routes[alone].Grammar = form, "", ""
	case first >= 0:
		r := f.Routes[first]
		r.Match, r.To, r.Policy.Format, r.Policy.Tools, r.Policy.Grammar = []string{model}, []string{backend + "/" + model}, form, "", ""
		if r.Again != nil || r.Policy != (Policy{Format: form}) || r.Hidden {
			return byHand(backend, model, form)
		}
		at := routeLine(lines, first)
		own := fmt.Sprintf("[[routes]]\nmatch = [%q]\nto = [%q]\n%s\n", model, r.To[0], key)
		lines = slices.Insert(lines, at, own)
		f.Routes = slices.Insert(f.Routes, first, r)
	default:
		return byHand(backend, model, form)
	}
	made := strings.Join(lines, "")
	now, err := Parse(name, []byte(made), known, try)
	if err != nil || !reflect.DeepEqual(f.Routes, now.Routes) {
		return errors.Join(byHand(backend, model, form), err)
	}
	return settings.Replace(name, []byte(made))
}

func byHand(backend, model, form string) error {
	return fmt.Errorf("no route leads to %s/%s alone: write one with tool_format = %q by hand", backend, model, form)
}

// routeLine returns the index of the line at which the nth route begins.
func routeLine(lines []string, n int) int {
	for i, line := range lines {
		if routeHead.MatchString(line) {
			if n--; n < 0 {
				return i
			}
		}
	}
	return len(lines)
}

// inRoute puts a key into the nth route, replacing those that set the same.
func inRoute(lines []string, n int, key string) (out []string) {
	at := routeLine(lines, n)
	if at == len(lines) {
		return lines
	}
	out = append(slices.Clone(lines[:at+1]), key)
	inside := true
	for _, line := range lines[at+1:] {
		inside = inside && !head.MatchString(line)
		if !inside || !policyKey.MatchString(line) {
			out = append(out, line)
		}
	}
	return out
}
