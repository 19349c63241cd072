#!/bin/sh
# Installs what a make target needs and is missing: need.sh PACKAGE...
# As root on a system with apt-get it installs; otherwise it names the packages and fails.
set -eu

missing=""
for package in "$@"; do
	case $package in
	chromium) program=chromium ;;
	gcc) program=cc ;;
	xfsprogs) program=mkfs.xfs ;;
	*) program=$package ;;
	esac
	command -v "$program" >/dev/null 2>&1 || [ -x "/usr/sbin/$program" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing$missing" >&2
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
	echo "missing:$missing (install with your package manager; as root on Debian: apt-get install$missing)" >&2
	exit 1
fi
