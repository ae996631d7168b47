package te

import (
	"path"
	"regexp"
	"strings"
)

var byExtension = map[string]string{
	".py": "code/python", ".pyi": "code/python",
	".js": "code/javascript", ".jsx": "code/javascript", ".mjs": "code/javascript", ".cjs": "code/javascript",
	".ts": "code/typescript", ".tsx": "code/typescript", ".mts": "code/typescript",
	".sql": "code/sql", ".sh": "code/shell", ".bash": "code/shell", ".zsh": "code/shell",
	".rs": "code/rust", ".go": "code/go", ".rb": "code/ruby", ".java": "code/java",
	".c": "code/c", ".h": "code/c",
	".cpp": "code/cpp", ".cc": "code/cpp", ".cxx": "code/cpp", ".hpp": "code/cpp", ".hh": "code/cpp",
	".json": "json", ".jsonl": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
	".md": "markdown", ".markdown": "markdown", ".log": "log", ".csv": "tabular", ".tsv": "tabular",
	".txt": "text", ".rst": "text",
}

// logLine is a line that begins with a date, a level or a syslog stamp.
var logLine = regexp.MustCompile(`^\[?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{4}/\d\d/\d\d \d\d:\d\d|` +
	`(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d )`)

// ContentType sorts a file by its extension, or else by its beginning: log if
// two of the first five lines look like one, json by its brackets, else text.
// head may be empty.
func ContentType(name, head string) string {
	if t := byExtension[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	logs := 0
	for _, l := range strings.SplitN(head, "\n", 6)[:min(5, strings.Count(head, "\n")+1)] {
		if logLine.MatchString(l) {
			logs++
		}
	}
	body := strings.TrimSpace(head)
	switch {
	case logs >= 2:
		return "log"
	case bracketed(body, "{", "}") || bracketed(body, "[", "]"):
		return "json"
	}
	return "text"
}

func bracketed(s, open, end string) bool {
	return len(s) > 1 && strings.HasPrefix(s, open) && strings.HasSuffix(s, end)
}
