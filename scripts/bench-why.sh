#!/usr/bin/env bash
# Prints what plimsoll why costs on this host beside 24 loop devices and 500 sleeping processes: the median of five looks of 5 s, by the
# kernel's account of the whole process (getrusage). Demanded: at most 100 ms of CPU, at most 6 s. Root only: loop devices.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ] || ! command -v losetup >/dev/null; then
	echo "skipped: loop devices need root and losetup"
	exit 0
fi
dir=$(mktemp -d)
devices=() sleepers=()
undo() {
	kill "${sleepers[@]}" 2>/dev/null || :
	for d in "${devices[@]}"; do losetup -d "$d" || :; done
	rm -rf "$dir"
}
trap undo EXIT
for i in $(seq 24); do
	truncate -s 16M "$dir/$i"
	devices+=("$(losetup -f --show "$dir/$i")")
done
for _ in $(seq 500); do
	sleep 900 &
	sleepers+=($!)
done
python3 - "${devices[0]}" <<'END'
import json, resource, statistics, subprocess, sys, time
cpu, wall, n = [], [], 0
for _ in range(5):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    out = subprocess.run(["bin/plimsoll", "why", sys.argv[1], "--json"], stdout=subprocess.PIPE).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    json.loads(out)
    wall.append(time.monotonic() - began)
    cpu.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
show = lambda all, form: ", ".join(form % v for v in sorted(all))
print("CPU: median %.0f ms (%s), demanded at most 100; wall: median %.2f s (%s), at most 6; peak of memory %.1f MiB, at most 16" % (
    statistics.median(cpu), show(cpu, "%.0f"), statistics.median(wall), show(wall, "%.2f"),
    resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))
END
