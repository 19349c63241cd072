# usage: faults.sh KIND AT, in namespaces of its own (processes, IPC, mounts) and an empty current directory
# Starts a run and, after AT milliseconds, breaks what it stands on: the filesystem of the data (data) or of the runs (runs) becomes
# read-only, as ext4 makes it when its disk fails, or the memory of its control group runs out (memory). Then all works again.
# Prints one line: what happened, what was left, and what resuming said. Ends with 1 if anything is left, or is not said.
set -u
kind=$1 at=$2
W=$PWD
group=
fail() {
	echo "$kind $at: $*"
	exit 1
}
end() {
	[ -z "$group" ] || { kill -9 $(cat "$group/cgroup.procs") 2>/dev/null; sleep 0.2; rmdir "$group"; }
	umount mnt 2>/dev/null
}
trap end EXIT
mount -t tmpfs -o mode=1777 shm /dev/shm || fail 'no /dev/shm'
mkdir -m 1777 tmp
export TMPDIR=$W/tmp
mkdir mnt data
truncate -s 64M disk.img
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 disk.img
mount -o loop,errors=remount-ro disk.img mnt || fail 'no loop device'
rmdir mnt/lost+found
case $kind in
data) data=mnt out=runs ;;
*) data=data out=mnt/runs ;;
esac
# Half of the time passes before the first result is there.
set -- run rand-write rand-read-latency --data $data --out $out --size 8MiB --runtime 2s --ramp 0s --cooldown 0s --progress none
if [ $kind = memory ]; then
	limit=memory.max
	group=/sys/fs/cgroup
	[ -e $group/memory ] && limit=memory.limit_in_bytes group=$group/memory
	group=$group/plimsoll-$$-$at
	mkdir $group && echo 96M >$group/$limit || fail 'no control group'
	[ ! -e $group/memory.swap.max ] || echo 0 >$group/memory.swap.max
fi
# What the kernel kills first is plimsoll with its fio, and where AT is even fio alone.
sh -c '[ -z "$0" ] || { echo $$ >"$0/cgroup.procs"; echo 1000 >/proc/self/oom_score_adj; }; exec plimsoll "$@"' "$group" "$@" >out 2>&1 &
pid=$!
sleep $((at / 1000)).$(printf %03d $((at % 1000)))
if [ $kind = memory ]; then
	if [ $((at % 2)) = 0 ]; then
		for p in $(cat "$group/cgroup.procs"); do echo 1000 >/proc/$p/oom_score_adj; done
		echo 0 >/proc/$pid/oom_score_adj
	fi
	sh -c 'echo $$ >"$0/cgroup.procs"; exec dd if=/dev/zero of=/dev/null bs=92M count=200' "$group" 2>/dev/null &
	hog=$!
else
	dev=$(findmnt -no SOURCE mnt)
	echo 1 >"/sys/fs/ext4/${dev#/dev/}/trigger_fs_error" || fail 'the filesystem cannot be made to fail'
fi
wait $pid
code=$?
killed=0
if [ $kind = memory ]; then
	kill $hog 2>/dev/null
	wait $hog
	hog=$?
	killed=$(cat $group/memory.oom_control $group/memory.events 2>/dev/null | sed -n 's/^oom_kill //p')
	[ $hog != 137 ] || killed=$((killed - 1)) # nothing else was there, or it was not enough
fi
! grep -q 'goroutine [0-9]' out || fail "panic: $(cat out)"
case $kind.$code in
*.0 | *.3) how='was past its end' ;;
memory.137) how="plimsoll was killed ($killed processes)" ;;
memory.4 | memory.1)
	how="exit status $code, fio was killed ($killed)"
	if [ $killed = 0 ]; then
		how='no fio was there to be killed'
	else
		grep -qi 'kill' out || fail "fio was killed, and nothing says so: $(cat out)"
	fi
	;;
*.4 | *.1)
	grep -qi 'read-only\|input/output error' out || fail "exit status $code, and not why: $(cat out)"
	how="exit status $code and why"
	;;
*) fail "exit status $code: $(tail -n 5 out)" ;;
esac
if [ $kind != memory ]; then # it works again
	umount mnt
	e2fsck -fy disk.img >fsck 2>&1
	[ $? -lt 4 ] || fail "fsck: $(cat fsck)"
	mount -o loop,errors=remount-ro disk.img mnt
	rm -rf mnt/lost+found
fi
for dir in $out/*; do
	[ -e "$dir" ] || continue
	plimsoll report "$dir" >report 2>&1
	case $? in
	0 | 1 | 3 | 4) [ -s report ] || fail 'an empty report' ;;
	*) fail "report: $(tail -n 3 report)" ;;
	esac
done
plimsoll clean "$W" mnt >cleaned 2>&1 || fail "clean: $(cat cleaned)"
left() {
	for p in /proc/[0-9]*; do
		grep -qs 'fio\|plimsoll' $p/comm && ! grep -q '^State:.Z' $p/status && echo "process ${p#/proc/}"
	done
	ls -A tmp data | grep -v ':$' | grep .
	ls -A mnt | grep -v '^runs$'
	find $out -name '.*.tmp' -o -name '.plimsoll*' 2>/dev/null
	ls -A /dev/shm
	sed 1d /proc/sysvipc/shm
}
rest=$(left)
[ -z "$rest" ] || fail "$how; left behind: $rest; $(cat out cleaned)"
said='nothing was begun'
for dir in $out/*; do
	[ -e "$dir" ] || continue
	plimsoll run --resume "$dir" --data $data --progress none >resumed 2>&1
	code=$?
	case $code in
	0 | 3 | 4) said="resumed, $code" ;;
	1 | 2) said=$(grep -m 1 '^plimsoll: ' resumed) || fail "$how; resuming ended with $code: $(tail -n 3 resumed)" ;;
	*) fail "$how; resuming ended with $code: $(tail -n 3 resumed)" ;;
	esac
done
plimsoll clean "$W" mnt >cleaned 2>&1 || fail "clean after resuming: $(cat cleaned)"
rest=$(left)
[ -z "$rest" ] || fail "$how; $said; left behind after resuming: $rest"
echo "$kind $at: $how; $said"
