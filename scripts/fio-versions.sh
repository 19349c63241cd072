#!/usr/bin/env bash
# Runs plimsoll and the tests of fio's formats with the fio of other releases: fio-versions.sh [SUITE...].
# The suites are Debian's (bullseye bookworm trixie forky sid) from this machine's own mirror and, with UBUNTU_MIRROR and a keyring in
# UBUNTU_KEYRING, Ubuntu's (focal jammy noble).
# Each is unpacked by mmdebstrap, about 140 MB, below FIO_VERSIONS (default ~/.cache/plimsoll-fio); fio runs by its own loader and
# libraries, on this kernel and these files.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${FIO_VERSIONS:-$HOME/.cache/plimsoll-fio}
[ $# -gt 0 ] || set -- bullseye bookworm trixie sid
command -v mmdebstrap >/dev/null || { echo "missing: mmdebstrap (apt-get install mmdebstrap)" >&2; exit 1; }
mkdir -p "$cache"

# unpack SUITE: the release's fio with its libraries, and a program bin/SUITE/fio that starts it.
unpack() {
	local root=$cache/$1 mirror from=() dirs=() loader libs
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -1)
	case $1 in focal | jammy | noble)
		mirror=${UBUNTU_MIRROR:?the address of an Ubuntu mirror}
		from=(--components=main,universe --keyring="${UBUNTU_KEYRING:?the file ubuntu-archive-keyring.gpg}")
		;;
	esac
	if [ ! -x "$root/usr/bin/fio" ]; then
		rm -rf "$root"
		# A mirror that stands still is fine here: the signature counts, not its age.
		mmdebstrap --quiet --variant=extract --include=fio --aptopt='Acquire::Check-Valid-Until "false"' "${from[@]}" "$1" "$root" "$mirror"
	fi
	for dir in "$root/lib" "$root/usr/lib"; do # newer releases are unpacked without /lib
		[ ! -d "$dir" ] || dirs+=("$dir/")
	done
	loader=$(find "${dirs[@]}" -path '*-linux-gnu/ld-*.so*' -type f -print -quit)
	libs=$(find "${dirs[@]}" -maxdepth 2 \( -name '*-linux-gnu' -o -name ceph \) -type d | paste -sd:)
	mkdir -p "$cache/bin/$1"
	printf '#!/bin/sh\nexec %s --library-path %s %s/usr/bin/fio "$@"\n' "$loader" "$libs" "$root" >"$cache/bin/$1/fio"
	chmod +x "$cache/bin/$1/fio"
}

# job is what a job file may ask for; formats that must agree are the tests' business.
job='[global]
directory=DIR
size=16m
bs=8k
ioengine=libaio
direct=1
log_avg_msec=100
[zipf]
rw=randrw
random_distribution=zipf:1.1
rate_iops=2000
time_based
runtime=3
write_lat_log=DIR/lat
[verify]
stonewall
rw=randwrite
verify=crc32c
write_hist_log=DIR/hist
log_hist_msec=100
[steady]
stonewall
rw=read
time_based
runtime=6
steadystate=iops:20%
steadystate_duration=2
[synced]
stonewall
rw=write
fdatasync=1
time_based
runtime=2'

failed=0
for suite in "$@"; do
	unpack "$suite"
	work=$(mktemp -d)
	(
		export PATH=$cache/bin/$suite:$PATH
		echo "== $suite: $(fio --version)"
		code=0
		go test -count=1 ./internal/fio/... ./internal/result || code=1
		plimsoll=$PWD/bin/plimsoll
		cd "$work"
		echo "${job//DIR/$work}" >all.fio
		fio --parse-only all.fio || code=1
		"$plimsoll" lint --installed all.fio >lint.txt || { cat lint.txt; code=1; }
		for args in "db --runtime 2s --ramp 1s --size 64MiB --cooldown 0s" "all.fio --cooldown 0s"; do
			# shellcheck disable=SC2086 # a list of words
			"$plimsoll" run $args --data "$work" --progress none >run.txt 2>&1 || [ $? -ge 3 ] || { cat run.txt; code=1; }
			grep -vE '^(- |  |$)' run.txt | head -n 16
		done
		for format in normal json json+ terse; do
			fio --output-format=$format --name=a --filename=f --size=4m --rw=randrw --bs=8k >$format.txt
			"$plimsoll" import $format.txt --summary | tail -n 1 || code=1
		done
		exit $code
	) || { failed=1; echo "FAILED: $suite"; }
	rm -rf "$work"
done
exit $failed
