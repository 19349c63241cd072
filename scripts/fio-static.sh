#!/usr/bin/env bash
# Builds a static fio from Debian's source: fio-static.sh ARCH OUT, with ARCH amd64 or arm64. OUT gets fio-VERSION_linux_ARCH and,
# once, the source archives that it was made from and fio's COPYING, as its licence (GPL-2) asks.
# The archives come from the mirror that this machine's own apt uses; their checksums are pinned here.
set -euo pipefail
version=3.33
suite=bookworm
sums='2c44d1c5fd0d43752287c9ae1eb9c023f04ef848ea8d4aafa46e9aedb678200b  libaio_0.3.113.orig.tar.gz
d2410e13e0f379d061d077cc5ae325835bb7c6186aa7bafc1df954cbc9b014fc  fio_3.33.orig.tar.gz'

arch=$1 out=$2
case $arch in
amd64) cross='' cc=gcc strip=strip cpu=x86_64 ;;
arm64) cross=aarch64-linux-gnu- cc=aarch64-linux-gnu-gcc strip=aarch64-linux-gnu-strip cpu=aarch64 ;;
*) echo "fio-static.sh: no build for $arch: want amd64 or arm64" >&2; exit 2 ;;
esac

sources=${XDG_CACHE_HOME:-$HOME/.cache}/plimsoll-dist
mkdir -p "$sources" "$out"
if ! (cd "$sources" && sha256sum --quiet -c <<<"$sums" 2>/dev/null); then
	apt=$(mktemp -d)
	trap 'rm -rf "$apt"' EXIT
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" | head -1)
	[ -n "$mirror" ] || mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -1)
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
	get() {
		apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
			-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" "$@"
	}
	get update
	(cd "$sources" && get source --download-only --tar-only fio libaio)
	(cd "$sources" && sha256sum --quiet -c <<<"$sums")
fi

build=$(mktemp -d)
trap 'rm -rf "$build" ${apt:+"$apt"}' EXIT
tar -xzf "$sources/libaio_0.3.113.orig.tar.gz" -C "$build"
tar -xzf "$sources/fio_$version.orig.tar.gz" -C "$build"
flags="-O2 -ffile-prefix-map=$build=."
make -s -C "$build"/libaio-*/src CC="$cc" AR="${cross}ar" RANLIB="${cross}ranlib" ENABLE_SHARED=0 CFLAGS="$flags -nostdlib -Wall -I. -fPIC" libaio.a >/dev/null
mkdir -p "$build/lib" "$build/include"
cp "$build"/libaio-*/src/libaio.a "$build/lib"
cp "$build"/libaio-*/src/libaio.h "$build/include"
cd "$build"/fio-*
./configure --build-static --disable-native --cc="$cc" --cpu="$cpu" \
	--extra-cflags="$flags -I$build/include -L$build/lib" >"$build/configure.log" 2>&1 || { tail -n 20 "$build/configure.log" >&2; exit 1; }
grep -q '^Linux AIO support  *yes' "$build/configure.log" || { echo "fio-static.sh: configure found no libaio" >&2; exit 1; }
make -s -j"$(nproc)" LDFLAGS="-L$build/lib -static" fio >"$build/make.log" 2>&1 || { tail -n 20 "$build/make.log" >&2; exit 1; }
"$strip" fio
touch -d "@${SOURCE_DATE_EPOCH:-0}" fio
cp -p fio "$out/fio-${version}_linux_$arch"
cp "$sources/libaio_0.3.113.orig.tar.gz" "$sources/fio_$version.orig.tar.gz" "$out"
cp COPYING "$out/fio-$version-COPYING"
