package rule

import (
	"slices"
	"strings"
)

// options are those by which a program runs another one, or writes a file, or
// reads what it would leave out. A rule covers them only where it names them.
type options struct {
	short string   // letters, alone or in a cluster
	long  []string // may be abbreviated, as GNU's and git's are
	words []string // whole, with one dash or two: of Go, find and Java
}

// risky is by program, or by program and sub-command, whose options are then
// beside those of the program. Sources: the manuals of the programs.
var risky = map[string]options{
	"git": {long: []string{"output", "ext-diff", "textconv", "exec", "upload-pack", "receive-pack", "open-files-in-pager", "exec-path", "config-env", "no-index",
		"paginate", "git-dir", "work-tree", "edit", "interactive", "config", "output-directory", "strategy", "gpg-sign", "show-signature", "signed", "template"}},
	"git grep":   {short: "O"},
	"git branch": {short: "dDmMcCfu", long: []string{"delete", "move", "copy", "force", "set-upstream-to", "unset-upstream", "edit-description"}},
	"git tag":    {short: "dfasum", long: []string{"delete", "force", "sign", "annotate", "local-user"}},
	"git remote": {}, "git stash": {}, "git config": {},
	"go": {words: []string{"exec", "toolexec", "o", "c", "C", "vettool", "modfile", "overlay", "mod", "pkgdir", "outputdir", "coverprofile", "cpuprofile", "memprofile",
		"blockprofile", "mutexprofile", "trace", "testlogfile", "gocoverdir", "fuzz", "fuzzcachedir", "args", "ldflags", "gcflags", "asmflags", "gccgoflags", "compiler",
		"work", "w", "env"}},
	"rg":     {short: "zu.", long: []string{"pre", "pre-glob", "hostname-bin", "search-zip", "unrestricted", "hidden", "no-ignore", "no-ignore-vcs", "no-ignore-dot", "no-ignore-files"}},
	"find":   {words: []string{"exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls", "files0-from"}},
	"fd":     {short: "xXHu", long: []string{"exec", "exec-batch", "hidden", "unrestricted", "no-ignore"}},
	"sort":   {short: "oT", long: []string{"output", "compress-program", "temporary-directory", "files0-from"}},
	"tree":   {short: "oR", long: []string{"output"}},
	"tar":    {short: "IF", long: []string{"to-command", "checkpoint-action", "use-compress-program", "rsh-command", "info-script", "new-volume-script"}},
	"rsync":  {short: "e", long: []string{"rsh", "rsync-path"}},
	"zip":    {short: "T", long: []string{"test", "unzip-command"}},
	"make":   {short: "fCEI", long: []string{"file", "makefile", "directory", "eval", "include-dir"}},
	"cargo":  {long: []string{"config", "manifest-path", "target-dir", "out-dir", "artifact-dir"}},
	"pytest": {short: "pco", long: []string{"override-ini", "basetemp", "pdb", "pdbcls", "rootdir", "confcutdir", "config-file", "debug", "junit-xml", "junitxml", "log-file", "pastebin"}},
	"npm":    {long: []string{"prefix", "script-shell", "node-options", "userconfig", "globalconfig", "global"}, short: "gC"},
	"date":   {short: "s", long: []string{"set"}},
	"diff":   {long: []string{"to-file", "from-file"}},
	"file":   {short: "mfC", long: []string{"magic-file", "files-from", "compile"}},
	"wc":     {long: []string{"files0-from"}},
	"du":     {long: []string{"files0-from"}, short: "X"},
	"less":   {short: "oOkKpP+"},
	"gcc":    {short: "oB@"},
	"ps":     {}, "tsc": {long: []string{"outDir", "outFile", "project", "build"}, short: "pb"},
	"eslint": {short: "co", long: []string{"fix", "config", "output-file", "plugin", "parser", "rulesdir", "resolve-plugins-relative-to", "format", "cache-location"}},
	"black":  {}, "gofmt": {words: []string{"w", "cpuprofile"}},
	"shuf": {short: "o", long: []string{"output", "random-source"}},
	"jq":   {short: "fL", long: []string{"from-file"}},
	"yq":   {short: "is", long: []string{"inplace", "split-exp", "from-file"}},
	"tail": {long: []string{"pid"}},
}

// others are programs that run what their words say. A rule allows of them only
// the very words that it has.
var others = strings.Fields(`sh bash dash zsh ksh csh tcsh fish busybox toybox env sudo doas su runuser nice ionice chrt nohup setsid timeout time xargs parallel watch
	script unshare chroot nsenter setpriv strace ltrace gdb lldb perf valgrind stdbuf flock exec eval source . command builtin trap enable alias hash type
	python python2 pypy perl ruby node nodejs deno bun php lua luajit tclsh wish guile R Rscript awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs nano expect
	ssh scp sftp docker podman kubectl npx bunx uvx pipx uv yarnpkg rlwrap systemd-run at batch crontab osascript open xdg-open ld.so start wsl cmd powershell pwsh
	git-upload-pack coproc function dotnet-script irb java jshell groovy scala kotlin swipl sqlite3 psql mysql m4 cpp socat nc ncat openssl`)

