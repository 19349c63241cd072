package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// built is a single volume on a real loop device with a real ext4 on it, as apply leaves it, and
// its journal.
func built(t *testing.T) *bench {
	t.Helper()
	b := loops(t, 1, 16*units.MiB)
	const uuid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
	b.w.Want = records.Want{Level: "single", FS: "ext4", Mount: filepath.Join(t.TempDir(), "data"), Data: 1}
	b.w.Started = b.Now()
	b.w.Mkfs(uuid)
	for i := range b.w.Steps {
		b.w.Steps[i].State = records.StepDone
	}
	if err := errors.Join(os.MkdirAll(b.Journal, 0o755), b.save(b.w)); err != nil {
		t.Fatal(err)
	}
	b.sh("mkfs.ext4 -q -U " + uuid + " $d")
	return b
}

func (b *bench) saved() *records.Work {
	b.t.Helper()
	all, _, err := b.Journals()
	if err != nil || len(all) != 1 {
		b.t.Fatalf("%v %v", all, err)
	}
	return all[0]
}

// A teardown that is refused has touched nothing: neither the volume, nor the journal's word that
// all is in place.
func TestTeardownRefusedLeavesAllAsItWas(t *testing.T) {
	b := built(t)
	dir := t.TempDir()
	b.sh("mount $d " + dir + " && sync")
	before := b.sum()
	// Where it is mounted is not known to the made-up /proc: the kernel knows.
	err := b.Teardown(t.Context(), nil, records.GiveUp{})
	if err == nil || !strings.Contains(err.Error(), "in use") || b.saved().Undoing || b.saved().Steps[0].State != records.StepDone {
		t.Errorf("in use: %v, %+v", err, b.saved())
	}
	b.sh("umount " + dir)
	if before == "" {
		t.Fatal("no sum")
	}

	// Formatted by somebody else since.
	b.sh("mkfs.ext4 -q -F -L MINE $d")
	before = b.sum()
	err = b.Teardown(t.Context(), nil, records.GiveUp{})
	refused, ok := errors.AsType[*records.Obstructed](err)
	if !ok || len(refused.Obstacles) != 1 || !strings.Contains(err.Error(), "it carries ext4 at 0x438, which apply did not put there; if it may be lost: --destroy "+b.paths[0]+" --serial S0") {
		t.Fatalf("formatted: %v", err)
	}
	if b.sum() != before || b.saved().Undoing {
		t.Error("a refusal has changed something")
	}
	for _, c := range []struct {
		give records.GiveUp
		err  string
	}{
		{records.GiveUp{Names: []string{b.paths[0]}}, "its serial number, S0, must be named too"},
		{records.GiveUp{Names: []string{b.paths[0]}, Serials: []string{"S1"}}, "must be named too"},
		{records.GiveUp{Names: []string{"/dev/other"}}, "nothing in the way of teardown is called /dev/other"},
	} {
		if err := b.Teardown(t.Context(), nil, c.give); err == nil || !strings.Contains(err.Error(), c.err) || b.sum() != before {
			t.Errorf("%+v: %v", c.give, err)
		}
	}
	if err := b.Teardown(t.Context(), nil, records.GiveUp{Names: []string{b.paths[0]}, Serials: []string{"S0"}}); err != nil {
		t.Fatal(err)
	}
	if found, err := b.signatures(t.Context(), b.paths[0]); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}

func TestTeardownOfItsOwn(t *testing.T) {
	b := built(t)
	if err := b.Teardown(t.Context(), nil, records.GiveUp{}); err != nil {
		t.Fatal(err)
	}
	b.w.Members[0].Destroy = true // files' blocks remain between the ends
	if err := b.now().checkBlank(t.Context(), "@S0"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(b.Journal); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is left: %v", err)
	}
}

