#!/usr/bin/env bash
# Prints what plimsoll why costs on this host beside 24 loop devices and 500 sleeping processes: the median of five looks of 5 s, by the
# kernel's account of the whole process (getrusage). Demanded: at most 100 ms of CPU, 6 s and 16 MiB. Root only: loop devices. Several
# programs as arguments (bin/plimsoll and an older one) take turns.
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
python3 - "${devices[0]}" "$@" <<'END'
import os, statistics, subprocess, sys, time
programs = sys.argv[2:] or ["bin/plimsoll"]

def look(program):
    began = time.monotonic()
    child = subprocess.Popen([program, "why", sys.argv[1], "--json"], stdout=subprocess.DEVNULL)
    time.sleep(4.5)
    with open("/proc/%d/status" % child.pid) as f:
        status = dict(line.split(":", 1) for line in f)
    used = os.wait4(child.pid, 0)[2]
    child.returncode = 0
    mib = lambda name: int(status[name].split()[0]) / 1024
    return 1000 * (used.ru_utime + used.ru_stime), time.monotonic() - began, mib("RssAnon"), mib("VmHWM")

looks = {p: [] for p in programs}
for _ in range(5):
    for p in programs: # in turn, so that other load meets all alike
        looks[p].append(look(p))
show = lambda all, form: form % statistics.median(all) + " (" + ", ".join(form % v for v in sorted(all)) + ")"
for p, all in looks.items():
    cpu, wall, own, whole = zip(*all)
    print("%s: CPU: median %s ms, demanded at most 100; wall: median %s s, at most 6; memory of its own: %s MiB, at most 16; "
          "with the program's file, which is the page cache's: %.1f MiB" % (p, show(cpu, "%.0f"), show(wall, "%.2f"), show(own, "%.1f"), max(whole)))
END
