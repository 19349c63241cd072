#!/bin/busybox sh
# The lab guest's first and only service: it mounts what a system has mounted, starts udev, and hands over to the agent.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=linux LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
# devtmpfs lacks these; bash's here-strings and <() need them.
ln -s /proc/self/fd /dev/fd; ln -s fd/0 /dev/stdin; ln -s fd/1 /dev/stdout; ln -s fd/2 /dev/stderr
mkdir -p /dev/pts /dev/shm
mount -t devpts -o ptmxmode=666 devpts /dev/pts
for d in /dev/shm /tmp /run; do mount -t tmpfs tmpfs $d; done
mount -t debugfs debugfs /sys/kernel/debug
hostname lab
ip link set lo up
modprobe -a virtio_pci virtio_console
modprobe -a md-mod raid0 raid1 raid10 raid456 linear dm-mod dm-raid dm-snapshot dm-delay dm-flakey xfs ext4 loop 2>/dev/null
mkdir -p /run/udev /run/lock /run/mdadm
/usr/lib/systemd/systemd-udevd --daemon
udevadm trigger
udevadm settle
until [ -c /dev/vport0p1 ]; do usleep 10000; done
cd /root
while :; do
	plimsoll lab-agent /dev/vport0p1
	sleep 1
done
