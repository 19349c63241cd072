#!/usr/bin/env bash
# Runs every fuzz target for a while and prints how many executions it made: a target that makes few fuzzes nothing.
# usage: fuzz.sh [SECONDS [PATTERN]]   SECONDS each, 10 unless given; PATTERN selects targets by name, such as internal/fio.FuzzRead
#
# Executions are counted per second of CPU time, of the fuzzer's own processes and with its coverage instrumentation, so that a
# busy machine does not fail a target. The first seconds count too. Minimizing inputs is limited: it may take all of the time.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-10} pattern=${2:-.} least=1000
work=$(mktemp -d) failed=0 total=0
trap 'rm -rf "$work"' EXIT
cache=$(go env GOCACHE)/fuzz # where go test -fuzz keeps what it found, so that the next time goes on from there
export GOMAXPROCS=1          # one worker

cpu() { # of the processes that have ended, in milliseconds
	local ticks
	read -r -a ticks < <(sed 's/.*) //' /proc/$$/stat)
	echo $(((ticks[13] + ticks[14]) * 10))
}

printf '%-52s %12s %9s %14s\n' target executions 'CPU time' 'per CPU second'
while IFS=: read -r file target; do
	dir=$(dirname "$file") name=$(dirname "$file").$target
	[[ $name =~ $pattern ]] || continue
	binary=$work/$(tr / _ <<<"$dir").test
	[ -e "$binary" ] || go test -c -fuzz=. -o "$binary" "./$dir" || { failed=1; continue; }
	before=$(cpu)
	(cd "$dir" && exec "$binary" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="${seconds}s" -test.fuzzminimizetime=10x -test.parallel=1 \
		-test.fuzzcachedir="$cache/$(go list .)") >"$work/log" 2>&1
	code=$?
	used=$(($(cpu) - before + 1))
	made=$(grep -o 'execs: [0-9]*' "$work/log" | tail -n 1 | cut -d' ' -f2)
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
