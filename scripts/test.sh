#!/usr/bin/env bash
# Runs the tests and says at the end how many were skipped, and why: a skipped test is a hole, and must not pass for a pass. What the
# tests leave behind (a loop device, a mount, a process) fails.
# usage: test.sh        does it work here? All rooms in their short form, the scripts of the command line with real fio and real loop
#                       devices, and one guest of the lab (make test)
#        test.sh rest   what that leaves out: the race detector over all rooms, the long tests, the other guests (make check)
set -uo pipefail
cd "$(dirname "$0")/.."
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
: >"$logs/skips"
failed=0

# All that tests make lies here: what is left can be told from what others do on this machine. The name is the same in each run, since
# Go remembers results only where the environment stays; short, for sockets have short names; /tmp, since a server of PostgreSQL runs as a user who cannot enter every home.
TMPDIR=/tmp/pt-$UID-$(pwd | cksum | cut -d' ' -f1)
mkdir -p -m 1777 "$TMPDIR" && [ -O "$TMPDIR" ] && [ ! -L "$TMPDIR" ] || { echo "$TMPDIR is not this user's own folder: remove it"; exit 1; }
export TMPDIR

# Each room's tests have mounts of their own: what another room's tests start in a mount namespace of its own (a host of a fleet, a
# PostgreSQL server) would keep a copy of them, and so the loop devices busy that these tests have just unmounted.
own=()
! unshare --mount true 2>/dev/null || own=(-exec 'unshare --mount')

# run NAME ARGS... prints packages when all have ended, and of each failed test what it said. make lint has vetted.
run() {
	local log=$logs/$1 code=0
	shift
	go test -v -vet=off "${own[@]}" "$@" >"$log" 2>&1 || code=$?
	grep -E '^(ok|FAIL|panic:|\?)' "$log" | grep -v 'no test files'
	[ $code -eq 0 ] || failures "$log"
	# "=== RUN NAME" (CONT, NAME), what it says, and at the end "--- SKIP: NAME (0.00s)".
	awk '/^=== (RUN|CONT|NAME) / { test = $3 } /\.go:[0-9]+: / && !/: WORK=/ { sub(/^ */, ""); why[test] = $0 } /^ *--- SKIP: / { print $3 ": " why[$3] }' "$log" >>"$logs/skips"
	awk '/^ *--- (PASS|FAIL|SKIP): / { print $3 }' "$log" >>"$logs/ran"
	return $code
}

# failures prints the last 60 lines that each failed test said, and what stands outside of tests (a build, a panic, a timeout); their
# names come last.
failures() {
	awk '
		/^=== (RUN|CONT|NAME|PAUSE) / { test = $3; next }
		/^(FAIL|ok|PASS)/ { test = ""; next }
		/^ *--- (PASS|SKIP|FAIL): / { if ($2 == "FAIL:") failed[++n] = $3; next }
		/rapid\] OK/ { next }
		test == "" { if ($0 !~ /no test files/) outside[++o] = $0; next }
		/^panic: / { panicked = 1 }
		panicked { outside[++o] = $0; next }
		{ said[test, ++lines[test]] = $0 }
		END {
			for (i = o > 120 ? o - 119 : 1; i <= o; i++) print outside[i]
			for (i = 1; i <= n; i++) {
				name = failed[i]; all = lines[name]
				if (all) print "=== " name
				for (l = all > 60 ? all - 59 : 1; l <= all; l++) print said[name, l]
			}
			for (i = 1; i <= n; i++) print "--- FAIL: " failed[i]
		}' "$1"
}

