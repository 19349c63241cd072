#!/usr/bin/env bash
# Prints ratios measured within this run. Only the share of a core that workload record takes fails on a number:
# timings on a shared machine are for eyes. A part that cannot run here, or fails, is named at the end, and the others run.
set -uo pipefail
cd "$(dirname "$0")/.."
missed=()

# part TITLE COMMAND... runs one part; a part that prints nothing has not run.
part() {
	local title=$1 out code=0
	shift
	echo "== $title"
	out=$("$@") || code=$?
	echo "$out"
	[ $code = 0 ] && [ -n "$out" ] && ! grep -qiE 'skip(ped)?:' <<<"$out" || missed+=("$title")
}

# figures PATTERN ARGS... runs tests and prints the lines of what they say that fit.
figures() {
	local pattern=$1 said code=0
	shift
	said=$(go test -v -count=1 "$@" 2>&1) || code=$?
	grep -E "$pattern|FAIL|--- SKIP|SKIPPED|^panic" <<<"$said" | sed -E 's/^ *[a-z_0-9]+_test\.go:[0-9]+: //'
	return $code
}

part "plimsoll beside bare fio" figures median -tags ratios -run TestRatios ./internal/cli
part "plimsoll why beside 24 devices and 500 processes" scripts/bench-why.sh
export PLIMSOLL_COSTS=1 PLIMSOLL_HOSTILE=all PLIMSOLL_SPOILED=2000 PLIMSOLL_CASES=1000 PLIMSOLL_ORACLE=2000
part "what plimsoll workload record takes of a core (demanded: at most 0.5 %)" figures watching -run '^TestRecordSeesWhatFioDoes$' ./internal/workload
part "linting: 2,000 job files (demanded: at most 3 s), 56,000 files of a tree (at most 10 s)" scripts/bench-lint.sh
part "what hostile texts of 1 MB cost, by way in" figures 'MiB|CPU time' -run TestHostileInputCosts -timeout 60m ./internal/cli
part "hostile text in each field of each record, alone and together" figures fields -run 'TestHostile(Machine)?Records' -timeout 30m ./internal/cli
part "spoiled inputs" figures 'inputs|input [0-9]' -run TestSpoiledInputs ./internal/bundle
part "findings on labelled public results, by family (warnings or worse)" figures 'public results' -run TestPublicResults ./internal/cli
part "advice against brute force" figures 'random demands' -run TestBruteForce ./internal/advise
part "ceilings beside a simulation of the job: 2,000 random cases by means, 100 I/O by I/O" figures 'differ|^ok' -run '^TestOracle(ByEachIO)?$' -timeout 40m ./internal/ceiling
benchmarks() { go test -run '^$' -bench . -benchtime 1x ./internal/... | grep -E '^(Benchmark|pkg:)|FAIL'; }
part "benchmarks of the rooms" benchmarks

[ ${#missed[@]} = 0 ] || { echo "these parts did not run here, or failed; what each said stands above:"; printf '  %s\n' "${missed[@]}"; exit 1; }
