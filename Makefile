# make demo and make test are the two commands to know; make test and make check are what a change must pass.
SHELL       := /bin/bash
VERSION     := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
GO          ?= go
LINT        := .tools/golangci-lint-2.15.0
DEADCODE    := .tools/deadcode-0.48.0
export CGO_ENABLED = 0

# everything below is a command, not a file
.PHONY: vuln exam exam-live exam-host kills mutants build install demo test check lint rest lab lab-long lab-systems fleet-test fuzz bench fio-versions pg-situations pg-versions dist image dist-test packaging web clean need-build need-here need-test

build: need-build ## the static binary, bin/plimsoll
	@$(GO) build -trimpath -ldflags '-s -w -X plimsoll/internal/cli.Version=$(VERSION)' -o bin/plimsoll ./cmd/plimsoll

PREFIX ?= /usr/local
install: build ## plimsoll with its pages and completions below PREFIX (default /usr/local), and below DESTDIR where that is set
	@scripts/install.sh "$(DESTDIR)$(PREFIX)"

demo: build ## what plimsoll is for, on this machine, idle or busy: about a minute
	@scripts/need.sh fio
	@scripts/demo.sh

test: need-here ## does it work on this machine? Every room, fio, loop devices and a guest of the lab, 4 min on two cores
	@scripts/test.sh

check: need-test lint vuln rest packaging ## everything else: linters, the race detector, long tests, browser, PostgreSQL, all guests, documents, modules
	@scripts/check-docs.sh
	@$(GO) mod verify

vuln: need-build ## known vulnerabilities in what is called, by govulncheck; NOT CHECKED where its database cannot be reached
	@GO=$(GO) scripts/vuln.sh

packaging: need-build ## what makes the release files: the image, the action, manifests, workflows
	@$(GO) vet -C packaging ./... && $(GO) test -C packaging ./...
	@$(GO) tool -modfile=packaging/go.mod actionlint

lint: $(LINT) $(DEADCODE)
	@test -z "$$(gofmt -l cmd internal)" || { gofmt -l cmd internal; echo "run: gofmt -w"; exit 1; }
	@$(LINT) run ./...
	@scripts/deadcode.sh $(DEADCODE)

$(DEADCODE):
	@mkdir -p .tools
	@GOBIN=$(CURDIR)/.tools $(GO) install golang.org/x/tools/cmd/deadcode@v0.48.0
	@mv .tools/deadcode $@

$(LINT):
	@mkdir -p .tools
	@GOBIN=$(CURDIR)/.tools $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	@mv .tools/golangci-lint $@

rest: need-test ## the tests that make test leaves out, and all of them with the race detector; then those of the lab
	@scripts/test.sh rest

lab: need-test ## the tests that need the lab, 55 min on two cores: what wants a quiet machine first, then two at a time: 100 random topologies, power cuts at each step of apply and teardown, faults, all variants
	@GO=$(GO) scripts/lab.sh

fleet-test: need-test ## what of many hosts make check does not wait for: stopped fio, a silent coordinator, a slow link, each host alone; minutes
	@scripts/need.sh --optional slurm-wlm ansible-core
	@PLIMSOLL_FLEET=all $(GO) test -v -count=1 -timeout 20m -run 'TestFleet' ./internal/fleet

lab-systems: need-test ## what boots a whole Debian of the lab, with its own initramfs or dracut's: reboots of what apply built; 32 min on two cores
	@GO=$(GO) scripts/lab.sh systems

lab-long: need-test ## what make lab does not wait for: 400 random topologies (PLIMSOLL_TOPOLOGIES), a power cut before and after each program; hours
	@PLIMSOLL_TOPOLOGIES=$${PLIMSOLL_TOPOLOGIES:-400} PLIMSOLL_LAB=all $(GO) test -v -p 1 -count=1 -timeout 300m -run 'TestLabRandomTopologies|TestLabPowerCut' ./internal/provision

exam: need-test ## N random machines of the lab from SEED on, marked against what was built in (docs/evidence/exam.md); DIR keeps their runs, LANES runs several at once, FROM judges kept ones
	@PLIMSOLL_EXAM_SEED=$(or $(SEED),1) PLIMSOLL_EXAM_N=$(or $(N),20) PLIMSOLL_EXAM_DIR=$(abspath $(or $(DIR),runs/exam)) \
	  PLIMSOLL_EXAM_FROM=$(if $(FROM),$(abspath $(FROM))) PLIMSOLL_EXAM_HELD=$(HELD) PLIMSOLL_EXAM_DOC=$(if $(DOC),$(abspath $(DOC))) \
	  $(GO) test -v -count=1 -parallel $(or $(LANES),1) -timeout 600m -run 'TestExam$$' ./internal/lab/exam

exam-live: need-test ## N machines of the lab at work from SEED on, each in 20 known situations (ONLY=healthy: in those of one truth): is the first cause of plimsoll why right? (docs/evidence/exam.md); DIR, LANES and FROM as for exam
	@PLIMSOLL_EXAM_SEED=$(or $(SEED),1001) PLIMSOLL_EXAM_N=$(or $(N),1) PLIMSOLL_EXAM_DIR=$(abspath $(or $(DIR),runs/exam-live)) \
	  PLIMSOLL_EXAM_FROM=$(if $(FROM),$(abspath $(FROM))) PLIMSOLL_EXAM_ONLY=$(ONLY) \
	  $(GO) test -v -count=1 -parallel $(or $(LANES),1) -timeout 600m -run 'TestExamLive$$' ./internal/lab/exam