# left names what tests left behind: loop devices on files of theirs, mounts in any mount namespace, processes of their environment.
left() {
	losetup --list --noheadings --raw --output NAME,BACK-FILE 2>/dev/null | grep -F " $TMPDIR" | sed 's/^/loop device /'
	cat /proc/[0-9]*/mountinfo 2>/dev/null | cut -d' ' -f5 | grep -F "$TMPDIR" | sort -u | sed 's/^/mount /'
	local environ pid
	for environ in $(grep -lzF "TMPDIR=$TMPDIR" /proc/[0-9]*/environ 2>/dev/null); do
		pid=${environ//[!0-9]/}
		echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
	done 2>/dev/null
}

# short runs each room's short form, with all scripts of the command line that do not wait for long; one go command compiles nothing
# twice. The command line is first: it waits for fio while the other rooms are compiled.
short() {
	mapfile -t rooms < <(go list ./... | grep -v '/internal/cli$')
	PLIMSOLL_LAB=${PLIMSOLL_LAB:-TestLabRun} run rooms -short -p 3 -parallel 4 -timeout 20m ./internal/cli "${rooms[@]}" || failed=1
	later=$(grep -cE 'make check runs this|NO LAB: (PLIMSOLL_LAB=Test|-short)' "$logs/skips")
	sed -i -E '/make check runs this|NO LAB: (PLIMSOLL_LAB=Test|-short)/d' "$logs/skips"
	echo "$later tests take long and are left for make check"
}

# rest runs first all rooms without the lab, with the race detector, and beside them the long scripts of the command line and what needs
# no detector: both wait for disks, servers and fio. Then the tests of the lab, without the detector, with two guests at a time: a
# guest keeps about one CPU busy.
rest() {
	# The scripts of the command line run the binary as users have it, without the detector: they start hundreds of processes. Those
	# that make test runs whole are not run again.
	mapfile -t rooms < <(go list ./... | grep -vE '/internal/(lab(/ebs|/labtest)?|cli)$')
	whole="^TestScripts\$/^($(cd internal/cli/testdata/script && grep -L '^\[short\]' -- *.txtar | sed 's/\.txtar$//' | paste -sd'|'))\$"
	# Those of scripts/single.txt run without the detector; each name is of one room (TestSingleTestsExist).
	mapfile -t single < <(grep -v '^#' scripts/single.txt | cut -d' ' -f1 | sort -u | sed 's|^|./|')
	names="^($(grep -v '^#' scripts/single.txt | cut -d' ' -f2 | paste -sd'|'))\$"
	PLIMSOLL_LAB=off run scripts -skip "$whole" -parallel 3 -timeout 60m ./internal/cli &
	scripts=$!
	PLIMSOLL_LAB=off run single -p 1 -run "$names" -timeout 60m "${single[@]}" &
	computing=$!
	PLIMSOLL_LAB=off CGO_ENABLED=1 run rooms -p 3 -race -skip "$names" -timeout 60m "${rooms[@]}" || failed=1
	wait "$scripts" || failed=1
	wait "$computing" || failed=1
	[ "${PLIMSOLL_LAB:-}" != off ] || return
	# What was skipped for PLIMSOLL_LAB=off runs now, but for what takes long, which is for make lab: a power cut at every step of
	# provisioning, each variant, most presets, reboots of a whole Debian.
	off='NO LAB: PLIMSOLL_LAB=off'
	later=$(grep -F "$off" "$logs/skips" | cut -d: -f1 | cut -d/ -f1 | grep -vx TestLabRun | sort -u)
	sed -i "/$off/d" "$logs/skips"
	: >"$logs/ran"
	# What measures rates and latencies in a guest measures the host, too: that is make lab's, with nothing beside it. One guest at
	# a time holds the lock in TMPDIR (labtest.Need).
	mkdir -p "$TMPDIR/lane"
	# Of 14 presets four are started here: mdadm with two filesystems, LVM, a resync, and the limits of an instance.
	presets='^TestEveryPreset$/^(gp2x4|slow|degraded|su-sw|misaligned|unwritten|burst|instance|double|volatile)'
	TMPDIR=$TMPDIR/lane run guests -p 1 -count=1 -timeout 30m -run '^TestLabBuild$' ./internal/provision &
	guests=$!
	run lab -p 1 -count=1 -timeout 30m -skip "^(TestLabDebian|TestRates|TestLatencies|TestMdCounts)\$|$presets" ./internal/lab/... || failed=1
	wait "$guests" || failed=1
	later=$(grep -vxFf "$logs/ran" <<<"$later" | paste -sd' ')
	[ -z "$later" ] || echo "left for make lab and make lab-systems, since they take long or measure rates: TestLabDebian TestMdCounts most of TestEveryPreset, $later"
}

if [ "${1:-}" = rest ]; then rest; else short; fi
if [ -s "$logs/skips" ]; then
	echo "$(wc -l <"$logs/skips") tests were SKIPPED:"
	sed 's/^/  /' "$logs/skips"
else
	echo "no test was skipped"
fi
# A process that was ended may take a moment to be gone; one that nobody ended is still there.
for ((i = 0; i < 50; i++)); do
	remains=$(left)
	[ -n "$remains" ] || break
	sleep 0.2
done
[ -z "$remains" ] || { printf 'tests left behind:\n%s\n' "$remains"; failed=1; }
exit $failed
