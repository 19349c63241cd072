#!/usr/bin/env bash
# Prints ratios measured within this run. Nothing here fails on a number: timings on a shared machine are for eyes.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "== plimsoll beside bare fio"
go test -tags ratios -run TestRatios -v -count=1 ./internal/cli | grep -E 'median|FAIL' | sed 's/^ *ratio_test.go:[0-9]*: //'
echo "== findings on labelled public results, by family (warnings or worse)"
go test -run TestPublicResults -v -count=1 ./internal/cli | grep -E 'public results|FAIL|SKIP' | sed 's/^ *public_test.go:[0-9]*: //'
echo "== benchmarks of the rooms"
go test -run '^$' -bench . -benchtime 1x ./internal/... | grep -E '^(Benchmark|pkg:)|^ok' | grep -v '^ok' || true
