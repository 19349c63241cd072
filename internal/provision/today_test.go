package provision

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// After a boot the drives have each other's names: what is shown before the question names today's
// device of each serial, in commands, titles and what is affected, and no volume of others.
func TestConsentNamesTodaysDevices(t *testing.T) {
	const yaml = "arrays:\n  - {name: a, level: raid1, partition: true, volumes: [{serial: vol0a01}, {serial: vol0a02}], filesystem: {type: ext4, mount: /a}}\n" +
		"  - {name: b, volumes: [{serial: vol0a03}], filesystem: {type: ext4, mount: /b}}\n"
	s := made(t, 2, yaml)
	p, err := plan(t, s, yaml, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Arrays[1]
	b.Started = s.Now().Add(1)
	for i := range b.Steps {
		b.Steps[i].State = records.StepDone
	}
	if err := s.save(b); err != nil {
		t.Fatal(err)
	}
	drives := volumes(4, 50, 1)
	drives[0].name, drives[1].name, drives[2].name, drives[3].name = "nvme2n1", "nvme4n1", "nvme1n1", "nvme3n1" // the last is another's
	drives[0].gib = 70
	s.Machine = machine(drives, nil)
	for what, names := range map[string]func() (string, error){
		"teardown": func() (string, error) {
			all, _, err := s.Made()
			return fmt.Sprintf("%+v %v %v", all[0].Members, all[0].Commands(all[0].Steps[1].Undo), all[1].Steps), err
		},
		"apply": func() (string, error) {
			p, err := plan(t, s, yaml, nil)
			return fmt.Sprintf("%+v %v %v", p.Arrays[0].Members, p.Arrays[0].Steps[1], p.Arrays[1].Steps), err
		},
	} {
		said, err := names()
		if err != nil {
			t.Fatal(what, err)
		}
		for _, want := range []string{"/dev/nvme2n1", "/dev/nvme4n1", "/dev/nvme1n1", "create an ext4 filesystem on /dev/nvme1n1", "Today:70 GiB"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %s is not in %s", what, want, said)
			}
		}
		if strings.Contains(said, "nvme3n1") {
			t.Errorf("%s names another's volume: %s", what, said)
		}
	}
	s.Machine = machine(drives[:1], nil)
	all, _, err := s.Made("a")
	if err != nil {
		t.Fatal(err)
	}
	const gone = "zero the first and last 2 MiB of /dev/nvme2n1 (serial vol0a02, not attached)"
	if got := all[0].Commands(all[0].Steps[1].Undo)[0]; got != gone {
		t.Errorf("%s, want %s", got, gone)
	}
}

// The device that is opened is compared with the one that was looked at: a drive that took its name since is not
// touched.
func TestOpenDeviceIsTheOneLookedAt(t *testing.T) {
	b := loops(t, 2, 64*units.MiB)
	stale := b.now()
	root := b.Machine.Root.(fstest.MapFS)
	name := strings.TrimPrefix(b.paths[0], "/dev/")
	root["sys/class/block/"+name+"/device/serial"] = &fstest.MapFile{Data: []byte("ANOTHER\n")}
	before := b.sum()
	for what, do := range map[string]func() error{
		"zero":  func() error { return stale.zero("@S0") },
		"erase": func() error { return stale.erase(t.Context(), "@S0") },
		"blank": func() error { return stale.checkBlank(t.Context(), "@S0") },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "not the device that was inspected") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if b.sum() != before {
		t.Error("it was written to")
	}
	d := stale.tree.Devices[name]
	f, err := os.Open(b.paths[1]) // the node leads to another number
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	root["sys/class/block/"+name+"/device/serial"] = &fstest.MapFile{Data: []byte("S0\n")}
	if err := stale.still(f, stale.tree, d); err == nil {
		t.Error("another number passes")
	}
	if whose(&block.Tree{}, &block.Device{MD: &block.Raid{UUID: "u"}}) != "u" {
		t.Error("an array is known by its UUID")
	}
}

// A chown for a user that the planning machine does not know is a step of the plan, with a note.
func TestOwnerOfAnotherMachine(t *testing.T) {
	decl, err := topology.LoadDeclaration("plimsoll.yaml", []byte("arrays:\n  - {name: t, level: raid0, volumes: 4 x gp2 3000GiB, filesystem: {type: xfs, mount: /t, owner: \"ec2-user:ec2-user\"}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := site(t, machine(nil, nil)).Imagine(decl)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Arrays[0]
	var commands []string
	for _, st := range w.Steps {
		commands = append(commands, w.Commands(st.Do)...)
	}
	if said := strings.Join(commands, "\n"); !strings.Contains(said, "\nchown ec2-user:ec2-user /t\n") {
		t.Error(said)
	}
	if said := strings.Join(p.Notes, "\n"); !strings.Contains(said, "knows no passwd entry ec2-user") || !strings.Contains(said, "knows no group entry ec2-user") {
		t.Error(said)
	}
}

// What a mount has put elsewhere than it was for is undone, by the number of the mount; what was there before stays.
func TestMisplacedMountIsUndone(t *testing.T) {
	dir := t.TempDir()
	id := map[string]int{}
	for _, name := range []string{"etc", "before"} {
		point := filepath.Join(dir, name)
		if err := os.Mkdir(point, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("none", point, "tmpfs", 0, ""); err != nil {
			t.Skipf("SKIPPED: nothing can be mounted here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
		at, err := sys.Look(point)
		if err != nil || at.Mount == 0 {
			t.Skipf("SKIPPED: the kernel does not number mounts: %v", err)
		}
		id[name] = at.Mount
	}
	line := func(name string) string {
		return fmt.Sprintf("%d 1 259:0 / %s/%s rw - ext4 /dev/nvme1n1 rw\n", id[name], dir, name)
	}
	look := func(lines string) *state {
		s := site(t, machine(volumes(1, 50, 1), map[string]string{"proc/self/mountinfo": "1 1 0:1 / / rw - ext4 /dev/root rw\n" + lines}))
		now, err := s.look(t.Context(), &records.Work{Array: "a", Members: []records.Member{{Serial: "vol0a01"}}})
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	there := func(name string) bool {
		at, err := sys.Look(filepath.Join(dir, name))
		return err == nil && at.Mount == id[name]
	}
	before := look(line("before"))
	before.Site = look(line("before") + line("etc")).Site
	err := before.mountedElsewhere(t.Context(), filepath.Join(dir, "m"))
	if err == nil || !strings.Contains(err.Error(), "ended up on "+dir+"/etc, and has been undone") || strings.Contains(err.Error(), "stays") {
		t.Error(err)
	}
	if there("etc") || !there("before") {
		t.Errorf("etc covered %v, the mount of before there %v", there("etc"), there("before"))
	}
	before.Site = look(line("before")).Site
	if err := before.mountedElsewhere(t.Context(), filepath.Join(dir, "m")); err != nil {
		t.Error(err)
	}
}
