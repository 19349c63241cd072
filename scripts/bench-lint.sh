#!/usr/bin/env bash
# How long lint takes, reading included: wall and CPU time of many files and of a large tree. Nothing here fails on a number.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# took NAME PATH: wall and CPU seconds of one lint.
took() {
	local TIMEFORMAT='%R s, %U s of CPU'
	printf '%s: ' "$1"
	time { bin/plimsoll lint "$2" >/dev/null || [ $? = 3 ]; } # 3: findings
}

mkdir "$work/jobs" "$work/tree"
for i in $(seq 2000); do
	printf '[global]\nioengine=libaio\ndirect=1\ntime_based\nruntime=60\ndirectory=/data\nsize=10g\n[a%s]\nrw=randrw\nrwmixread=70\nbs=28k\niodepth=32\n' "$i" >"$work/jobs/$i.fio"
done
took "2,000 job files" "$work/jobs"

# A tree as large repositories are: 560 folders of 100 files, of which one in 100 names fio.
body=$(printf 'static int f(void)\n{\n\treturn 1;\n}\n%.0s' $(seq 40))
for d in $(seq 560); do
	mkdir "$work/tree/d$d"
	for f in $(seq 33); do
		printf '%s' "$body" >"$work/tree/d$d/$f.c"
		printf '%s' "$body" >"$work/tree/d$d/$f.txt"
		printf '%s' "$body" >"$work/tree/d$d/$f"
	done
	printf '#!/bin/sh\nfio --name=a --rw=read --size=9g --directory=/d\n' >"$work/tree/d$d/bench.sh"
done
took "56,000 files in a tree" "$work/tree"
