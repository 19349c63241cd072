# usage: kills.sh KIND SIGNAL STEP, in namespaces of its own (processes, IPC, mounts) and an empty current directory
# Starts plimsoll, sends a signal when it is about to take one of its steps (killat), cleans, looks for whatever is left, and resumes.
# Prints one line: what was killed, and what resuming said. Ends with 1 if anything is left.
set -u
kind=$1 signal=$2 step=$3
W=$PWD
fail() {
	echo "$kind $signal $step: $*"
	exit 1
}
mount -t tmpfs -o mode=1777 shm /dev/shm || fail 'no /dev/shm'
mkdir -m 1777 tmp
export TMPDIR=$W/tmp
mkdir -m 755 data h1 h2 h3 h1/data h2/data h3/data
short='--size 8MiB --runtime 1s --ramp 0s'
case $kind in
run) command="run 3 4 --data data $short --cooldown 0s" resume="run --data data --resume" ;;
sweep) command="sweep rand-write --data data --axes iodepth=1,4 $short --cooldown 0" resume="sweep --data data --resume" ;;
ab)
	command="ab rand-write --data data --variant a --variant b:fio.iodepth=1 --rounds 2 --seed 1 $short --cooldown 0s"
	resume="$command --resume"
	;;
pg) command="run pg-commit --quick --data data --runtime 2s" resume="run --data data --resume" ;;
fleet)
	command="fleet run 3 --hosts h[1-3] --data data --copy never --remote plimsoll $short --cooldown 0s"
	resume="fleet run --resume"
	;;
*) fail 'which kind?' ;;
esac
# Words are split, and hosts' brackets are no pattern.
set -f
run=plimsoll
via() { # the arguments, and for a fleet the engine, of which one word has blanks
	if [ $kind = fleet ]; then $run "$@" --via 'env --chdir {host} COMMAND'; else $run "$@"; fi
}
cut -d' ' -f1-3 /proc/self/mounts >mounts # whose options others may change meanwhile, and which may go with a directory of theirs
run="killat $step $signal steps plimsoll"
via $command --progress none >out 2>&1
code=$?
run=plimsoll
steps=$(cat steps) || fail "was not traced: $(tail -n 3 out)"
hit="at $step of"
[ "$step" -le "$steps" ] || hit='behind its'
case $hit.$code in
behind*.0 | behind*.3 | behind*.4 | at*) ;;
*) fail "ended by itself with $code: $(tail -n 3 out)" ;;
esac
# Members of a fleet end by themselves when their coordinator is gone; what a run holds is not cleaned.
tries=0
while plimsoll clean "$W" >cleaned 2>&1 || fail "clean: $(cat cleaned)"; grep -q 'in use by a run' cleaned; do
	tries=$((tries + 1))
	[ $tries -lt 120 ] || fail "still in use: $(cat cleaned)"
	sleep 0.5
done
set +f
left() {
	for p in /proc/[0-9]*; do
		p=${p#/proc/}
		state=$(sed 's/.*) //' /proc/$p/stat 2>/dev/null) || continue
		[ "$p" = 1 ] || [ "$p" = $$ ] || [ "${state%% *}" = Z ] && continue
		ppid=$(echo "$state" | cut -d' ' -f2)
		words=$(tr '\0' ' ' <"/proc/$p/cmdline") 2>/dev/null || continue
		case $words in *kills.sh*) continue ;; esac # this shell's own
		[ "$ppid" = $$ ] || echo "process $p: $words"
	done
	find "$W" -name .plimsoll
	ls -A tmp data h1/data h2/data h3/data | grep -v ':$' | grep .
	ls -A /dev/shm
	ls -d /tmp/plimsoll-*-"$(stat -Lc %i /proc/self/ns/pid)"-* 2>/dev/null
	sed 1d /proc/sysvipc/shm
	cut -d' ' -f1-3 /proc/self/mounts | grep -Fxvf mounts | sed 's/^/mount /'
}
soon() { # what is left, without processes that end by themselves within 10 s, such as fio --version
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		rest=$(left)
		case $rest in *process*) sleep 0.5 ;; *) break ;; esac
	done
	echo "$rest"
}
rest=$(soon)
[ -z "$rest" ] || fail "left behind (exit $code, $steps steps): $rest"
said='nothing was begun'
for dir in runs/*; do
	[ -e "$dir" ] || continue
	via $resume "$dir" >resumed 2>&1
	code=$?
	case $code in
	0 | 3 | 4) said="resumed, $code" ;;
	1 | 2) said=$(grep -m 1 '^plimsoll: ' resumed) || fail "resuming ended with $code: $(tail -n 3 resumed)" ;;
	*) fail "resuming ended with $code: $(tail -n 3 resumed)" ;;
	esac
	break
done
plimsoll clean "$W" >cleaned 2>&1 || fail "clean after resuming: $(cat cleaned)"
rest=$(soon)
[ -z "$rest" ] || fail "left behind after resuming: $rest"
echo "$kind $signal $step: killed $hit $steps steps; $said"
