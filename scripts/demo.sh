#!/bin/bash
# demo.sh: what plimsoll is for, in a minute and 40 lines, on the storage of this directory: is it slow now, is it set
# up right, what is an article's figure worth, and what does the storage carry. Each command is shown by its answer
# and what comes first below it; run by itself it says more.
set -uo pipefail
p=bin/plimsoll
shared=()
# Figures of a machine that others use are measured, and not judged.
if awk -v cores="$(nproc)" '{exit !($1 > cores / 2)}' /proc/loadavg; then shared=(--shared-host "others are at work"); fi

# show PARAGRAPHS LINES COMMAND...: the command, the first paragraphs of what it prints, at most so many lines, and its
# report: 40 lines in all.
show() {
  local paragraphs=$1 lines=$2
  shift 2
  printf '$ plimsoll'
  for word in "$@"; do case $word in *[\ ,]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  "$p" -q "$@" | awk -v most="$paragraphs" -v lines="$lines" \
    'BEGIN { n = 1 } /^report: / { print; next } !NF { n++; next } n <= most && lines-- > 0'
  code=${PIPESTATUS[0]}
  case $code in 0 | 3 | 4) ;; *) exit "$code" ;; esac # a verdict is no failure of the demo
}

show 1 4 why .
show 2 8 check .
show 2 7 ceiling --claim "40,000 IOPS" --instance c6a.xlarge # as testdata/seeds/ebs-across-instances.md says
show 2 13 run sync-latency rand-read-latency rand-write --runtime 10s --ramp 1s --size 256MiB --cooldown 0 "${shared[@]}"
echo "next: $p run --data /your/path   what the storage carries; --details   all that a command knows"
