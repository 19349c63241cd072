#!/usr/bin/env bash
# Runs every test that needs the lab: those of exact figures first, next to nothing, then three machines at a time. Two of these keep
# about half of two cores busy each; the third runs whole Debian systems, whose tests only wait for an emulated CPU, and takes what is
# left. One guest at a time holds the lock in TMPDIR (labtest.Need), so that each lane has a TMPDIR of its own.
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} failed=0
alone='^TestLab(Stop|Most)$' debian='^(TestLab(Reboot|UnlistedArray|Dracut|Debian|Tune.*)|TestInTheLab)$'
dirs=$(mktemp -d)
trap 'rm -rf "$dirs"' EXIT
mkdir "$dirs/arrays" "$dirs/debian"

$go test -count=1 -timeout 30m -run "$alone" ./internal/cli || failed=1
$go test -p 1 -count=1 -timeout 20m -skip "$debian" ./internal/lab/... || failed=1

$go test -count=1 -timeout 60m -run Lab -skip "$alone" ./internal/cli & lanes=$!
TMPDIR=$dirs/arrays $go test -count=1 -timeout 60m -run Lab -skip "$debian" ./internal/provision & lanes+=" $!"
TMPDIR=$dirs/debian nice -n 10 $go test -p 1 -count=1 -timeout 60m -run "$debian" ./internal/provision ./internal/tune ./internal/lab & lanes+=" $!"
for lane in $lanes; do
	wait "$lane" || failed=1
done
exit $failed
