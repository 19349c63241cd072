#!/usr/bin/env bash
# Runs every fuzz target for a while and prints how many executions it made: a target that makes few fuzzes nothing.
# usage: fuzz.sh [SECONDS [PATTERN]]   SECONDS of CPU time each, 10 unless given; PATTERN selects targets by name, such as internal/fio/output.FuzzRead
#
# Executions are counted per second of CPU time, of the fuzzer's own processes and with its coverage instrumentation, so that a
# busy machine does not fail a target. They are counted from when new inputs are tried. Minimizing inputs is limited: it may take all
# of the time. A case that takes more than 1 s of CPU time or allocates more than 64 MiB fails (internal/sys/bounded); one that
# asks for more than 16 GiB of addresses at once cannot have them.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10} pattern=${2:-.} least=1000
work=$(mktemp -d) failed=0 total=0
trap 'rm -rf "$work"' EXIT
cache=$(go env GOCACHE)/fuzz # where go test -fuzz keeps what it found, so that the next time goes on from there
export GOMAXPROCS=1          # one worker

cpu() { # PID: of a process and its children that live, in milliseconds
	local pid stat total=0
	for pid in "$1" $(cat "/proc/$1"/task/*/children 2>/dev/null); do
		stat=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) || continue
		read -r -a stat <<<"$stat"
		total=$((total + stat[11] + stat[12]))
	done
	echo $((total * 10))
}

printf '%-52s %12s %9s %14s\n' target executions 'CPU time' 'per CPU second'
while IFS=: read -r file target; do
	dir=$(dirname "$file") name=$(dirname "$file").$target
	[[ $name =~ $pattern ]] || continue
	binary=$work/$(tr / _ <<<"$dir").test
	[ -e "$binary" ] || go test -c -fuzz=. -o "$binary" "./$dir" || { failed=1; continue; }
	(cd "$dir" && ulimit -v $((16 << 20)) && exec "$binary" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime=10m -test.fuzzminimizetime=10x -test.parallel=1 \
		-test.fuzzcachedir="$cache/$(go list .)") >"$work/log" 2>&1 &
	pid=$!
	# What was found before is run again first, which says nothing of the rate.
	while kill -0 $pid 2>/dev/null && ! grep -q 'now fuzzing' "$work/log"; do sleep 0.1; done
	before=$(cpu $pid) end=$((SECONDS + 6 * seconds)) used=1
	while [ $used -lt $((seconds * 1000)) ] && [ $SECONDS -lt $end ] && kill -0 $pid 2>/dev/null; do
		sleep 0.5
		now=$(cpu $pid)
		used=$((now > before ? now - before : used))
	done
	kill -INT $pid 2>/dev/null # as Ctrl-C does: it ends well
	wait $pid
	code=$?
	made=$(grep -o 'execs: [0-9]*' "$work/log" | tail -n 1 | cut -d' ' -f2)
	first=$(sed -n 's/.*baseline coverage: \([0-9]*\)\/.*now fuzzing.*/\1/p' "$work/log") # these may be counted, too
	made=$((${made:-0} > ${first:-0} ? made - ${first:-0} : 0))
	rate=$((${made:-0} * 1000 / used)) total=$((total + ${made:-0}))
	printf '%-52s %12d %7d.%d %14d' "$name" "${made:-0}" $((used / 1000)) $((used % 1000 / 100)) "$rate"
	if [ $code -ne 0 ]; then
		printf '  FAILED\n'
		tail -n 40 "$work/log"
		failed=1
	elif [ $rate -lt $least ]; then
		printf '  TOO SLOW: want %d\n' $least
		failed=1
	else
		printf '\n'
	fi
done < <(grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' internal cmd | sed 's/func //' | sort)
echo "$total executions"
exit $failed
