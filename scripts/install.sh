#!/usr/bin/env bash
# Installs bin/plimsoll with its manual pages and completions below a prefix: install.sh PREFIX.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${1:?install.sh PREFIX}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
bin/plimsoll man "$pages"
install -D -m 755 bin/plimsoll "$prefix/bin/plimsoll"
install -d "$prefix/share/man/man1"
install -m 644 "$pages"/*.1 "$prefix/share/man/man1"
for shell in bash:bash-completion/completions/plimsoll zsh:zsh/site-functions/_plimsoll fish:fish/vendor_completions.d/plimsoll.fish; do
	bin/plimsoll completion "${shell%%:*}" >"$pages/completion"
	install -D -m 644 "$pages/completion" "$prefix/share/${shell#*:}"
done
echo "installed $prefix/bin/plimsoll ($(bin/plimsoll --version | cut -d' ' -f2)), its manual pages and completions; next: $prefix/bin/plimsoll"
