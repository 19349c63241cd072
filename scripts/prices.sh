#!/bin/bash
# Refresh the price catalogue from price lists that you bring: scripts/prices.sh FILE... (AWS's offer file of AmazonEC2 in JSON, or a CSV; docs/advise.md).
set -euo pipefail
cd "$(dirname "$0")/.."
exec "${GO:-go}" run ./scripts/prices "$@"
