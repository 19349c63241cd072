#!/usr/bin/env bash
# Holds the documents against the repository: relative links lead somewhere, and the README's commands are the ones that CI runs.
set -euo pipefail
cd "$(dirname "$0")/.."
fail=0
while IFS= read -r file; do
	dir=$(dirname "$file")
	while IFS= read -r link; do
		target=${link%%#*}
		[ -z "$target" ] && continue
		case $target in http://* | https://* | mailto:*) continue ;; esac
		[ -e "$dir/$target" ] || { echo "$file: link to $target leads nowhere"; fail=1; }
	done < <(sed -e '/^```/,/^```/d' "$file" | grep -o '](\([^) ]*\))' | sed 's/^](//; s/)$//')
done < <(git ls-files -- '*.md' ':!:**/testdata/**' ':!:testdata')
grep -qx 'make demo' README.md && grep -qx 'make test' README.md || { echo "README.md: make demo and make test must each stand on a line of their own"; fail=1; }
grep -qx 'make test' .ci/run && grep -qx 'exec make check' .ci/run || { echo ".ci/run does not run the README's test command, then make check"; fail=1; }
exit $fail
