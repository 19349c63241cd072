# The customize hook of mmdebstrap that makes a lab guest of a Debian: hook ROOT, with $image, $size and $label in the environment.
# What differs from an installation is here and nowhere else.
set -eu
root=$1

echo lab > "$root/etc/hostname"
printf '127.0.0.1 localhost lab\n' > "$root/etc/hosts"
printf 'LABEL=%s / ext4 errors=remount-ro 0 1\n' "$label" > "$root/etc/fstab"
# An id of its own makes the first boot an ordinary one: without, systemd enables and writes things in /etc.
echo 706c696d736f6c6c6c61620000000001 > "$root/etc/machine-id"
# Debian's mdadm lists the arrays of the host that it was unpacked on.
sed -i '/^ARRAY/d' "$root/etc/mdadm/mdadm.conf"

# What waits for a network or a terminal, or works by the calendar, is not there; nor does dracut unpack an initramfs at shutdown that
# it has not made.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
	mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer getty@tty1.service serial-getty@ttyS0.service \
	systemd-timesyncd.service systemd-pstore.service nvmf-autoconnect.service nvmefc-boot-connections.service \
	dracut-shutdown.service; do
	ln -sf /dev/null "$root/etc/systemd/system/$unit"
done

# The lab's arm answers from early on, in the emergency state, and until the last.
cat > "$root/usr/lib/systemd/system/plimsoll-lab.service" <<'UNIT'
[Unit]
Description=The lab's arm in this guest
DefaultDependencies=no
StartLimitIntervalSec=0
[Service]
ExecStart=/bin/sh -c 'until [ -c /dev/vport0p1 ]; do sleep 0.05; done; exec /usr/bin/plimsoll lab-agent /dev/vport0p1'
WorkingDirectory=/root
Environment=HOME=/root TERM=linux LC_ALL=C
Restart=always
RestartSec=100ms
OOMScoreAdjust=-900
KillMode=process
UNIT
for target in sysinit emergency rescue; do
	mkdir -p "$root/usr/lib/systemd/system/$target.target.wants"
	ln -s ../plimsoll-lab.service "$root/usr/lib/systemd/system/$target.target.wants/"
done

# QEMU's drives claim a volatile cache and discards. Volumes like EBS's have neither, and arrays must not learn otherwise when they
# are assembled: so in the initramfs, too.
cat > "$root/usr/lib/udev/rules.d/59-plimsoll-lab.rules" <<'RULES'
ACTION=="add", SUBSYSTEM=="block", KERNEL=="nvme*n*", ENV{DEVTYPE}=="disk", ATTRS{serial}=="vol*", ATTR{queue/write_cache}="write through", ATTR{queue/discard_max_bytes}="0"
RULES
cat > "$root/usr/share/initramfs-tools/hooks/plimsoll-lab" <<'HOOK'
#!/bin/sh
[ "$1" = prereqs ] && exit
mkdir -p "$DESTDIR/usr/lib/udev/rules.d"
cp /usr/lib/udev/rules.d/59-plimsoll-lab.rules "$DESTDIR/usr/lib/udev/rules.d/"
HOOK
chmod 755 "$root/usr/share/initramfs-tools/hooks/plimsoll-lab"
# MODULES=dep, what Debian's installer offers for a machine that stays what it is: with Debian's default, most, update-initramfs takes
# minutes on an emulated CPU. Here, where nothing of the guest's hardware is to be seen, it gets the list.
printf '%s\n' virtio_pci virtio_blk ext4 > "$root/usr/share/initramfs-tools/modules.d/plimsoll-lab"
echo MODULES=list > "$root/etc/initramfs-tools/conf.d/driver-policy"
chroot "$root" update-initramfs -u
echo MODULES=dep > "$root/etc/initramfs-tools/conf.d/driver-policy"

rm -rf "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root/etc/resolv.conf"
# The tree alone, without what is mounted in it.
bare=$(mktemp -d)
mount --bind "$root" "$bare"
mke2fs -q -t ext4 -L "$label" -d "$bare" "$image" "$size"
umount "$bare"
rmdir "$bare"
