#!/usr/bin/env bash
# Runs every test that needs the lab: those of exact figures first, next to nothing, then two machines at a time, which keep about half
# of two cores busy each. One guest at a time holds the lock in TMPDIR (labtest.Need): the second lane has a TMPDIR of its own.
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} alone='TestLab(Stop|Most)$' failed=0
$go test -count=1 -timeout 30m -run "$alone" ./internal/cli || failed=1
other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
TMPDIR=$other $go test -count=1 -timeout 60m -run Lab ./internal/provision &
lane=$!
$go test -p 1 -count=1 -timeout 60m -run Lab -skip "$alone" ./internal/cli ./internal/tune || failed=1
wait $lane || failed=1
$go test -p 1 -count=1 -timeout 20m ./internal/lab/... || failed=1
exit $failed
