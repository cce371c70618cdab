# Squall. The two commands that matter: `make chaos` and `make test`.
SHELL := /bin/bash
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
SEEDS ?= 200
ARGS ?=
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

# What is compiled once serves programs and tests, in whichever directory the repository lies.
export GOFLAGS := -trimpath $(GOFLAGS)

SQUALL := bin/squall

# Worlds besides sim that bin/squall is built with. kind compiles Kubernetes' clients, which takes minutes the first time: it is in
# when it is asked for (WITH=kind, CLUSTER=kind), and in `make chaos` when its suite could be run at once.
at-hand = $(shell timeout 5 docker image ls --format '{{.Repository}}' 2>/dev/null | grep -qE '^(squall-node|kindest/node)$$' && echo kind)
WITH ?= $(or $(CLUSTER),$(if $(filter chaos,$(MAKECMDGOALS)),$(at-hand)))
WITH := $(WITH)

.PHONY: help chaos test race left-out e2e e2e-chaosmesh engine controlplane node-image bench example swarm lint fuzz golden build clean FORCE

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

chaos: $(SQUALL) ## run the suite, the reference must pass, planted defects must be found; CLUSTER=kind: in a real cluster; writes a report
	@$(SQUALL) chaos --seeds $(SEEDS) $(if $(CLUSTER),--world $(CLUSTER)) $(ARGS)

# Those that take longest go first, so that in the end none runs alone beside an idle processor. Their vet is the one before.
LONGEST := ./reports ./cmd/squall ./scenarios/... ./clusters/journal/rowlog ./dispatcher/postgres

test: ## all tests, the packages with goroutines under the race detector
	go vet ./...
	go test -vet=off $(LONGEST) ./...
	go test -tags planted ./cmd/internal/system
	@$(MAKE) --no-print-directory race left-out

# Packages with goroutines of their own. Only the proxy brings a client of Kubernetes along, which takes minutes to compile once more.
CONCURRENT := ./clusters/journal/... ./cmd/worker ./faults/proxy

# Tests of the scenarios in which runs go side by side; a run itself has one thread.
SIDE_BY_SIDE := TestLibrary$$/demo|Workers|Interrupt|HoweverItIsMade

race:
	@if command -v gcc clang >/dev/null; then set -x; go test -vet=off -race -short -run '$(SIDE_BY_SIDE)' ./scenarios/... && go test -vet=off -race $(CONCURRENT) && go test -vet=off -race -run Interrupt ./cmd/squall; fi

