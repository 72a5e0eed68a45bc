# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

SHELL := bash
.SHELLFLAGS := -o errexit -o nounset -o pipefail -c
.DEFAULT_GOAL := help

BIN := _output/bin
CLUSTER_DIR := _output/local
SAMPLE := artifacts/samples/modelbox.yaml

# The Kubernetes that the local control plane is built from, as its go.mod has it.
KUBERNETES_VERSION := $(shell sed -n 's/^[[:space:]]*k8s.io\/kubernetes \(v[0-9.]*\)$$/\1/p' hack/localcluster/go.mod)
KUBERNETES_MINOR := $(word 2,$(subst ., ,$(KUBERNETES_VERSION)))
STRIP := $(if $(DBG),,-s -w)
LOCALCLUSTER_LDFLAGS := -s -w $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version, \
  -X $(package).gitVersion=$(KUBERNETES_VERSION) -X $(package).gitMajor=1 -X $(package).gitMinor=$(KUBERNETES_MINOR))

# The kind of node that pods run on. On a container node (Linux, root) they run for real.
NODE := simulated
NODE_IMAGES := _output/images/node
NODE_FLAGS_simulated :=
NODE_FLAGS_both := --container-node --images=$(NODE_IMAGES)
NODE_FLAGS_container := --nodes=0 $(NODE_FLAGS_both)
NODE_TARGETS := $(if $(filter-out simulated,$(NODE)),build-container-node node-images)
ifeq ($(filter $(NODE),simulated container both),)
  $(error NODE=$(NODE): must be simulated, container or both)
endif

# Programs are built without cgo, as those of releases and those in containers are: so no library is compiled twice, and no
# program is linked by the C compiler. Only the race detector needs cgo.
export CGO_ENABLED := 0

# Programs and tests have no path of this folder, as those of releases: so what one checkout has compiled and tested, another one need
# not. A debugger needs the paths.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell go env GOFLAGS)) $(if $(DBG),,-trimpath))

# How long to fuzz with each target.
FUZZTIME := 2m

# The optional features of the server that "make run" turns on, for the samples. An administrator of a cluster turns on each, see
# docs/operate.md. The end-to-end tests begin without them.
COMPONENTS := pod-access pod-debugger serviceingress
COMPONENT_FLAGS := $(COMPONENTS:%=--component=%) '--server-arg=--controllers=*,serviceingress'

CLUSTER_FLAGS := $(NODE_FLAGS_$(NODE)) --dir $(CLUSTER_DIR) --server $(BIN)/modelbox-apiserver --artifacts artifacts $(COMPONENT_FLAGS) --sample $(SAMPLE)

##@ Use

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-22s%s\n", $$1, $$2 }' Makefile

.PHONY: build
build: build-cluster build-container-node ## Build the server, the local control plane and the plugin of kubectl into _output/bin (DBG=1: for a debugger)
	@hack/go-build.sh . ./cmd/kubectl-modelbox $(BIN)/kubectl-modelbox -ldflags "$(STRIP) $$(hack/version-ldflags.sh)"
	@cp artifacts/plugin/kubectl_complete-modelbox $(BIN)

# All are built with the same flags, so that the libraries that they share are compiled once.
.PHONY: build-cluster
build-cluster:
	@hack/go-build.sh . ./cmd/modelbox-apiserver $(BIN)/modelbox-apiserver -ldflags "$(STRIP) $$(hack/version-ldflags.sh)"
	@hack/go-build.sh hack/localcluster . $(BIN)/localcluster -ldflags '$(LOCALCLUSTER_LDFLAGS)'
	@hack/go-build.sh hack/localcluster ./kubectl $(BIN)/kubectl -ldflags '$(LOCALCLUSTER_LDFLAGS)'

# Simulated nodes need no kubelet and no kube-proxy.
.PHONY: build-container-node
build-container-node:
	@hack/go-build.sh hack/localcluster ./containernode $(BIN)/containernode -ldflags '$(LOCALCLUSTER_LDFLAGS)'

