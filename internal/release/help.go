package release

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// help is the --help of a program that cannot write its own manual pages and
// completions.
type help struct {
	program, about, foot string
	commands, flags      []entry
}

// entry is one line of help: "grep PATTERN [PATH…]", "search with …".
type entry struct{ head, about string }

// readHelp reads the --help of a program. The first line says what the program does, the
// last where to read more. Between them, the line of a command begins with two spaces
// and the program's name, that of a flag with "  -"; two spaces precede the description.
func readHelp(program, text string) (help, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	h := help{program: program, about: strings.TrimPrefix(lines[0], program+" "), foot: lines[len(lines)-1]}
	for _, line := range lines {
		head, about, _ := strings.Cut(strings.TrimSpace(line), "  ")
		e := entry{head, strings.TrimSpace(about)}
		switch {
		case strings.HasPrefix(line, "  "+program+" "):
			h.commands = append(h.commands, e)
		case strings.HasPrefix(line, "  -"):
			h.flags = append(h.flags, e)
		}
	}
	if len(h.commands) == 0 || len(h.flags) == 0 {
		return h, fmt.Errorf("release: %s --help lists no commands or no flags:\n%s", program, text)
	}
	return h, nil
}

// words returns the names of the commands or flags, with their descriptions.
func words(entries []entry, name *regexp.Regexp) (out []entry) {
	for _, e := range entries {
		for _, m := range name.FindAllStringSubmatch(e.head+" "+e.about, -1) {
			if !slices.ContainsFunc(out, func(o entry) bool { return o.head == m[1] }) {
				out = append(out, entry{m[1], e.about})
			}
		}
	}
	return out
}

func (h help) names() []entry {
	return words(h.commands, regexp.MustCompile(`\b`+h.program+` ([a-z]+)`))
}

func (h help) options() []entry {
	return words(h.flags, regexp.MustCompile(`(?:^|[ ,])(--?[a-z][a-z-]*)`))
}

// man returns the manual page.
func (h help) man() string {
	var b strings.Builder
	roff := strings.NewReplacer(`\`, `\e`, "-", `\-`)
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH COMMANDS\n", strings.ToUpper(h.program), h.program, roff.Replace(h.about))
	list := func(entries []entry) {
		for _, e := range entries {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff.Replace(e.head), cmp.Or(roff.Replace(e.about), `\&`))
		}
	}
	list(h.commands)
	b.WriteString(".SH OPTIONS\n")
	list(h.flags)
	fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff.Replace(h.foot))
	return b.String()
}

// completion returns a script that completes commands, flags and, after a command,
// files.
func (h help) completion(shell string) string {
	join := func(entries []entry, format string) string {
		var out []string
		for _, e := range entries {
			about := strings.NewReplacer(`'`, `’`, `[`, `(`, `]`, `)`, `:`, `,`).Replace(e.about)
			out = append(out, strings.NewReplacer("NAME", e.head, "ABOUT", about, "LONG", strings.TrimLeft(e.head, "-"), "DASH", dash(e.head), "PROGRAM", h.program).Replace(format))
		}
		return strings.Join(out, "")
	}
	names, options := h.names(), h.options()
	p := h.program
	switch shell {
	case "bash":
		return fmt.Sprintf(`_%[1]s() {
	local now=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	if [[ $now == -* ]]; then
		COMPREPLY=($(compgen -W '%[3]s' -- "$now"))
	elif [[ $COMP_CWORD == 1 ]]; then
		COMPREPLY=($(compgen -W '%[2]s' -- "$now"))
	fi
}
complete -o default -F _%[1]s %[1]s
`, p, strings.TrimSpace(join(names, " NAME")), strings.TrimSpace(join(options, " NAME")))
	case "zsh":
		return fmt.Sprintf("#compdef %s\n_arguments \\\n%s  '1:command:((%s))' \\\n  '*:file:_files'\n", p,
			join(options, "  'NAME[ABOUT]' \\\n"), strings.TrimSpace(join(names, ` NAME\:"ABOUT"`)))
	case "fish":
		return join(names, "complete -c PROGRAM -n __fish_use_subcommand -a NAME -d 'ABOUT'\n") + join(options, "complete -c PROGRAM -DASH LONG -d 'ABOUT'\n")
	}
	return fmt.Sprintf(`Register-ArgumentCompleter -Native -CommandName %s -ScriptBlock {
    param($now, $line, $at)
    @(%s) | Where-Object { $_ -like "$now*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`, p, strings.TrimPrefix(join(append(names, options...), ", 'NAME'"), ", "))
}

// dash returns fish's option for a flag: l for --long, s for -s.
func dash(flag string) string {
	if strings.HasPrefix(flag, "--") {
		return "l"
	}
	return "s"
}
