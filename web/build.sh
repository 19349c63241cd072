#!/bin/sh
# Builds the charts' script for HTML reports and writes beside it what it was built from. With an argument it writes there
# instead, so that a test can compare.
set -eu
cd "$(dirname "$0")"
out=${1:-../internal/report/page/assets}
[ -d node_modules/echarts ] || npm ci --no-audit --no-fund --ignore-scripts
version() { node -p "require('./node_modules/$1/package.json').version"; }
banner="/*! plimsoll's report charts. Contains Apache ECharts $(version echarts) (Apache-2.0), zrender $(version zrender) (BSD-3-Clause) and tslib $(version tslib) (0BSD). */"
node_modules/.bin/esbuild src/main.js --bundle --minify --format=iife --target=es2022 --charset=utf8 --legal-comments=none \
  --define:process.env.NODE_ENV='"production"' --banner:js="$banner" --outfile="$out/charts.js" --log-level=warning
cat > "$out/charts.json" <<JSON
{
  "echarts": "$(version echarts)",
  "zrender": "$(version zrender)",
  "tslib": "$(version tslib)",
  "esbuild": "$(version esbuild)",
  "sha256": "$(sha256sum "$out/charts.js" | cut -d' ' -f1)"
}
JSON
