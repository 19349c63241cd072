#!/usr/bin/env bash
# Runs the tests that need the lab: those of exact figures first, with nothing beside them, then the others two at a time,
# the longest first: a guest keeps about one CPU busy. A test that fails shows all that it printed; one that is skipped says why.
# usage: lab.sh [systems]   systems: those that boot a whole Debian, one after the other, and nothing else
set -uo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go} failed=0
systems='^TestLab(Debian|Dracut|Reboot|TuneReboot|UnlistedArray)$' alone='^TestLab(Stop|Most)$'
long='^TestLab(RandomTopologies|Layout|PowerCut|AB)$'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export dir

# one runs one test of a package, with a TMPDIR of its lane: one guest at a time holds the lock there (labtest.Need).
one() {
	local package=$1 test=$2 began=$SECONDS status=0 word=ok log=$dir/$1.$2
	mkdir -p "$dir/${LANE:-0}"
	(cd "internal/$package" && TMPDIR=$dir/${LANE:-0} "$dir/$package.test" -test.v -test.timeout 40m -test.run "^$test\$") >"$log" 2>&1 || status=1
	if [ $status != 0 ]; then
		cat "$log"
		word=FAIL
	fi
	grep -B2 -e '--- SKIP' "$log"
	echo "$word $package $test $((SECONDS - began)) s"
	return $status
}
export -f one

packages="provision cli tune"
[ "${1-}" != systems ] || packages="lab provision tune"
for package in $packages; do
	$go test -c -o "$dir/$package.test" "./internal/$package" || exit 1
	(cd "internal/$package" && "$dir/$package.test" -test.list Lab) | sed "s/^/$package /" >>"$dir/all"
done
grep -vE "${systems/^/ }" "$dir/all" >"$dir/tests"
if [ "${1-}" = systems ]; then
	grep -E "${systems/^/ }" "$dir/all" | xargs -L 1 bash -c 'one "$@"' one
	exit
fi
grep -E "${alone/^/ }" "$dir/tests" | xargs -L 1 bash -c 'one "$@"' one || failed=1
$go test -p 1 -count=1 -timeout 50m -skip "$systems" ./internal/lab/... || failed=1
{
	grep -E "${long/^/ }" "$dir/tests"
	grep -vE "${alone/^/ }|${long/^/ }" "$dir/tests"
} | xargs -P 2 --process-slot-var=LANE -L 1 bash -c 'one "$@"' one || failed=1
exit $failed
