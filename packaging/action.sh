#!/usr/bin/env bash
# The steps of the GitHub Action: action.sh install|lint|baseline|gate. Inputs are variables (action.yml), beside those that a
# runner sets. Nothing here ends with 0 that could not be judged.
set -uo pipefail

fail() { # CODE SENTENCE
	echo "::error title=plimsoll::$2"
	exit "$1"
}

# install puts plimsoll on the path of the later steps: a program by its path, or that of a released image.
install() {
	local dir=$RUNNER_TEMP/plimsoll
	mkdir -p "$dir"
	if [ -n "${IN_BINARY:-}" ]; then
		[ -x "$IN_BINARY" ] || fail 2 "binary: $IN_BINARY is no program on this runner"
		ln -sfn "$(realpath "$IN_BINARY")" "$dir/plimsoll"
	elif [ -n "${IN_IMAGE:-}" ]; then
		command -v docker >/dev/null || fail 2 "image: this runner has no docker; name a program with binary:"
		local box
		box=$(docker create "$IN_IMAGE") || fail 1 "image: $IN_IMAGE cannot be pulled"
		docker cp -q "$box:/usr/bin/plimsoll" "$dir/" && docker cp -q "$box:/usr/bin/fio" "$dir/" ||
			fail 1 "image: $IN_IMAGE has no plimsoll"
		docker rm "$box" >/dev/null
	else
		fail 2 "neither binary: nor image: is given"
	fi
	"$dir/plimsoll" version || fail 1 "plimsoll does not start here: is it for another architecture than $(uname -m)?"
	echo "$dir" >>"$GITHUB_PATH"
}

# lint annotates the changed lines, keeps SARIF, and puts the findings on the page of the job.
lint() {
	local paths
	mapfile -t paths <<<"${IN_PATH:-.}"
	plimsoll lint "${paths[@]}" --format sarif --fail-on never >lint.sarif
	plimsoll lint "${paths[@]}" --format md --fail-on never >>"$GITHUB_STEP_SUMMARY"
	echo "sarif=$PWD/lint.sarif" >>"$GITHUB_OUTPUT"
	plimsoll lint "${paths[@]}" --format github --fail-on "${IN_FAIL_ON:-error}"
}

# baseline fetches the runs that the last gate of this workflow kept as an artifact, on this branch or the one that a change
# goes to. The first night has none.
baseline() {
	local id ids
	export GH_REPO=$GITHUB_REPOSITORY # a job that only measures checks nothing out
	mkdir -p "$IN_BASELINE"
	command -v gh >/dev/null || fail 2 "this runner has no gh, which fetches the baseline"
	ids=$(gh run list --workflow "$GITHUB_WORKFLOW" --branch "${GITHUB_BASE_REF:-$GITHUB_REF_NAME}" --status completed --limit 10 \
		--json databaseId --jq '.[].databaseId') ||
		fail 1 "the runs of $GITHUB_WORKFLOW cannot be listed: does the job have the permission actions: read?"
	for id in $ids; do
		if gh run download "$id" --name "$IN_ARTIFACT" --dir "$IN_BASELINE" 2>/dev/null; then
			echo "The baseline is that of run $id: $(find "$IN_BASELINE" -maxdepth 2 -name run.json | wc -l) runs."
			return
		fi
	done
	echo "::notice title=plimsoll::No baseline yet: this run is the first of it, and is not judged by one."
}

# gate measures, compares with the baseline, and adds the run to it; the oldest beyond 30 go.
gate() {
	[ -n "${IN_DATA:-}" ] || fail 2 "data: which directory is measured?"
	local words code
	read -ra words <<<"${IN_SUITE:-db}"
	mkdir -p "$IN_BASELINE"
	plimsoll run "${words[@]}" --data "$IN_DATA" --out "$IN_BASELINE" --against last:10 \
		--fail-on "${IN_FAIL_ON:-regression:10%}" --format junit 2> >(tee gate.err >&2) >gate.xml
	code=$?
	local newest
	newest=$(find "$IN_BASELINE" -mindepth 1 -maxdepth 1 -type d -name '2*Z-*' | sort | tail -1)
	[ -z "$newest" ] || plimsoll report "$newest" --format md >>"$GITHUB_STEP_SUMMARY"
	find "$IN_BASELINE" -mindepth 1 -maxdepth 1 -type d -name '2*Z-*' | sort | head -n -30 | xargs -r -d '\n' rm -r --
	echo "junit=$PWD/gate.xml" >>"$GITHUB_OUTPUT"
	[ $code -eq 0 ] || fail $code "$(tail -1 gate.err)"
}

case ${1:-} in
install | lint | baseline | gate) "$1" ;;
*) echo "action.sh install|lint|baseline|gate" >&2; exit 2 ;;
esac
