#!/usr/bin/env bash
# Fails on functions that neither the program nor a script reaches: deadcode.sh DEADCODE. Left out is what only tests are to reach:
# the lab's guest (labtest), what kills at steps (killat), and what bounds fuzz targets (bounded).
set -euo pipefail
cd "$(dirname "$0")/.."
dead=$("$1" ./cmd/plimsoll ./scripts/... | grep -vE '^internal/(lab/|sys/(killat|bounded)/)' || true)
[ -z "$dead" ] || { printf '%s\n' "$dead"; exit 1; }
