#!/bin/sh
# Installs what a make target needs and is missing: need.sh [--optional] PACKAGE...
# As root on a system with apt-get it installs; otherwise it names the packages and fails, or with --optional goes on: the tests
# that need them then skip, and say so.
set -eu

optional=no
[ "${1:-}" = --optional ] && { optional=yes; shift; }

# there PACKAGE: is what the package is wanted for on this machine?
there() {
	case $1 in
	gcc) program=cc ;;
	libc6-dev) [ -e /usr/include/stdlib.h ]; return ;;
	xfsprogs) program=mkfs.xfs ;;
	e2fsprogs) program=mke2fs ;;
	lvm2) program=lvm ;;
	btrfs-progs) program=mkfs.btrfs ;;
	nvme-cli) program=nvme ;;
	gdisk) program=sgdisk ;;
	udev) program=udevadm ;;
	busybox-static) program=busybox ;;
	openssh-server) program=sshd ;;
	iproute2) program=ip ;;
	poppler-utils) program=pdftoppm ;;
	slurm-wlm) program=slurmctld ;;
	ansible-core) program=ansible-playbook ;;
	util-linux) program=lsblk ;;
	kmod) program=modprobe ;;
	postgresql) ls /usr/lib/postgresql/*/bin/pgbench >/dev/null 2>&1 && return; program=pgbench ;;
	maven) program=mvn ;;
	qemu-system-x86) program=qemu-system-x86_64 ;;
	gcc-aarch64-linux-gnu) program=aarch64-linux-gnu-gcc ;;
	libc6-dev-arm64-cross) [ -e /usr/aarch64-linux-gnu/include/stdlib.h ]; return ;;
	qemu-user-static) program=qemu-aarch64-static ;;
	linux-image-cloud-amd64) ls /boot/vmlinuz-*-cloud-amd64 >/dev/null 2>&1; return ;;
	*) program=$1 ;;
	esac
	command -v "$program" >/dev/null 2>&1 || [ -x "/usr/sbin/$program" ] || [ -x "/sbin/$program" ]
}

missing=""
for package in "$@"; do
	there "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing$missing" >&2
	apt-get update -qq
	# shellcheck disable=SC2086 # a list of names
	if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; then
		exit 0
	fi
fi
echo "missing:$missing (install with your package manager; as root on Debian: apt-get install$missing)" >&2
[ "$optional" = yes ]
