#!/bin/sh
# Installs plimsoll from a release's archive: install.sh ARCHIVE.tar.gz [PREFIX]. PREFIX is ~/.local where none is named; root is not
# needed. SHA256SUMS of the release must lie beside the archive, and what it says of the archive must hold.
# install.sh --remove [PREFIX] removes what it installed.
set -eu
fail() { echo "install.sh: $*" >&2; exit 1; }

prefix=${2:-$HOME/.local}
files='bin/plimsoll share/bash-completion/completions/plimsoll share/zsh/site-functions/_plimsoll share/fish/vendor_completions.d/plimsoll.fish'
if [ "${1:-}" = --remove ]; then
	for file in $files; do rm -f "$prefix/$file"; done
	rm -f "$prefix"/share/man/man1/plimsoll.1.gz "$prefix"/share/man/man1/plimsoll-*.1.gz
	exit 0
fi
archive=${1:?install.sh ARCHIVE.tar.gz [PREFIX]}
name=$(basename "$archive")
sums=$(dirname "$archive")/SHA256SUMS
[ -f "$archive" ] || fail "$archive is not there"
[ -f "$sums" ] || fail "$sums is not there: download it with the archive"
want=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$sums")
[ -n "$want" ] || fail "SHA256SUMS has no line for $name"
[ "$(sha256sum <"$archive" | cut -d' ' -f1)" = "$want" ] || fail "$name is not the file that SHA256SUMS names: download it again"
case $(uname -s)-$(uname -m) in
Linux-x86_64) arch=amd64 ;;
Linux-aarch64) arch=arm64 ;;
*) fail "there is no plimsoll for $(uname -s) on $(uname -m)" ;;
esac
case $name in *_linux_$arch.tar.gz) ;; *) fail "$name is not for this machine: take that of linux_$arch" ;; esac

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
tar -xzf "$archive" -C "$stage" --strip-components=1
put() { # FROM TO MODE: replaced as a whole, so that a plimsoll that runs goes on
	mkdir -p "$(dirname "$prefix/$2")"
	cp "$stage/$1" "$prefix/$2.new" && chmod "$3" "$prefix/$2.new" && mv -f "$prefix/$2.new" "$prefix/$2"
}
put plimsoll bin/plimsoll 755
put completions/plimsoll.bash share/bash-completion/completions/plimsoll 644
put completions/_plimsoll share/zsh/site-functions/_plimsoll 644
put completions/plimsoll.fish share/fish/vendor_completions.d/plimsoll.fish 644
for page in "$stage"/man/*.1.gz; do put "man/$(basename "$page")" "share/man/man1/$(basename "$page")" 644; done
"$prefix/bin/plimsoll" version
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "$prefix/bin is not in PATH" ;; esac
command -v fio >/dev/null || echo "fio is not installed: apt-get install fio, or dnf install fio"