// heavy are programs whose every use is looked at: "always" means these words alone.
var heavy = strings.Fields(`rm rmdir unlink mv cp dd chmod chown chgrp ln tee truncate shred kill pkill killall install patch curl wget mkfs mount umount split uniq xxd
	reboot shutdown halt poweroff rsync tar zip unzip`)

// grouped are programs whose second word says what they do.
var grouped = strings.Fields(`git go npm yarn pnpm cargo pip pip3 bundle rails gradle gradlew mvn make dotnet swift terraform brew apt apt-get dnf composer poetry hatch
	just task bazel mix rake flutter dart gh glab zig nix rustup conda helm gem luarocks stack cabal sbt lein tox nox invoke systemctl`)

// runsOthers reports a program that runs what its words say.
func runsOthers(program string) bool {
	return slices.Contains(others, program) || slices.Contains(others, versionless(program))
}

// versionless is python of python3.12.
func versionless(program string) string { return strings.TrimRight(program, "0123456789.") }

// noMore is the last word of a rule for commands that have no further words.
const noMore = "$"

// begins reports whether words begin with those of a rule.
func begins(rule, words []string) bool {
	if n := len(rule) - 1; n > 0 && rule[n] == noMore {
		rule = rule[:n]
		if len(words) > n {
			return false
		}
	}
	if len(rule) == 0 || len(rule) > len(words) {
		return false
	}
	for i, p := range rule {
		if !fits(p, words[i]) {
			return false
		}
	}
	return true
}

// covers reports whether a rule with some words allows a command.
func covers(rule, words []string) bool {
	if !begins(rule, words) {
		return false
	}
	rest := words[min(len(rule), len(words)):]
	if runsOthers(words[0]) && len(rest) > 0 && !module(rule) {
		return false
	}
	if len(rule) == 1 && hidden(words) {
		return false
	}
	return !slices.ContainsFunc(rest, func(w string) bool { return isRisky(words, w) })
}

// hidden reports a command whose sub-command stands behind options, as in git -C . push.
func hidden(words []string) bool {
	return len(words) > 2 && slices.Contains(grouped, words[0]) && strings.HasPrefix(words[1], "-") &&
		slices.ContainsFunc(words[2:], func(w string) bool { return !strings.HasPrefix(w, "-") })
}

// module reports words like python -m pytest, whose program is what follows -m.
func module(words []string) bool {
	return len(words) > 2 && words[1] == "-m" && strings.HasPrefix(words[0], "python")
}

// isRisky reports a word of a command that is one of its program's risky options.
func isRisky(words []string, w string) bool {
	if module(words) {
		words = words[2:]
	}
	if len(w) < 2 || w[0] != '-' {
		return words[0] == "make" && strings.Contains(w, "=") // SHELL=…
	}
	keys := []string{versionless(words[0])}
	if len(words) > 1 {
		keys = append(keys, words[0]+" "+words[1])
	}
	return slices.ContainsFunc(keys, func(k string) bool { return risky[k].has(w) })
}

func (o options) has(w string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
	if slices.Contains(o.words, strings.TrimPrefix(name, "test.")) {
		return true
	}
	if !strings.HasPrefix(w, "--") {
		return strings.ContainsAny(w[1:], o.short) && o.short != ""
	}
	return name != "" && slices.ContainsFunc(o.long, func(l string) bool { return strings.HasPrefix(l, name) })
}

// Always lists rules that would allow a command line from now on: each program
// with its sub-command. ok is false where no rule could.
func Always(command, root string) (out []Rule, ok bool) {
	script, err := Parse(command)
	if err != nil {
		return nil, false
	}
	for _, words := range script.Commands() {
		if changesFolder(words) {
			continue
		}
		r := Rule{Tool: "shell", Command: strings.Join(kind(words), " "), Decision: Allow, Root: root}
		if strings.ContainsAny(r.Command, "*?") {
			return nil, false
		}
		if !slices.ContainsFunc(out, func(o Rule) bool { return o.Command == r.Command }) {
			out = append(out, r)
		}
	}
	v := Set(out).Decide(Query{Tool: "shell", Command: command, Root: root})
	return out, v.Decision == Allow
}

// kind is what a command is an instance of.
func kind(words []string) []string {
	switch n := len(words); {
	case module(words):
		return words[:3]
	case runsOthers(words[0]) || slices.Contains(heavy, words[0]):
		return append(slices.Clone(words), noMore)
	case n > 1 && slices.Contains(grouped, words[0]) && !strings.HasPrefix(words[1], "-"):
		if n > 2 && words[1] == "run" {
			return words[:3]
		}
		return words[:2]
	case n > 1 && slices.Contains(grouped, words[0]):
		return append(slices.Clone(words), noMore)
	}
	return words[:1]
}
