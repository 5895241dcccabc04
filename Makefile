# Two commands matter: `make quickstart` and `make test`. Everything they need beyond Rust, Go and Python is built
# once into a cache outside the checkout (~/.cache/joiner, or $JOINER_CACHE), keyed by lock files.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
RUST_NEEDED := 1.95
JOINER_CACHE ?= $(HOME)/.cache/joiner
DENY_VERSION := 0.20.2
DENY := $(JOINER_CACHE)/cargo-deny-$(DENY_VERSION)/bin/cargo-deny
BINARIES := -p joiner -p joiner-controller -p terraform-provider-joiner -p joiner-sandbox
TARGET := $(or $(CARGO_TARGET_DIR),target)
JOINER := $(TARGET)/release/joiner

.PHONY: help
help: ## Show the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: rust
rust:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing. Install it with:"; \
	  echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- --default-toolchain $(RUST_NEEDED)"; exit 1; }
	@have=$$($(CARGO) --version | awk '{print $$2}'); \
	  [ "$$(printf '%s\n' $(RUST_NEEDED) "$$have" | sort -V | head -n 1)" = $(RUST_NEEDED) ] || { \
	  echo "Rust $$have is too old: $(RUST_NEEDED) or newer is needed. Update with:"; echo "  rustup update stable"; exit 1; }

.PHONY: build
build: rust ## Build the four binaries (release) into target/release.
	@echo "==> building the provider, the controller and the command line (the first time takes many minutes; the AWS crates take longest)"
	@$(CARGO) build --release --locked $(BINARIES)

.PHONY: tools
tools: build ## Build the sandbox's parts into the cache: control plane, etcd, kwok, Helm, OpenTofu, emulator.
	@$(JOINER) sandbox tools

.PHONY: quickstart
quickstart: tools ## One apply: a cluster that gives its own pods their nodes.
	@$(JOINER) sandbox quickstart

.PHONY: quickstart-destroy
quickstart-destroy: tools ## Destroy the quickstart and prove that nothing is left.
	@$(JOINER) sandbox quickstart --destroy

# Tests wait more than they compute, so there are more of them at once than cores; how many stand on a sandbox of their own, the
# tests bound themselves.
TEST_THREADS = $(shell echo $$(( $$(nproc) * 2 )))

# What random tests try is the same in every run, so that a change is judged by what it changes; `make explore` tries what
# was not tried before.
SEED := 20261130

.PHONY: test
test: lint ## Everything: fmt, clippy, deny, unit, CRD and end-to-end tests.
	@echo "==> building every program"
	@$(CARGO) build --workspace --locked --bins --example folder --example joiner-echo
	@echo "==> the sandbox's parts"
	@$(TARGET)/debug/joiner sandbox tools
	@echo "==> tests of the emulator's front"
	@python=$$($(TARGET)/debug/joiner sandbox tools --python); \
	  cd sandbox/aws && PYTHONDONTWRITEBYTECODE=1 $$python -m pytest -q -p no:cacheprovider
	@echo "==> tests of every package, and end to end with both cores"
	JOINER_BINARIES=$(abspath $(TARGET)/debug) RUST_TEST_THREADS=$(TEST_THREADS) PROPTEST_RNG_SEED=$(SEED) \
	  $(CARGO) test --workspace --locked --no-fail-fast --tests
	@echo "==> examples in the documentation"
	@$(CARGO) test --workspace --locked --doc

CASES ?= 20000

.PHONY: explore
explore: rust ## Scheduling, drift and lower bound on clusters made up at random, CASES of each law (some minutes).
	PROPTEST_CASES=$(CASES) $(CARGO) test -p joiner-core --locked --test it -- laws:: bounds:: drifting::

BENCH ?= full
PEER := tests/peers/schedule
PEER_KEY = $(shell cat $(PEER)/go.mod $(PEER)/go.sum $(PEER)/*.go | sha256sum | cut -c 1-16)
PEER_BIN = $(JOINER_CACHE)/peers/schedule-$(PEER_KEY)
BENCHER := $(TARGET)/release/joiner-bench

.PHONY: peer
peer:
	@[ -x $(PEER_BIN) ] || { echo "==> building Karpenter's scheduler, the peer of the benchmarks (once; some minutes)"; \
	  mkdir -p $(JOINER_CACHE)/peers; \
	  cd $(PEER) && GOTOOLCHAIN=go1.27.3 go build -trimpath -o $(PEER_BIN).part . && mv $(PEER_BIN).part $(PEER_BIN); }

.PHONY: bench
bench: rust peer ## Karpenter's scheduler and ours side by side, into docs/benchmarks.md (BENCH=quick for a small run).
	@$(CARGO) build --release --locked -p joiner -p joiner-bench
	@$(BENCHER) run --peer $(PEER_BIN) --joiner $(JOINER) --scale $(BENCH)
	@$(BENCHER) report

.PHONY: bench-differences
bench-differences: rust peer ## Random snapshots through both; what differs goes into docs/benchmarks.md.
	@$(CARGO) build --release --locked -p joiner-bench
	@$(BENCHER) differ --peer $(PEER_BIN) --page docs/benchmarks.md

VECTORS := provider/sdk/src/value/wire/vectors.json

.PHONY: vectors
vectors: ## Values as go-cty encodes them, which the SDK is tested with, written anew.
	@go -C tests/peers/values run . > $(VECTORS).part && mv $(VECTORS).part $(VECTORS)

.PHONY: lint
lint: rust $(DENY) ## Formatting, clippy and cargo deny.
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(DENY) check licenses bans sources

$(DENY):
	@echo "==> building cargo-deny $(DENY_VERSION) (once)"
	@$(CARGO) install cargo-deny --version $(DENY_VERSION) --locked --root $(JOINER_CACHE)/cargo-deny-$(DENY_VERSION) --target-dir $(TARGET)/cargo-deny

VERSION = $(shell awk -F '"' '/^version/ {print $$2; exit}' Cargo.toml)
DIST := $(TARGET)/dist

.PHONY: release
release: tools ## The archives that both registries take, into target/dist (SIGN=KEY signs the checksums).
	@mkdir -p $(DIST)/licences
	@cp LICENSE $(DIST)/licences/LICENSE
	@go -C sandbox/tools mod download helm.sh/helm/v4
	@install -m 644 "$$(go -C sandbox/tools list -m -f '{{.Dir}}' helm.sh/helm/v4)/LICENSE" $(DIST)/licences/LICENSE.helm
	@release/package.py archive --provider $(TARGET)/release/terraform-provider-joiner \
	  --helm "$$($(JOINER) sandbox tools --path)/helm" --licences $(DIST)/licences --version $(VERSION) \
	  --platform "$$(go env GOOS)_$$(go env GOARCH)" --out $(DIST)
	@release/package.py sums --version $(VERSION) --out $(DIST) $(if $(SIGN),--sign $(SIGN))

.PHONY: docs
docs: tools ## Regenerate the provider's pages and the chart's CRDs.
	@docs/tools/generate.sh $(TARGET)/release "$$($(JOINER) sandbox tools --path)/tofu"
	@$(CARGO) run -q --locked -p joiner-api --example crds -- controller/chart/crds
