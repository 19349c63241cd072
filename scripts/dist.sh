#!/usr/bin/env bash
# Makes the release files: dist.sh [OUT]. OUT (default dist/) gets, for amd64 and arm64, a tar.gz, a deb and an rpm, and fio as a
# separate static program with its source; then the list of modules (SPDX) and SHA256SUMS.
# The same commit gives the same bytes: times are the commit's, names and owners are fixed.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
version=${VERSION:-$(git describe --tags --always --dirty)}
version=${version#v}
case $version in [0-9]*.*) package=$version ;; *) package=0.0.0+$version ;; esac
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH CGO_ENABLED=0 LC_ALL=C TZ=UTC
GO=${GO:-go} NFPM=${NFPM:-.tools/nfpm-2.44.0}
rm -f "$out"/*
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
flags=(-trimpath -buildvcs=false -ldflags "-s -w -X plimsoll/internal/cli.Version=$version")

# What no architecture changes: pages, completions, licence.
common=$stage/common
mkdir -p "$common/man" "$common/completions"
$GO build "${flags[@]}" -o "$stage/here" ./cmd/plimsoll
"$stage/here" man "$common/man"
"$stage/here" completion bash >"$common/completions/plimsoll.bash"
"$stage/here" completion zsh >"$common/completions/_plimsoll"
"$stage/here" completion fish >"$common/completions/plimsoll.fish"
cp LICENSE NOTICE README.md CHANGELOG.md "$common"
{ # the licences of all linked modules ask that their texts go along
	printf 'Go\n\n' && cat "$($GO env GOROOT)/LICENSE"
	$GO version -m "$stage/here" | awk '$1 == "dep" { print $2 }' | while read -r module; do
		printf '\n\n%s\n\n%s\n\n' "$(printf '=%.0s' {1..80})" "$module"
		dir=$($GO list -m -f '{{.Dir}}' "$module")
		find "$dir" -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'notice*' \) | sort | xargs cat
	done
} >"$common/THIRD-PARTY-LICENSES"
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: plimsoll\n\n'
	printf 'Files: *\nCopyright: The plimsoll developers\nLicense: Apache-2.0\n On Debian systems the text of the licence is in\n'
	printf ' /usr/share/common-licenses/Apache-2.0. Notices of what plimsoll contains are in /usr/share/doc/plimsoll/NOTICE.\n'
} >"$common/copyright"
gzip -9n "$common"/man/*.1
gzip -9nc CHANGELOG.md >"$common/NEWS.gz"

for arch in amd64 arm64; do
	name=plimsoll_${package}_linux_$arch
	tree=$stage/$name
	cp -r "$common" "$tree"
	GOARCH=$arch $GO build "${flags[@]}" -o "$tree/plimsoll" ./cmd/plimsoll
	chmod -R u=rwX,go=rX "$tree"
	for kind in deb rpm; do
		sed -e "s|\${ARCH}|$arch|g; s|\${STAGE}|$tree|g; s|\${MTIME}|$MTIME|g; s|\${PACKAGE_VERSION}|${package//-/+}|g" \
			packaging/nfpm.yaml >"$stage/nfpm.yaml"
		"$NFPM" package --config "$stage/nfpm.yaml" --packager $kind --target "$out/$name.$kind" >"$stage/log" ||
			{ cat "$stage/log" >&2; exit 1; }
	done
	rm "$tree/copyright" "$tree/NEWS.gz"
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$stage" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
	[ "${FIO:-yes}" = no ] || scripts/fio-static.sh $arch "$out"
done
$GO run ./scripts/sbom "$stage/plimsoll_${package}_linux_amd64/plimsoll" "$version" >"$out/plimsoll.spdx.json"
(cd "$out" && sha256sum -- * >"$stage/sums" && mv "$stage/sums" SHA256SUMS && chmod 644 SHA256SUMS)
ls -l "$out"