.PHONY: hosts
hosts: ## Build control planes of the other versions of Kubernetes that are supported (HOSTS=v1.33: of that one)
	@hack/build-hosts.sh $(HOSTS)

.PHONY: node-images
node-images:
	@hack/build-node-images.sh $(NODE_IMAGES)

.PHONY: test-images
test-images:
	@hack/build-node-images.sh $(NODE_IMAGES) tests

.PHONY: run
run: build-cluster $(NODE_TARGETS) ## Run a local control plane with the server and a sample box until Ctrl-C (NODE=container: with real pods)
	@exec $(BIN)/localcluster run $(CLUSTER_FLAGS)

.PHONY: up
up: build-cluster $(NODE_TARGETS) ## Start the same in the background
	@$(BIN)/localcluster up $(CLUSTER_FLAGS)

.PHONY: down
down: ## Stop it
	@if [[ -x $(BIN)/localcluster ]]; then $(BIN)/localcluster down --dir $(CLUSTER_DIR); fi

.PHONY: image
image: ## Build the container image as an OCI archive, without a container engine
	@hack/build-image.sh modelbox-apiserver:latest _output/images/modelbox-apiserver.tar

# The images in the manifests that are written: a name with a tag, a digest or both.
IMAGE := modelbox-apiserver:latest
ETCD_IMAGE := etcd:v3.7.3

.PHONY: install-files
install-files: ## Write what there is to install into _output/release (IMAGE=name: with that image)
	@hack/build-install.sh '$(IMAGE)' '$(ETCD_IMAGE)' _output/release

# The name of the image in a release, without a tag.
RELEASE_IMAGE := modelbox-apiserver

.PHONY: release
release: ## Make a release of this commit in _output/dist (RELEASE_IMAGE=name: of that image; COSIGN_KEY=file: signed with that key)
	@hack/release.sh '$(RELEASE_IMAGE)' '$(ETCD_IMAGE)'

# The folder for what the release on the way stores and writes.
RELEASE_RECORD = pkg/controller/fixture/testdata/releases/v$(shell sed -n 's/^const Current = "\(.*\)"$$/\1/p' pkg/version/version.go)

.PHONY: release-record
release-record: build ## Record what this release stores and writes, for the tests of later ones
	@MODELBOX_E2E_RECORD_RELEASE=$(CURDIR)/$(RELEASE_RECORD) go test ./pkg/e2e/upgrade -run TestRecordRelease -count=1

##@ Contribute

.PHONY: clients
clients: ## Build the programs that others read and write boxes with, for the tests
	@hack/go-build.sh hack/clients . $(BIN)/clients -ldflags '-s -w'
	@for program in controller-runtime flux helm kstatus; do ln -sf clients $(BIN)/$$program; done

.PHONY: prometheus
prometheus: ## Get Prometheus for the tests of the checks of rollouts (Debian)
	@hack/get-prometheus.sh $(BIN)/prometheus

# The packages whose tests need nothing but Go. The slowest one is first: others are tested beside it.
UNIT_PACKAGES = $$(go list ./pkg/storage/recovery ./... | grep -v /pkg/e2e)

# Tests of containers mostly wait. They use the machine alone, except for tests with the lowest priority.
TEST_CONTAINERS := hack/go-test.sh e2e-containers . ./pkg/e2e/containers -count=1 -timeout 30m

# The simulated clusters need one core for ten minutes. Their clock is simulated, so they can wait for all other tests.
TEST_UNIVERSE := hack/go-test.sh universe hack/universe ./... -timeout 80m

# Tests and linters collect garbage less often, which saves between a tenth and a third of their processor time.
test test-unit test-e2e verify: export GOGC ?= 400

