#!/usr/bin/env bash
# Runs the tests and says at the end how many were skipped, and why: a skipped test is a hole, and must not pass for a pass.
# First everything without the lab, with the race detector; then the lab's tests, one guest at a time and without it: they measure.
set -uo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

run() { # prints packages as they end; the whole story only of a failure
	go test -v "$@" >"$log" 2>&1
	local code=$?
	grep -E '^(ok|FAIL|panic:|\?)' "$log" | grep -v 'no test files'
	if [ $code -ne 0 ]; then
		grep -vE '^(=== |--- (PASS|SKIP)|    --- (PASS|SKIP)|PASS$|ok )|rapid\] OK' "$log" | tail -n 300
	fi
	skipped=$((skipped + $(grep -cE '^ *--- SKIP' "$log")))
	# The reason stands in the line before "--- SKIP".
	grep -E -B1 '^ *--- SKIP' "$log" | grep -vE '^(--|=== .*)$' >>"$log.skips"
	return $code
}

# lab runs tests in guests. They measure rates on whatever machine this is, so a failure is looked at twice, and said.
lab() {
	run -p 1 -count=1 "$@" && return
	echo "FAILED ONCE, running again: $*"
	run -p 1 -count=1 "$@"
}

skipped=0
: >"$log.skips"
mapfile -t rooms < <(go list ./... | grep -vE '/internal/lab(/ebs|/labtest)?$')
PLIMSOLL_LAB=off CGO_ENABLED=1 run -race -timeout 8m "${rooms[@]}" || failed=1
off=$skipped
if [ "${PLIMSOLL_LAB:-}" != off ]; then
	# What was skipped for PLIMSOLL_LAB=off runs now.
	skipped=0
	: >"$log.skips"
	# What takes long (a power cut at every step of provisioning, each variant, reboots of a whole Debian) is for make lab.
	lab -timeout 6m -skip '^TestLabDebian$' ./internal/lab/... || failed=1
	lab -timeout 4m -run 'TestLabRun|TestLabGuide' ./internal/cli ./internal/provision || failed=1
fi
if [ "$skipped" -gt 0 ]; then
	echo "$skipped tests were SKIPPED:"
	sed 's/^/  /' "$log.skips"
else
	echo "no test was skipped ($off ran in the second part, with the lab)"
fi
rm -f "$log.skips"
exit $failed
