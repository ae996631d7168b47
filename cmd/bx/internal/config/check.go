package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/rule"
)

// checkValue refuses values that make no sense.
func (c *Config) checkValue(d document, k key) error {
	if k.table {
		return nil
	}
	if err := sense(valueAt(c, k).Interface(), c.Own); err != nil {
		return d.at(k.value.offset, k.value.len, "%s: %v", k, err)
	}
	return nil
}

func sense(v any, own Own) error {
	switch v := v.(type) {
	case Provider:
		return v.check()
	case Format:
		return v.check(own)
	case ResultFormat:
		return v.check(own)
	case Parser:
		return v.check(own)
	case URL:
		return v.check()
	case Prompt:
		return prompt.CheckPlaceholder(string(v))
	case Template:
		return prompt.CheckTemplate(string(v))
	case Count:
		if v < 1 {
			return fmt.Errorf("%d: want a whole number above 0", v)
		}
	case toolenvelope.Count:
		if v < 1 {
			return fmt.Errorf("%d: want a whole number above 0", v)
		}
	case Seconds:
		if v <= 0 {
			return fmt.Errorf("%v: want seconds above 0", float64(v))
		}
	case *float64:
		if *v < 0 || *v > 2 {
			return fmt.Errorf("%v: want a number from 0 to 2", *v)
		}
	}
	return nil
}

// wanted says what a key takes, for a value of another type.
func wanted(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[utp.Tier]():
		return "a tier: \"CRAWL\", \"WALK\" or \"RUN\""
	case t == reflect.TypeFor[rule.Decision]():
		return "a decision: \"allow\", \"ask\" or \"deny\""
	case t == reflect.TypeFor[Seconds]():
		return "a number of seconds"
	}
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	}
	return "a table"
}

// checkProfile finds a chosen profile that is not there.
func (c *Config) checkProfile() error {
	if c.Agent.Profile == "" {
		return nil
	}
	_, err := c.profile(c.Agent.Profile, "agent.profile")
	if e, ok := errors.AsType[*Error](err); ok && c.chosen.at != nil {
		c.chosen.at.Message = e.Message
		return c.chosen.at
	}
	return err
}

// profile finds a profile by its name; from says who asked for it.
func (c *Config) profile(name, from string) (Profile, error) {
	if p, ok := c.Profiles[name]; ok {
		return p, nil
	}
	names := slices.Sorted(maps.Keys(c.Profiles))
	want := "no file has a [profiles.NAME]"
	if len(names) > 0 {
		want = "want " + either(names)
	}
	if len(c.Files) > 0 {
		want += " (read: " + strings.Join(c.shortFiles(), ", ") + ")"
	}
	return Profile{}, &Error{File: from, Message: fmt.Sprintf("unknown profile %q: %s", name, want)}
}

func (c *Config) shortFiles() (out []string) {
	for _, f := range c.Files {
		out = append(out, short(f))
	}
	return out
}