.PHONY: test
test: build clients test-images prometheus ## Run all tests, and print where the time goes
	@rm -rf _output/test
	@hack/test-beside.sh "$(MAKE) --no-print-directory test-beside-universe" "$(TEST_UNIVERSE)"
	@_output/tools/testtimes report _output/test

.PHONY: test-beside-universe
test-beside-universe:
	@hack/test-beside.sh "$(TEST_CONTAINERS)" "$(MAKE) --no-print-directory test-packages"
	@hack/test-e2e.sh

.PHONY: test-packages
test-packages:
	@hack/go-test.sh unit . "$(UNIT_PACKAGES)" -timeout 30m
	@hack/go-test.sh localcluster hack/localcluster "./corevalidation ./node ./pki ./supervisor ./workdir"
	@hack/go-test.sh tools hack/tools ./...
	@hack/go-test.sh signing hack/signing ./...
	@hack/go-test.sh bench hack/bench ./...
	@hack/go-test.sh prometheus hack/prometheus ./... -count=1

.PHONY: test-unit
test-unit: ## Run the tests that need nothing but Go, without what takes long
	@go test -short $(UNIT_PACKAGES)

.PHONY: test-cost
test-cost: ## Compare the allocations of requests with those of the last release, on a machine without other work
	@MODELBOX_TEST_COST=true go test ./cmd/modelbox-apiserver/app/testing -run '^TestCostOfRequests$$' -count=1

.PHONY: test-race
test-race: ## Run the tests that need nothing but Go with the race detector
	@CGO_ENABLED=1 go test -race $(UNIT_PACKAGES) -timeout 30m

.PHONY: test-e2e
test-e2e: build clients test-images prometheus ## Run the tests that need a control plane, against one that is started for them
	@$(TEST_CONTAINERS)
	@hack/test-e2e.sh

.PHONY: test-install
test-install: build clients node-images image install-files ## Install the image in clusters in each way of the README, and uninstall it (Linux, root)
	@hack/build-etcd-image.sh _output/images/etcd.tar
	@hack/go-build.sh hack/certmanager . $(BIN)/cert-manager -ldflags '-s -w'
	@MODELBOX_E2E_IMAGES=$(CURDIR)/_output/images go test ./pkg/e2e/containers -run TestInstall -timeout 20m -v

.PHONY: dashboard-picture
dashboard-picture: build ## Draw the dashboard from what a real Prometheus has of a server at work (Debian)
	@hack/draw-dashboard.sh docs/operate/dashboard.png

.PHONY: test-dashboard
test-dashboard: build ## Open every view of the dashboard of the plugin in a browser, and press every button (Node.js, npm, Chromium)
	@hack/test-pages.sh pkg/cli/dashboard/web _output/dashboard

.PHONY: test-headlamp
test-headlamp: build ## Open every view of the plugin for Headlamp in a browser, and do every action (Node.js, npm, Chromium)
	@hack/test-pages.sh hack/headlamp _output/headlamp --component=pod-debugger

.PHONY: plugin-session
plugin-session: build test-images ## Type every command of the plugin into a terminal, and write what it shows (tmux, Linux, root)
	@hack/record-session.sh hack/sessions/plugin.txt docs/plugin-session.md

.PHONY: k9s-session
k9s-session: build test-images ## Press every key of artifacts/k9s in k9s, and write what it shows (tmux, Linux, root)
	@hack/go-build.sh hack/k9s github.com/derailed/k9s $(BIN)/k9s -ldflags '-s -w'
	@hack/record-session.sh hack/sessions/k9s.txt docs/k9s-session.md 24

.PHONY: test-ecosystem
test-ecosystem: build clients node-images ## Sync, restore, check and follow boxes with Argo CD, Velero, policy engines, stern and others, and write a page of the results
	@hack/build-ecosystem.sh $(BIN)
	@hack/test-ecosystem.sh docs/ecosystem-results.md

.PHONY: test-chaos
test-chaos: build ## Change and break everything at once for ten minutes
	@MODELBOX_E2E_CHAOS=10m go test ./pkg/e2e/server -run TestChaosConverges -timeout 20m -v

