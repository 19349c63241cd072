#!/usr/bin/env bash
# Tries the release files as their users do: two builds from two clones are equal; install, upgrade and remove in a clean Debian; the
# rpm in an empty root; arm64's plimsoll, fio and tests under qemu-user. Takes some minutes and needs root for the clean system.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$PWD
say() { printf '%s\n' "dist-test: $*"; }

commit=$(git rev-parse HEAD) # a commit made meanwhile must not come between the two
for n in 1 2; do
	git clone -q --no-checkout . "$work/clone$n"
	git -C "$work/clone$n" checkout -q --detach "$commit"
	(cd "$work/clone$n" && NFPM=$here/.tools/nfpm-2.44.0 VERSION=0.1.0 scripts/dist.sh "$work/out$n" >/dev/null)
done
cmp "$work/out1/SHA256SUMS" "$work/out2/SHA256SUMS"
say "two builds from two clones have the same SHA256SUMS"
(cd "$work/clone1" && NFPM=$here/.tools/nfpm-2.44.0 FIO=no VERSION=0.2.0 scripts/dist.sh "$work/next" >/dev/null)

out=$work/out1
if [ "$(id -u)" = 0 ]; then
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mmdebstrap --quiet --variant=minbase "$suite" "$work/root"
	mount -t proc proc "$work/root/proc" # as every system has it; plimsoll asks for it
	trap 'umount "$work/root/proc"; rm -rf "$work"' EXIT
	deb() { cp "$1" "$work/root/tmp/p.deb" && chroot "$work/root" dpkg -i /tmp/p.deb >/dev/null; }
	deb "$out"/plimsoll_0.1.0_linux_amd64.deb
	chroot "$work/root" plimsoll version | grep -q 'plimsoll 0.1.0 '
	chroot "$work/root" plimsoll ceiling 4 --volumes 8xgp3 --level raid10 >/dev/null
	if chroot "$work/root" plimsoll run 3 --data /tmp 2>"$work/err"; then say "run without fio must fail"; exit 1; fi
	grep -q 'fio is not installed' "$work/err"
	deb "$work/next"/plimsoll_0.2.0_linux_amd64.deb
	chroot "$work/root" plimsoll version | grep -q 'plimsoll 0.2.0 '
	chroot "$work/root" dpkg -r plimsoll >/dev/null
	[ ! -e "$work/root/usr/bin/plimsoll" ]
	mkdir "$work/root/srv/repository"
	tar -xf "$out"/plimsoll_0.1.0_apt.tar -C "$work/root/srv/repository" --strip-components=1
	echo 'deb [trusted=yes] file:/srv/repository stable main' >"$work/root/etc/apt/sources.list"
	chroot "$work/root" apt-get -qq -o APT::Install-Recommends=false update
	chroot "$work/root" apt-get -qq -y -o APT::Install-Recommends=false install plimsoll >/dev/null
	chroot "$work/root" plimsoll version | grep -q 'plimsoll 0.1.0 '
	chroot "$work/root" apt-get -qq -y remove plimsoll >/dev/null
	cp "$out"/fio-*_linux_amd64 "$work/root/usr/bin/fio"
	chroot "$work/root" fio --version | grep -q '^fio-'
	say "the Debian repository serves plimsoll to apt"
	say "the deb installs, upgrades and is removed in a clean $suite; the static fio runs there"
	mkdir -p "$work/rpm"
	rpm --root "$work/rpm" --initdb
	rpm --root "$work/rpm" --nodeps --nosignature -i "$out"/plimsoll_0.1.0_linux_amd64.rpm
	"$work/rpm/usr/bin/plimsoll" version | grep -q 'plimsoll 0.1.0 '
	rpm --root "$work/rpm" --nodeps --nosignature -U "$work/next"/plimsoll_0.2.0_linux_amd64.rpm
	"$work/rpm/usr/bin/plimsoll" version | grep -q 'plimsoll 0.2.0 '
	rpm --root "$work/rpm" --nodeps -e plimsoll
	[ ! -e "$work/rpm/usr/bin/plimsoll" ]
	say "the rpm installs, upgrades and is removed in an empty root"
else
	say "SKIPPED: installing in a clean system needs root"
fi

HOME=$work/home "$out/install.sh" "$out/plimsoll_0.1.0_linux_amd64.tar.gz" >/dev/null
"$work/home/.local/bin/plimsoll" version | grep -q 'plimsoll 0.1.0 '
HOME=$work/home "$out/install.sh" --remove
[ -z "$(find "$work/home/.local" -type f)" ]
cp "$out/plimsoll_0.1.0_linux_amd64.tar.gz" "$out/SHA256SUMS" "$work/home" && echo damaged >>"$work/home/plimsoll_0.1.0_linux_amd64.tar.gz"
! HOME=$work/home "$out/install.sh" "$work/home/plimsoll_0.1.0_linux_amd64.tar.gz" 2>"$work/err"
grep -q 'is not the file that SHA256SUMS names' "$work/err"
say "install.sh installs below a home, removes what it installed, and refuses a damaged archive"
STATIC_FIO=$(echo "$out"/fio-*_linux_amd64) ${GO:-go} test -C packaging -count=1 ./image
say "the image measures with its own fio"

tar -xzf "$out/plimsoll_0.1.0_linux_arm64.tar.gz" -C "$work"
arm=$work/plimsoll_0.1.0_linux_arm64/plimsoll
qemu-aarch64-static "$arm" version | grep -q 'linux/arm64'
qemu-aarch64-static "$arm" ceiling 4 --volumes 8xgp3 --level raid10 >/dev/null
qemu-aarch64-static "$out"/fio-*_linux_arm64 --version | grep -q '^fio-'
GOARCH=arm64 CGO_ENABLED=0 ${GO:-go} test -short -timeout 40m -exec qemu-aarch64-static ./internal/units ./internal/text ./internal/ceiling ./internal/cloud
say "arm64: plimsoll and fio run, the tests of units, text, ceiling and cloud pass"
(cd "$out" && sha256sum --quiet -c SHA256SUMS)
say "SHA256SUMS holds"
