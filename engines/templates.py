"""The templates of the tiny models: Jinja for llama-server, Modelfiles for Ollama.

Both show a model the same: the tools that it knows, one a line with the first argument, the
last 80 bytes of the last question, and the last four messages after it, results cut at 240 bytes. A
request without tools is shown whole, but for system prompts, of which 60 bytes are left.
"""

import json
import os

from dialogues import KNOWN

OFFER = "You can use these tools:"  # stands before the tools in bx's prompt for ReAct (prompt/react.md)
LIST = "The tools, with the JSON Schema of their arguments:"  # and in that for hermes (prompt/lines.md)

DIALECTS = ["hermes", "coder", "plain"]  # of the GGUF files

# Ollama learns from the text around .Thinking that a model thinks, so the tags are no printf.
THOUGHT = "{{- if .Thinking }}<think>\n{{ .Thinking }}\n</think>\n\n{{ end -}}\n    {{- .Content -}}\n    "
OBJECT = '{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}'
CALLS = {
    "hermes": THOUGHT + '{{- range .ToolCalls }}{{ "<tool_call>\\n" }}' + OBJECT + '{{ "\\n</tool_call>" }}{{ end -}}',
    # With the marker as text before the range Ollama looks for the calls itself.
    "native": THOUGHT + "{{- if .ToolCalls }}<tool_call>\n{{ range .ToolCalls }}" + OBJECT + "\n{{ end }}</tool_call>{{ end -}}",
    "coder": '{{- .Content -}}\n    {{- range .ToolCalls }}{{ printf "<tool_call>\\n<function=%s>\\n" .Function.Name }}'
    '{{ range $k, $v := .Function.Arguments }}{{ printf "<parameter=%s>\\n%v\\n</parameter>\\n" $k $v }}{{ end }}'
    "</function>\n</tool_call>{{ end -}}",
}
BEGIN = '{{- if and .IsThinkSet (not .Think) }}{{ "<think>\\n\\n</think>\\n\\n" }}{{ end -}}'  # of a reply without thinking

# The same in Jinja. llama-server takes every template with <think> in it for one of a model that thinks.
JINJA_BEGIN = "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}"
JINJA_CALLS = {
    "hermes": "{{- '<tool_call>\\n{\"name\": \"' + c.function.name + '\", \"arguments\": ' + "
    "(c.function.arguments if c.function.arguments is string else c.function.arguments | tojson) + '}\\n</tool_call>' }}",
    "coder": "{{- '<tool_call>\\n<function=' + c.function.name + '>\\n' }}{%- for k, v in c.function.arguments | items %}"
    "{{- '<parameter=' + k + '>\\n' }}{{- v if v is string else v | tojson }}{{- '\\n</parameter>\\n' }}{%- endfor %}"
    "{{- '</function>\\n</tool_call>' }}",
}

# The models of Ollama by name: the weights, the dialect, and what else the Modelfile says.
OLLAMA = {
    "hermes": ("hermes", "hermes", ""),  # calls are text
    "native": ("hermes", "native", ""),  # Ollama finds them by the template
    "coder": ("coder", "coder", ""),
    "coderp": ("coder", "coder", "PARSER qwen3-coder\n"),  # Ollama finds them by its parser
    "plain": ("plain", "plain", ""),
}


def source(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)) as f:
        return f.read().rstrip("\n")


def jinja(dialect):
    """The chat template of a GGUF file."""
    values = {"dialect": dialect, "known": KNOWN, "offer": OFFER, "list": LIST}
    set_values = "".join("{%%- set %s = %s %%}" % (k, json.dumps(v)) for k, v in values.items())
    if dialect == "plain":
        return set_values + source("plain.jinja")
    text = source("chat.jinja").replace("CALL", JINJA_CALLS[dialect])
    return set_values + text.replace("BEGIN", JINJA_BEGIN if dialect == "hermes" else "")


def modelfile(name):
    weights, dialect, more = OLLAMA[name]
    text = source("plain.gotmpl" if dialect == "plain" else "chat.gotmpl")
    text = text.replace("CALLS", CALLS.get(dialect, "")).replace("MARK", "<|" + weights + "|>")
    text = text.replace("BEGIN", BEGIN if weights == "hermes" else "")
    text = text.replace("KNOWN", " ".join(map(json.dumps, KNOWN))).replace("OFFER", json.dumps(OFFER))
    return (
        "FROM ./tiny-" + weights + '.gguf\nTEMPLATE """' + text + '"""\n' + more
        + "PARAMETER temperature 0\nPARAMETER num_thread 1\nPARAMETER stop <|im_end|>\n"
    )
