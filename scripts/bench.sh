#!/usr/bin/env bash
# Prints ratios measured within this run. Only the share of a core that workload record takes fails on a number:
# timings on a shared machine are for eyes.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== plimsoll beside bare fio"
go test -tags ratios -run TestRatios -v -count=1 ./internal/cli | grep -E 'median|FAIL' | sed 's/^ *ratio_test.go:[0-9]*: //'
echo "== plimsoll why beside 24 devices and 500 processes"
scripts/bench-why.sh
echo "== what plimsoll workload record takes of a core (demanded: at most 0.5 %)"
PLIMSOLL_COSTS=1 go test -run '^TestRecordSeesWhatFioDoes$' -v -count=1 ./internal/workload | grep -E 'watching|FAIL|SKIP' | sed 's/^ *record_test.go:[0-9]*: //'
echo "== linting: 2,000 job files (demanded: at most 3 s), 56,000 files of a tree (at most 10 s)"
scripts/bench-lint.sh
echo "== what hostile texts of 1 MB cost, by way in"
PLIMSOLL_COSTS=1 go test -run TestHostileInputCosts -v -count=1 -timeout 60m ./internal/cli | grep -E 'MiB|CPU time|FAIL' | sed 's/^ *cost_test.go:[0-9]*: //'
echo "== hostile text in each field of each record, alone and together"
PLIMSOLL_HOSTILE=all go test -run 'TestHostile(Machine)?Records' -v -count=1 -timeout 30m ./internal/cli | grep -E 'fields|FAIL' | sed 's/^ *hostile_test.go:[0-9]*: //'
PLIMSOLL_SPOILED=2000 go test -run TestSpoiledInputs -v -count=1 ./internal/bundle | grep -E 'inputs|input [0-9]|FAIL' | sed 's/^ *spoiled_test.go:[0-9]*: //'
echo "== findings on labelled public results, by family (warnings or worse)"
go test -run TestPublicResults -v -count=1 ./internal/cli | grep -E 'public results|FAIL|SKIP' | sed 's/^ *public_test.go:[0-9]*: //'
echo "== advice against brute force"
PLIMSOLL_CASES=1000 go test -run TestBruteForce -v -count=1 ./internal/advise | grep -E 'random demands|FAIL' | sed 's/^ *brute_test.go:[0-9]*: //'
echo "== ceilings beside a simulation of the job: 2,000 random cases by means, 100 I/O by I/O"
PLIMSOLL_ORACLE=2000 go test -run '^TestOracle(ByEachIO)?$' -v -count=1 -timeout 40m ./internal/ceiling | grep -E 'differ|FAIL|^ok' | sed 's/^ *oracle_test.go:[0-9]*: //'
echo "== benchmarks of the rooms"
go test -run '^$' -bench . -benchtime 1x ./internal/... | grep -E '^(Benchmark|pkg:)|^ok' | grep -v '^ok' || true
