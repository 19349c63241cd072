#!/usr/bin/env bash
# Makes the release files: dist.sh [OUT]. OUT (default dist/) gets, for amd64 and arm64, a tar.gz, a deb and an rpm, and fio as a
# separate static program with its source; then an image of both architectures, a Debian repository, a Homebrew formula, the installer,
# the list of modules (SPDX) and SHA256SUMS. What an earlier dist.sh wrote there is removed, and nothing else.
# RELEASE_URL is where the files will be fetched from; the formula names it.
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
if [ -f "$out/SHA256SUMS" ]; then
	(cd "$out" && cut -c67- SHA256SUMS | grep -E '^(install\.sh|plimsoll[_.][^/]+|fio[-_][^/]+|libaio_[^/]+)$' | xargs -r -d '\n' rm -f --)
fi
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
$GO run -C packaging ./sbom "$stage/plimsoll_${package}_linux_amd64/plimsoll" "$version" "$PWD" >"$out/plimsoll.spdx.json"

# The image: plimsoll, fio and their licences, nothing else.
if [ "${FIO:-yes}" != no ]; then
	mkdir "$stage/docs"
	cp LICENSE NOTICE "$common/THIRD-PARTY-LICENSES" "$out"/fio-*-COPYING "$stage/docs"
	programs=()
	for arch in amd64 arm64; do
		programs+=("$arch=$stage/plimsoll_${package}_linux_$arch/plimsoll,$(echo "$out"/fio-*_linux_$arch)")
	done
	$GO run -C packaging ./image -version "$package" -epoch "$SOURCE_DATE_EPOCH" -docs "$stage/docs" -out "$out/plimsoll_${package}_oci.tar" \
		"${programs[@]}"
fi

# A repository that a web server or a file system serves: unsigned here, signed by who publishes it (docs/releasing.md).
apt=$stage/apt
for arch in amd64 arm64; do
	deb=plimsoll_${package}_linux_$arch.deb packages=$apt/dists/stable/main/binary-$arch
	mkdir -p "$apt/pool" "$packages"
	cp "$out/$deb" "$apt/pool"
	{
		ar -p "$out/$deb" control.tar.gz | tar -xzO ./control
		printf 'Filename: pool/%s\nSize: %s\nSHA256: %s\n\n' "$deb" "$(stat -c %s "$out/$deb")" "$(sha256sum <"$out/$deb" | cut -d' ' -f1)"
	} >"$packages/Packages"
	gzip -9nk "$packages/Packages"
done
{
	printf 'Origin: plimsoll\nSuite: stable\nCodename: stable\nArchitectures: amd64 arm64\nComponents: main\n'
	printf 'Date: %s\nSHA256:\n' "$(date -u -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S UTC')"
	(cd "$apt/dists/stable" && find main -type f | sort | while read -r file; do
		printf ' %s %s %s\n' "$(sha256sum <"$file" | cut -d' ' -f1)" "$(stat -c %s "$file")" "$file"
	done)
} >"$apt/dists/stable/Release"
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -C "$stage" -cf "$out/plimsoll_${package}_apt.tar" apt

sum() { sha256sum <"$out/plimsoll_${package}_linux_$1.tar.gz" | cut -d' ' -f1; }
sed -e "s|\${VERSION}|$package|g; s|\${URL}|${RELEASE_URL:-file:///dist}|g; s|\${AMD64}|$(sum amd64)|; s|\${ARM64}|$(sum arm64)|" \
	packaging/plimsoll.rb >"$out/plimsoll.rb"
install -m 755 packaging/install.sh "$out/install.sh"
shopt -s nullglob
(cd "$out" && sha256sum -- install.sh plimsoll.rb plimsoll.spdx.json plimsoll_"$package"_* fio[-_]* libaio_* >"$stage/sums" &&
	mv "$stage/sums" SHA256SUMS && chmod 644 SHA256SUMS)
ls -l "$out"