// What was put on a member while apply was cut short is not built over, and not zeroed.
func TestResumeChecksMembersAgain(t *testing.T) {
	b := loops(t, 1, 16*units.MiB)
	b.w.Want = records.Want{Level: "single", FS: "ext4", Data: 1}
	steps0(b.w)
	host := *b.Machine
	b.Machine = &host
	run := host.Run
	fail := true
	host.Run = func(ctx context.Context, out io.Writer, argv ...string) error {
		if argv[0] == "mkfs.ext4" && fail {
			return &sys.Failed{Argv: argv, Code: 1, Stderr: "no luck today"}
		}
		return run(ctx, out, argv...)
	}
	if err := b.Apply(t.Context(), &Plan{Arrays: []*records.Work{b.w}}); err == nil || !strings.Contains(err.Error(), "no luck today") {
		t.Fatal(err)
	}
	b.sh("yes RAWDATABASE | dd of=$d bs=1M count=8 iflag=fullblock conv=notrunc,fsync")
	before := b.sum()
	fail = false
	w := b.saved()
	if err := b.Apply(t.Context(), &Plan{Arrays: []*records.Work{w}}); err == nil || !strings.Contains(err.Error(), "is not as plimsoll left it: byte 0 is not zero") {
		t.Errorf("apply: %v", err)
	}
	if err := b.Teardown(t.Context(), nil, records.GiveUp{}); err == nil || !strings.Contains(err.Error(), "byte 0 is not zero, and nothing there is plimsoll's") {
		t.Errorf("teardown: %v", err)
	}
	if b.sum() != before {
		t.Error("the data has changed")
	}
	b.sh("dd if=/dev/zero of=$d bs=1M count=16 conv=notrunc,fsync")
	if err := b.Apply(t.Context(), &Plan{Arrays: []*records.Work{b.saved()}}); err != nil {
		t.Errorf("blank again: %v", err)
	}
}

// steps0 are the steps of a filesystem on a volume that is not mounted.
func steps0(w *records.Work) {
	w.Blank()
	w.Mkfs(newUUID())
}

// One unreadable journal stands in nobody else's way.
func TestBrokenJournal(t *testing.T) {
	s := site(t, machine(volumes(4, 50, 1), nil))
	if err := os.MkdirAll(s.Journal, 0o755); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(s.Journal, "bad.json")
	for _, text := range []string{"", `{"schema":2,"arr`, `{"schema":1,"array":"bad"}`, `{"schema":2,"array":"other","members":[{}],"steps":[{}]}`} {
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		array := func(name string) string {
			return fmt.Sprintf("arrays:\n  - {name: %s, level: raid0, volumes: [{serial: vol0a01}, {serial: vol0a02}]}\n", name)
		}
		p, err := plan(t, s, array("good"), nil)
		if err != nil || !slices.ContainsFunc(p.Notes, func(n string) bool { return strings.Contains(n, "array bad: its journal cannot be read") }) {
			t.Errorf("%q: another array: %v", text, err)
		}
		if _, err := plan(t, s, array("bad"), nil); err == nil || !strings.Contains(err.Error(), "put "+bad+" back from a backup, or move it away") {
			t.Errorf("%q: its own array: %v", text, err)
		}
		if err := s.Teardown(t.Context(), nil, records.GiveUp{}); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q: teardown: %v", text, err)
		}
		if now, err := os.ReadFile(bad); err != nil || string(now) != text {
			t.Errorf("it was touched: %q %v", now, err)
		}
	}
}

// --destroy of one disc with an old filesystem: what stands there is what is given up.
func TestDestroyOfASingleVolume(t *testing.T) {
	s := site(t, machine([]drive{{name: "nvme1n1", serial: "S1", gib: 100, sig: "ext4"}}, nil))
	yaml := "arrays:\n  - {name: a, level: single, volumes: [{serial: S1}], filesystem: {type: ext4, mount: /data}}\n"
	if _, err := plan(t, s, yaml, nil); err == nil || !strings.Contains(err.Error(), "not as declared") {
		t.Errorf("without --destroy: %v", err)
	}
	p, err := plan(t, s, yaml, map[string]string{"/dev/nvme1n1": "S1"})
	if err != nil || p.Arrays[0].Found || !strings.HasPrefix(p.Arrays[0].Steps[0].Title, "erase") {
		t.Errorf("%+v %v", p, err)
	}
}
