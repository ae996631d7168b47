package serving_test

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

// keys lists the keys of a table, below a prefix.
func keys(t reflect.Type, prefix string) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("toml")
		switch elem := f.Type; {
		case name == "-":
		case f.Anonymous:
			out = append(out, keys(f.Type, prefix)...)
		case elem.Kind() == reflect.Struct:
			out = append(out, keys(elem, prefix+name+".")...)
		case elem.Kind() == reflect.Map:
			out = append(out, keys(elem.Elem(), prefix+name+".NAME.")...)
		case elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Struct:
			out = append(out, keys(elem.Elem(), prefix+name+".")...)
		default:
			out = append(out, prefix+name)
		}
	}
	return out
}

func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	all := keys(reflect.TypeFor[serving.File](), "")
	if len(all) < 30 {
		t.Errorf("only %d keys: %v", len(all), all)
	}
	for _, key := range all {
		if !strings.Contains(string(text), "`"+key+"`") {
			t.Errorf("docs/gateway.md says nothing of the key %s", key)
		}
	}
}

// The files of deploy are what bx serve takes, and Kubernetes waits for its end.
func TestDeployFiles(t *testing.T) {
	for _, name := range []string{"kubernetes.yaml", "kubernetes-team.yaml"} {
		text, err := os.ReadFile("../../../../deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, after, found := strings.Cut(string(text), "  serve.toml: |\n")
		file, rest, ends := strings.Cut(after, "\n---\n")
		if !found || !ends {
			t.Fatalf("%s has no serve.toml", name)
		}
		f, err := serving.Parse(name, []byte(strings.ReplaceAll(file, "\n    ", "\n")), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		seconds := func(pattern string) time.Duration {
			n, err := strconv.Atoi(regexp.MustCompile(pattern).FindStringSubmatch(rest)[1])
			if err != nil {
				t.Error(err)
			}
			return time.Duration(n) * time.Second
		}
		if grace, pause := seconds(`terminationGracePeriodSeconds: (\d+)`), seconds(`sleep:\s+seconds: (\d+)`); grace <= time.Duration(f.Limits.Drain)+pause {
			t.Errorf("%s: %v are given, and limits.drain of %v and the pause of %v need more", name, grace, time.Duration(f.Limits.Drain), pause)
		}
		if strings.Contains(name, "team") != (f.Ledger.URLEnv != "") || f.Ledger.URLEnv != "" && !strings.Contains(rest, "name: "+f.Ledger.URLEnv+"\n") {
			t.Errorf("%s: the ledger's address is in %q", name, f.Ledger.URLEnv)
		}
	}
}
