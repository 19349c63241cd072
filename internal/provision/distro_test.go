package provision

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/sys"
)

// A machine like Amazon Linux 2023: dracut, /etc/mdadm.conf, SELinux, systemd, and RPM's package
// names.
func amazon(more map[string]string) *sys.Machine {
	files := map[string]string{
		"etc/os-release": "NAME=\"Amazon Linux\"\nID=\"amzn\"\nID_LIKE=\"fedora\"\n", "sys/fs/selinux/enforce": "1",
		"usr/sbin/restorecon": "", "usr/bin/dracut": "", "run/systemd/system/x": "",
	}
	maps.Copy(files, more)
	m := machine(volumes(4, 3000, 1), files)
	root := m.Root.(fstest.MapFS)
	delete(root, "usr/sbin/update-initramfs")
	delete(root, "etc/mdadm/mdadm.conf")
	return m
}

const amazonLayout = `
arrays:
  - {name: my_raid, level: raid0, chunk: 64KiB, volumes: 4 x gp2 3000GiB, filesystem: {type: xfs, label: MY_RAID, mount: /data}}
`

func TestRPMSystem(t *testing.T) {
	p, err := plan(t, site(t, amazon(nil)), amazonLayout, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, st := range p.Arrays[0].Steps {
		for _, line := range p.Arrays[0].Commands(st.Do) {
			got.WriteString(line + "\n")
		}
	}
	for _, want := range []string{"add to /etc/mdadm.conf: ARRAY /dev/md/my_raid", "restorecon /etc/mdadm.conf\n", "restorecon /etc/fstab\nsystemctl daemon-reload\n", "mount /data\nrestorecon /data\n"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is missing:\n%s", want, got.String())
		}
	}
	if c := strings.Join(p.Initramfs, " "); c != "dracut --force --mdadmconf" {
		t.Errorf("initramfs: %s", c)
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "RequiresMountsFor=/data") {
		t.Errorf("notes: %s", notes)
	}
	// Without SELinux, or on Debian, nothing is relabelled.
	p, err = plan(t, site(t, machine(volumes(4, 3000, 1), nil)), amazonLayout, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range p.Arrays[0].Steps {
		if text := strings.Join(p.Arrays[0].Commands(st.Do), "\n"); strings.Contains(text, "restorecon") {
			t.Error(text)
		}
	}
}

// What is not installed is named with its package.
func TestInstallCommands(t *testing.T) {
	m := machine(volumes(4, 3000, 1), nil)
	delete(m.Root.(fstest.MapFS), "usr/sbin/sgdisk")
	_, err := plan(t, site(t, m), strings.Replace(amazonLayout, "chunk:", "partition: true, chunk:", 1), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "sgdisk is not installed: install gdisk (gptfdisk on SUSE and Arch)") {
		t.Error(err)
	}
}

// A disk that multipathd has taken is not blank, and the reason says what to do.
func TestMultipath(t *testing.T) {
	_, err := plan(t, site(t, amazon(map[string]string{
		"sys/class/block/nvme2n1/holders/dm-0": "", "sys/class/block/dm-0/dev": "253:0\n", "sys/class/block/dm-0/dm/name": "mpatha\n", "sys/class/block/dm-0/dm/uuid": "mpath-nvme.1d0f\n",
	})), amazonLayout, nil)
	if err == nil || !strings.Contains(err.Error(), "multipathd has made /dev/mapper/mpatha of it (blacklist the disk's wwid in /etc/multipath.conf, then: multipath -f mpatha)") {
		t.Errorf("%v", err)
	}
}
