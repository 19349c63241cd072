package plans_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/provision"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

const layouts = `
arrays:
  - {name: data, role: data, level: raid10, chunk: 64KiB, volumes: 8 x gp3 50GiB, filesystem: {type: xfs, label: DATA, mount: /data, owner: "104:110", mode: "0700"}}
  - {name: t1, role: wal, level: raid0, using: lvm, volume_group: pool, chunk: 128KiB, volumes: [{serial: "a'; touch pwned; '"}, {serial: "$(touch pwned)"}], filesystem: {type: ext4, mount: /opt/t1}}
  - {name: parts, level: raid1, partition: true, volumes: 2 x 50GiB, filesystem: {type: ext4, mount: /parts}}
  - {name: one, level: single, volumes: [{serial: S1}], filesystem: {type: xfs, mount: /one}}
`

func runbook(t *testing.T, format string) string {
	t.Helper()
	decl, err := topology.LoadDeclaration("plim\nsoll.yaml", []byte(layouts))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := provision.Here(sys.Host(), nil).Imagine(decl)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := plans.Runbook(&b, plan, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A runbook is a script that a shell understands; with programs that record how they are called it
// runs to its end, and no serial number is more than a word.
func TestRunbookRuns(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	record := func(name, then string) {
		script := "#!/bin/sh\necho \"" + name + " $*\" >> " + dir + "/log\n" + then + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sgdisk", "pvcreate", "vgcreate", "lvcreate", "pvs", "vgs", "mkfs.xfs", "mkfs.ext4", "mkdir", "mount", "umount", "chown", "chmod", "sync", "update-initramfs", "dracut", "systemctl", "mountpoint", "wipefs", "tail", "cmp", "stat", "test", "restorecon"} {
		record(name, "")
	}
	record("lvs", "echo 100")
	record("lsblk", `cat `+dir+`/disks`)
	record("mdadm", `case "$1" in --detail) grep -o 'uuid=[^ ]*' `+dir+`/log | tr = ' ';; esac`)
	disks := ""
	for i, id := range []string{"SERIAL-OF-DATA-1", "SERIAL-OF-DATA-2", "SERIAL-OF-DATA-3", "SERIAL-OF-DATA-4", "SERIAL-OF-DATA-5", "SERIAL-OF-DATA-6", "SERIAL-OF-DATA-7", "SERIAL-OF-DATA-8", "SERIAL-OF-PARTS-1", "SERIAL-OF-PARTS-2", "S1"} {
		disks += "/dev/nvme" + string(rune('a'+i)) + " " + id + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "disks"), []byte(disks), 0o600); err != nil {
		t.Fatal(err)
	}
	script := runbook(t, "sh")
	if out, err := exec.Command("sh", "-n", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	// Only the first array is run: the checks of the others need real devices. Files of /etc are
	// the test's.
	first, _, _ := strings.Cut(script, "# t1: raid0 of 2 volumes")
	first = strings.NewReplacer("/etc/", dir+"/", "test -", "true -", "test \"", "true \"", "mdadm --detail /dev/md/data | grep -qE", "! true").Replace(first)
	cmd := exec.Command("sh", "-c", first)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin + ":/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "mdadm.conf") {
		t.Errorf("%v: %s\n%s", err, out, first)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || !strings.Contains(string(log), "--level=10 --raid-devices=8 --layout=n2 --chunk=64K /dev/nvmea /dev/nvmeb /dev/nvmec") {
		t.Errorf("%v\n%s", err, log)
	}
	// The hostile serial numbers, each a word of the shell's.
	lines := strings.SplitSeq(script, "\n")
	for line := range lines {
		if strings.HasPrefix(line, "v_t1_") {
			assign, _, _ := strings.Cut(line, "   #")
			cmd := exec.Command("sh", "-c", `disk() { printf '%s' "$1"; }; `+assign)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", line, err, out)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a serial number was run as a command")
	}
}

func TestRunbookMarkdown(t *testing.T) {
	text := runbook(t, "md")
	if strings.Count(text, "```")%2 != 0 || !strings.Contains(text, "\nCheck:\n\n```sh\n") || !strings.Contains(text, "\nUndo:\n\n```sh\n") || strings.Contains(text, "plim\nsoll") {
		t.Error(text)
	}
}
