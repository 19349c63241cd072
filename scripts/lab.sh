#!/usr/bin/env bash
# Runs the tests that need the lab: those of exact figures first, next to nothing, then two machines at a time, which keep about half
# of two cores busy each. One guest at a time holds the lock in TMPDIR (labtest.Need): the second lane has a TMPDIR of its own.
# usage: lab.sh [systems]   systems: those that boot a whole Debian, one after the other, and nothing else
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} failed=0
systems='^TestLab(Debian|Dracut|Reboot|TuneReboot|UnlistedArray)$' alone='^TestLab(Stop|Most)$'
if [ "${1-}" = systems ]; then
	exec $go test -p 1 -count=1 -timeout 60m -run "$systems" ./internal/lab ./internal/provision ./internal/tune
fi
other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
$go test -count=1 -timeout 30m -run "$alone" ./internal/cli || failed=1
$go test -p 1 -count=1 -timeout 20m -skip "$systems" ./internal/lab/... || failed=1
TMPDIR=$other $go test -p 1 -count=1 -timeout 40m -run Lab -skip "$systems" ./internal/provision ./internal/tune &
lane=$!
$go test -count=1 -timeout 60m -run Lab -skip "$alone" ./internal/cli || failed=1
wait $lane || failed=1
exit $failed