.PHONY: test-pairs
test-pairs: build ## Make every change of boxes and stacks in every way, take it back in every way, and fail every rollout
	@MODELBOX_E2E_PAIRS=1 go test ./pkg/e2e/pairs -parallel 24 -timeout 60m -v
	@MODELBOX_E2E_PAIRS=1 go test ./pkg/e2e/lifecycle -run TestFailedRollouts -parallel 24 -timeout 30m -v

.PHONY: test-disaster
test-disaster: build ## Lose the store in every way with 200 boxes, and kill the server 50 times, and 200 times in rollouts
	@MODELBOX_TEST_KILLS=200 go test ./pkg/controller/modelbox -run '^TestKilledControllerKeepsRollouts$$' -timeout 30m -v
	@MODELBOX_E2E_DISASTER_BOXES=200 MODELBOX_E2E_KILLS=50 go test ./pkg/e2e/storage -run 'TestLostStoreIsRecovered|TestKilledServerLosesNothing' -timeout 60m -v

.PHONY: test-linearizability
test-linearizability: build ## Check that the responses of one and of three servers that are killed, frozen and restarted are linearizable, for half an hour each
	@MODELBOX_E2E_LINEARIZABILITY=30m go test ./pkg/e2e/linearizability -timeout 90m -v

.PHONY: universe
universe: ## Run simulated clusters with random changes and failures for half an hour (DURATION=10m: for ten minutes)
	@hack/test-universe.sh $(DURATION)

.PHONY: test-powerloss
test-powerloss: build ## Cut the power 200 times while boxes are written, and at the syncs of etcd, of a restore and of raising the revision (Linux, root)
	@MODELBOX_E2E_CUTS=200 go test ./pkg/e2e/powerloss -run TestEtcdSurvivesACutAtEverySync -timeout 120m -v
	@MODELBOX_E2E_CUTS=200 go test ./pkg/e2e/storage -run TestPowerLossLosesNothing -timeout 120m -v

.PHONY: test-mutations
test-mutations: ## Change the code that decides in a thousand ways, and see that a test notices each change (MUTATED=pkg/apply: only there)
	@hack/test-mutations.sh $(MUTATED)

.PHONY: test-healing
test-healing: build ## Edit every field of what boxes become, in every way, and see it healed
	@MODELBOX_E2E_HEALING=1 go test ./pkg/e2e/ownership -run TestEveryEditIsRestored -timeout 60m -v

.PHONY: test-rendered
test-rendered: ## Compare what is applied for 1,000 random boxes with what their subresource render says
	@MODELBOX_E2E_RENDERED_BOXES=1000 go test ./cmd/modelbox-apiserver/app/testing -run TestRenderIsWhatIsApplied -timeout 30m -v

.PHONY: test-availability
test-availability: build ## Stop, kill and cut off one of three servers, etcd and kube-apiserver under requests, and count what fails (HTTP2=1: with HTTP/2)
	@MODELBOX_E2E_AVAILABILITY=1 MODELBOX_E2E_HTTP2=$(HTTP2) go test ./pkg/e2e/server -run '^TestAvailability$$' -timeout 20m -v

.PHONY: test-traffic
test-traffic: build test-images prometheus ## Release good and bad versions in every way under requests, and count what fails and who answers (Linux, root)
	@MODELBOX_E2E_TRAFFIC=1 go test ./pkg/e2e/containers -run '^TestReleasesLoseNoRequest$$' -timeout 90m -v

.PHONY: test-migrate
test-migrate: build ## Move 500 boxes from a CustomResourceDefinition to the server, and back
	@MODELBOX_E2E_MIGRATED_BOXES=500 go test ./pkg/e2e/migrate -timeout 60m -v