# What the tests could not use on this machine, so that nothing is left out in silence. With CI set a missing browser or Postgres fails them.
left-out:
	@command -v gcc clang >/dev/null || echo "left out: the race detector; it needs a C compiler: apt-get install gcc"
	@command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null || \
		echo "left out: the reports in a real browser; get it with: apt-get install chromium"
	@[ -n "$$DATABASE_URL" ] || command -v postgres /usr/lib/postgresql/*/bin/postgres >/dev/null || \
		echo "left out: the store on a real Postgres; get it with: apt-get install postgresql, or set DATABASE_URL"
	@echo "left out: what needs a real API server or a real cluster; run it with: make e2e$(if $(at-hand),, (without Docker first make engine; without a registry make node-image))"

# One package after the other: each has the processors, and the clusters, to itself.
END_TO_END := ./clusters/local ./dispatcher/kube ./cmd/internal/replica ./clusters/kind/engine ./clusters/kind/images ./clusters/kind/testbed ./clusters/kind

e2e: controlplane ## what needs a real API server or a real cluster; needs an engine and a node image (make engine, make node-image)
	go test -tags e2e -count=1 -p 1 -timeout 40m $(END_TO_END)

e2e-chaosmesh: controlplane ## faults struck by a real Chaos Mesh, built from Go modules (8 minutes the first time); needs what e2e needs, and a C compiler
	go test -tags e2e -count=1 -v -p 1 -timeout 90m ./faults/chaosmesh ./faults/chaosmesh/installation

bench: ## the figures of ARCHITECTURE.md
	go test -run '^$$' -bench . -benchmem -cpu 1 ./clusters/sim/... ./checker/...
	go test -run '^$$' -bench . -benchmem -cpu 1,2 ./cmd/squall
	go test -run '^$$' -bench . -benchtime 3s ./faults/proxy

# The worked example of squall compare. Counterexamples are left out: their bundles would not be where the page is.
EXAMPLE := scenarios/experiment/example
example: $(SQUALL) ## compare the settings of scenarios/experiment/example, and write its report anew
	@$(SQUALL) compare $(patsubst %,$(EXAMPLE)/%.yaml,tick-300s grace-240s grace-300s grace-600s batches-turned-around on-demand) \
		--scenario $(EXAMPLE)/unseen-overruns.yaml --scenario $(EXAMPLE)/spot-taken-back.yaml --scenario swarm-standard \
		--seeds 200 --price-on-demand 1 --price-spot 0.35 --cases 0 -o text -o html=$(EXAMPLE)/report.html $(ARGS)

swarm: $(SQUALL) ## the reference under 20,000 seeds of the swarm plan
	@$(SQUALL) run swarm-standard swarm-b0 --seeds 10000 $(ARGS)

lint: ## gofmt, vet, staticcheck, with the files of every build tag, too
	@test -z "$$(gofmt -l .)" || { echo "gofmt wants:"; gofmt -l .; exit 1; }
	go vet ./...
	go vet -tags kind,e2e,planted ./...
	go run $(STATICCHECK) ./...
	go run $(STATICCHECK) -tags kind,e2e,planted ./...

fuzz: ## half a minute of each fuzz target
	go test -run '^$$' -fuzz 'FuzzParse$$' -fuzztime 30s ./scenarios
	go test -run '^$$' -fuzz FuzzVariant -fuzztime 30s ./scenarios
	go test -run '^$$' -fuzz FuzzParseAxis -fuzztime 30s ./scenarios/experiment
	go test -run '^$$' -fuzz FuzzDecode -fuzztime 30s ./checker/history
	go test -run '^$$' -fuzz FuzzRead -fuzztime 30s ./clusters/calibration/dumps
	go test -run '^$$' -fuzz FuzzChain -fuzztime 30s ./checker/chain
	go test -run '^$$' -fuzz FuzzFormula -fuzztime 30s ./checker/chain
	go test -run '^$$' -fuzz FuzzFind -fuzztime 30s ./checker/chain/extract
	go test -run '^$$' -fuzz FuzzPath -fuzztime 30s ./checker/chain/extract
	go test -run '^$$' -fuzz FuzzBaseline -fuzztime 30s ./reports
	go test -run '^$$' -fuzz FuzzStatements -fuzztime 30s ./faults/proxy
	go test -run '^$$' -fuzz FuzzWire -fuzztime 30s ./faults/proxy
	go test -run '^$$' -fuzz FuzzDecodeRule -fuzztime 30s ./faults/proxy
	go test -run '^$$' -fuzz FuzzFlags -fuzztime 30s ./faults/chaosmesh
	go test -run '^$$' -fuzz FuzzStand -fuzztime 30s ./faults/chaosmesh

golden: ## write the golden files anew; read the diff
	go test ./reports/... ./cmd/squall/... -update

build: $(SQUALL) ## bin/squall; WITH=kind: with real clusters

$(SQUALL): FORCE
	@echo "building $(SQUALL) (the first build compiles everything: $(if $(WITH),minutes,half a minute) on 2 cores)" >&2
	@go build $(if $(WITH),-tags $(WITH)) -ldflags "-X main.version=$(VERSION)" -o $(SQUALL) ./cmd/squall

controlplane: ## build etcd and Kubernetes from Go modules, once per machine (minutes)
	go run ./clusters/local/build

engine: ## a Docker engine for kind on a bare Debian machine, as root; a working one is left alone
	@go run ./clusters/kind/engine/start

node-image: ## build an image for kind nodes from Go modules and Debian packages, where no registry can be reached (14 minutes)
	go run ./clusters/kind/nodeimage/build

clean: ## remove what was built and recorded
	rm -rf bin .squall
