# usage: kills-layouts.sh SIGNAL STEP END, in namespaces of its own (processes, mounts) and an empty current directory
# Starts plimsoll ab over two layouts of the drive /dev/sdx, whose number and size $DRIVE has, sends a signal when it is about to take
# one of its steps (killat; 0: none), ends it by teardown or resume, and looks for whatever is left. Its last line says how it ended.
set -u
unset PLIMSOLL_LAYOUT_KILLS PLIMSOLL_SEED PLIMSOLL_TEST_BINARY
signal=$1 step=$2 end=$3
mkdir dev && mount -t tmpfs none dev && cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev/ || exit 1
mkdir dev/shm && mount -t tmpfs none dev/shm && ln -s /proc/self/fd dev/fd && mknod dev/sdx b $(echo "${DRIVE% *}" | tr : ' ') || exit 1
mount --move dev /dev || exit 1
for d in /var/lib/plimsoll /srv; do mkdir -p $d && mount -t tmpfs -o mode=755 none $d || exit 1; done
blkdiscard /dev/sdx || exit 1 # of what the one before has left between the ends nothing is recorded any more
printf 'arrays:\n  - {name: a, role: data, level: single, volumes: [{serial: S0}], filesystem: {type: ext4, mount: /srv/a/b}}\n' >base.yaml
printf 'scenarios:\n  - {id: 1, name: work, role: data, size: 4MiB, fio: {direct: 1, rw: randread, bs: 4k}}\n' >work.yaml
ab="ab work.yaml --topology base.yaml --variant ext4 --variant xfs:filesystem.type=xfs --rounds 2 --runtime 1s --ramp 0s --cooldown 0s --seed 7 --shared-host test --yes --progress plain --out runs"
killat $step $signal steps plimsoll-drive $ab >out 2>&1
code=$?
! grep -q 'not blank' out || { cat out; exit 1; }
[ $step != 0 ] || [ $code = 0 ] || { cat out; exit 1; }
left() {
	grep -lx 'fio\|mkfs.*' /proc/[0-9]*/comm 2>/dev/null
	grep " /srv/" /proc/mounts
	ls /var/lib/plimsoll/journal 2>/dev/null
	find /srv -mindepth 1
	[ "$(dd if=/dev/sdx bs=1M count=1 2>/dev/null | tr -d '\0' | wc -c)" = 0 ] || echo 'the beginning of the drive is not blank'
}
i=0 # what it had started ends by a signal of its own
while grep -qx 'fio\|mkfs.*' /proc/[0-9]*/comm 2>/dev/null && [ $i -lt 100 ]; do i=$((i + 1)); sleep 0.1; done
was=$(left)
built=built
[ -n "$was" ] || built='nothing built'
dir=$(ls -d runs/*-ab-* 2>/dev/null)
[ -n "$dir" ] || [ $end != resume ] || end=teardown
case $end in
teardown) plimsoll-drive array teardown --yes ;;
resume) plimsoll-drive $ab --resume "$dir" ;;
esac >ended 2>&1
ended=$?
rest=$(left)
if [ $ended != 0 ] || [ -n "$rest" ]; then
	echo "killed with $code:" && tail -n 5 out && echo "was there: $was" && echo "$end ended with $ended:" && tail -n 12 ended && echo "is left: $rest"
	umount /srv/a/b 2>/dev/null
	dd if=/dev/zero of=/dev/sdx bs=1M count=512 2>/dev/null # so that the next one can begin
	exit 1
fi
[ $step != 0 ] || echo "$(cat steps) steps"
echo "$built, $end"