exam-host: need-test ## the kernel of this machine, as root, in 41 known kinds of trouble and their healthy twins, from SEED on: is the first cause of plimsoll why right? (docs/why.md); about 12 min a seed; DIR and FROM as for exam-live, ONLY is a pattern such as slow.*true, FOR=8m leaves the rest to another run
	@PLIMSOLL_EXAM_SEED=$(or $(SEED),1) PLIMSOLL_EXAM_N=$(or $(N),1) PLIMSOLL_EXAM_DIR=$(abspath $(or $(DIR),runs/exam-host)) \
	  PLIMSOLL_EXAM_FROM=$(if $(FROM),$(abspath $(FROM))) PLIMSOLL_EXAM_ONLY='$(ONLY)' PLIMSOLL_EXAM_FOR=$(FOR) \
	  $(GO) test -v -count=1 -timeout 600m -run 'TestExamHost$$' ./internal/lab/examhost

kills: need-test ## N (500) kills at random steps from SEED (1), LANES (2) at a time, over run, sweep, ab, pg and fleet, then apply and teardown: what is left fails; about 6 s each
	@KILLS=$(or $(N),500) KILLS_SEED=$(or $(SEED),1) KILLS_LANES=$(or $(LANES),2) $(GO) test -v -count=1 -timeout 300m -run 'TestKills$$' ./internal/cli
	@KILLS=$(or $(N),500) KILLS_SEED=$(or $(SEED),1) $(GO) test -v -count=1 -timeout 60m -run 'TestKilledAtSteps$$' ./internal/provision

fuzz: need-build ## every fuzz target for FUZZ_SECONDS of CPU time each (10), with its executions; fails when one fuzzes next to nothing
	@scripts/fuzz.sh $(or $(FUZZ_SECONDS),10)

bench: build ## ratios against bare fio, wc, python and the like, measured in this run
	@scripts/need.sh fio
	@scripts/bench.sh
	PLIMSOLL_MUTILATE=5000 go test -count=1 -run TestPartsNeverContradictTheWhole ./internal/bundle

fio-versions: build ## the formats and a run with the fio of Debian 11, 12, 13 and sid
	@scripts/fio-versions.sh

# The rooms that compute, decide, name causes, merge hosts or parse: their decisions must be held by values; see docs/evidence/mutants.md.
MUTANT_ROOMS := ceiling topology units stats verdict permit provision provision/records cloud advise compare result fio/merge.go fio/bins fio/phases.go \
  diagnose $(addprefix diagnose/,cloud fleet host layout live postgres run) finding fleet lint lint/settings script bundle fio/text fio/output workload bench
mutants: need-test ## N (100) random one-line mistakes from SEED (1) in the rooms that compute, decide, conclude or parse, each tried by its own package's tests; survivors are printed
	@PLIMSOLL_LAB=off nice -n 10 $(GO) run ./scripts/mutants -seed $(or $(SEED),1) -n $(or $(N),100) $(addprefix internal/,$(or $(ROOMS),$(MUTANT_ROOMS)))

pg-situations: need-test ## 28 situations of PostgreSQL whose limit is known, as root, with each server of BINS (15 and 18): is the first cause right? about 20 s each; ONLY is a pattern of names
	@scripts/need.sh fio postgresql gcc
	@PLIMSOLL_PG_ONLY='$(ONLY)' PLIMSOLL_PG_BINS="$(or $(BINS),/usr/lib/postgresql/15/bin /var/cache/plimsoll-pg/18/bin)" \
	  $(GO) test -v -count=1 -timeout 60m -run 'TestPgSituations$$' ./internal/cli

pg-versions: build ## PostgreSQL's tests and a short run of the suite pg on servers of versions 14, 16, 17 and 18
	@scripts/need.sh gcc libc6-dev fio postgresql maven
	@scripts/pg-versions.sh

NFPM := .tools/nfpm-2.44.0
$(NFPM):
	@mkdir -p .tools
	@GOBIN=$(CURDIR)/.tools $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.0
	@mv .tools/nfpm $@

dist image &: need-build $(NFPM) ## the release files in dist/, for amd64 and arm64: tar.gz, deb, rpm, image, static fio, Debian repository, formula, modules, checksums
	@scripts/need.sh gcc libc6-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	@scripts/dist.sh

dist-test: need-build $(NFPM) ## two builds are equal; install, upgrade and remove in clean systems; arm64 runs
	@scripts/need.sh gcc libc6-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static mmdebstrap rpm
	@scripts/dist-test.sh

web: ## rebuild the charts' JavaScript from web/
	@web/build.sh

clean:
	rm -rf bin dist .tools

need-build:
	@command -v $(GO) >/dev/null || { echo "missing: Go 1.26 or newer (https://go.dev/dl)"; exit 1; }

LAB_PACKAGES := qemu-system-x86 linux-image-cloud-amd64 busybox-static kmod udev mdadm lvm2 btrfs-progs nvme-cli parted gdisk util-linux cloud-guest-utils

need-here: need-build
	@scripts/need.sh fio xfsprogs e2fsprogs
	@scripts/need.sh --optional $(LAB_PACKAGES)

need-test: need-here
	@scripts/need.sh gcc libc6-dev chromium tmux
	@scripts/need.sh --optional mmdebstrap openssh-server iproute2 poppler-utils
	@scripts/need.sh --optional postgresql maven
	@scripts/pg-versions.sh --fetch