# The previous release: the newest one, or a commit in its place as long as there is no release.
FORMER_RELEASE = $(or $(shell git describe --tags --abbrev=0 --match 'v[0-9]*' HEAD^ 2>/dev/null),b9829ee)

.PHONY: test-upgrade
test-upgrade: build ## Replace the server of the release before by this one and back, and see that nothing else changes (FORMER_RELEASE=commit)
	@hack/build-former-server.sh '$(FORMER_RELEASE)' _output/former
	@MODELBOX_E2E_FORMER_SERVER=$(CURDIR)/_output/former/modelbox-apiserver go test ./pkg/e2e/upgrade -run TestUpgrade -timeout 20m -v

.PHONY: test-hosts
test-hosts: build hosts ## Run the end-to-end tests against control planes of each Kubernetes that is supported, and write docs/hosts.md (HOSTS=v1.33: of that one)
	@hack/test-hosts.sh $(HOSTS)

.PHONY: fuzz
fuzz: ## Fuzz with each target for two minutes (FUZZTIME=10m: for ten)
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: test-scale
test-scale: build ## Converge a thousand boxes, 200 stacks, a chain of 300 components and 10,000 Services, and count what is written then
	@MODELBOX_E2E_BOXES=1000 go test ./pkg/e2e/ownership -run TestSettledBoxesCauseNoWrites -timeout 30m -v
	@MODELBOX_E2E_CHAIN=300 MODELBOX_E2E_STACKS=200 go test ./pkg/e2e/stack -parallel 1 -run 'Chain|ManyStacks' -timeout 90m -v
	@MODELBOX_E2E_SERVICES=10000 go test ./pkg/e2e/serviceingress -run TestManyServices -timeout 30m -v

.PHONY: test-growth
test-growth: build ## Move the store to another etcd and back, encrypt it, and serve 25,000 boxes by three servers
	@hack/go-build.sh . go.etcd.io/etcd/server/v3 $(BIN)/etcd
	@hack/go-build.sh hack/tools go.etcd.io/etcd/etcdutl/v3 $(BIN)/etcdutl
	@MODELBOX_E2E_GROWTH=1 go test ./pkg/e2e/storage -run '^(TestStoreMovesOutAndBack|TestStoreIsEncryptedInPlace|TestExternalEtcdIsEncryptedWithoutRestart)$$' -timeout 30m -v
	@MODELBOX_E2E_GROWTH=1 go test ./cmd/modelbox-apiserver/app/testing -run '^TestEncryption' -v
	@MODELBOX_E2E_GROWN_BOXES=25000 go test ./pkg/e2e/server -run '^TestManyBoxesOnThreeServers$$' -timeout 90m -v

# The benchmarks, and the programs that they measure.
.PHONY: bench-build
bench-build: build
	@hack/go-build.sh . go.etcd.io/etcd/server/v3 $(BIN)/etcd
	@hack/build-kro.sh $(BIN)
	@hack/build-argo-rollouts.sh $(BIN)
	@hack/go-build.sh hack/bench . $(BIN)/bench

.PHONY: bench
bench: bench-build ## Measure the server beside its peers in every scenario, into _output/bench (SCENARIOS=api: in that one)
	@$(BIN)/bench run $(SCENARIOS)

.PHONY: bench-quick
bench-quick: bench-build ## The same in a quarter of an hour, roughly
	@$(BIN)/bench run --quick $(SCENARIOS)

.PHONY: bench-micro
bench-micro: ## Run the benchmarks of single functions, each beside what it is to be compared with
	@go test -p 1 -run '^$$' -bench . $$(grep -rl --include='*_test.go' '^func Benchmark' pkg | sed 's,\(.*\)/.*,./\1,' | sort -u)

.PHONY: verify
verify: ## Check generated code, formatting, lint, import rules and known vulnerabilities
	@for check in hack/verify-*.sh; do echo "$$check"; "$$check"; done

.PHONY: generate
generate: ## Generate what is generated
	@hack/update-codegen.sh
