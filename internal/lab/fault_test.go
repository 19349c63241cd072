package lab_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/ebs"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/sys"
)

// must runs a script in the guest that has to succeed.
func must(t *testing.T, g *lab.Guest, script string) string {
	t.Helper()
	r, err := g.Bash(t.Context(), script)
	if err != nil || r.Code != 0 {
		t.Fatalf("%s: %v, exit status %d\n%s%s", script, err, r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

func small(t *testing.T, volume string) *lab.Spec {
	t.Helper()
	s, err := lab.ParseSpec("test", []byte("volumes:\n  - {name: data, count: 4, size: 256MiB"+volume+"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const mountAgain = `mdadm --assemble --scan 2>/dev/null; udevadm settle; for i in 1 2 3 4 5; do mount /dev/disk/by-id/md-name-any:data /data && break; sleep 0.3; done; grep " /data xfs" /proc/mounts`

// What was synced survives a power cut, what was not does not, and md and XFS come back.
func TestPowerCut(t *testing.T) {
	g := labtest.StartSpec(t, small(t, ", iops: 3000"))
	must(t, g, `mdadm --create /dev/md/data --run --level=10 --raid-devices=4 --assume-clean --homehost=any --name=data "${data[@]}" && udevadm settle &&
		mkfs.xfs -q -K /dev/md/data && mount /dev/md/data /data && echo kept > /data/synced && sync && echo lost > /data/unsynced`)
	before := g.Volumes[0].Stats()
	begin := time.Now()
	if err := g.PowerCut(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, g, mountAgain)
	t.Logf("mounted again after %v", time.Since(begin).Round(10*time.Millisecond))
	if got := must(t, g, "cat /data/synced; ls /data"); got != "kept\nsynced\n" {
		t.Errorf("after the power cut: %q, want synced to be kept and unsynced to be lost", got)
	}
	if after := g.Volumes[0].Stats(); after.Reads <= before.Reads {
		t.Errorf("reads went from %d to %d: is it another volume?", before.Reads, after.Reads)
	}
}

// With a system that persists, what is in fstab and mdadm.conf comes back, and what was not synced
// is lost as on a real root.
func TestPowerCutOfASystem(t *testing.T) {
	g := labtest.StartConfig(t, lab.Config{Spec: small(t, ""), Persist: true})
	must(t, g, `mdadm --create /dev/md7 --run --level=10 --raid-devices=4 --assume-clean --homehost=any --name=data "${data[@]}" && udevadm settle &&
		mkfs.xfs -q -K -L DATA /dev/md7 && mount /dev/md7 /data && mdadm --detail --brief /dev/md7 >> /etc/mdadm/mdadm.conf &&
		echo "LABEL=DATA /data xfs noatime,nofail 0 0" >> /etc/fstab && echo mine > /root/note && sync && echo lost > /etc/unsynced`)
	if err := g.PowerCut(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := must(t, g, `cat /root/note; grep -o "^/dev/md7 /data xfs" /proc/mounts; ls /etc/unsynced 2>/dev/null || echo gone`)
	if got != "mine\n/dev/md7 /data xfs\ngone\n" {
		t.Errorf("after the power cut: %q", got)
	}
}

// A volatile cache that the guest knows of loses what was not flushed, and only that.
func TestPowerCutOfAVolatileCache(t *testing.T) {
	g := labtest.StartSpec(t, small(t, ", cache: volatile"))
	must(t, g, `mdadm --create /dev/md/data --run --level=10 --raid-devices=4 --assume-clean --homehost=any --name=data "${data[@]}" && udevadm settle &&
		mkfs.xfs -q -K /dev/md/data && mount /dev/md/data /data && echo kept > /data/synced && sync`)
	// QEMU 7.2's nvme drops FUA, by which XFS makes the record of that sync durable; the flush
	// before the next one does.
	must(t, g, "touch /data/other; sync")
	must(t, g, "dd if=/dev/urandom of=/data/direct bs=1M count=16 oflag=direct 2>/dev/null")
	var held int64
	for _, v := range g.Volumes {
		held += v.Stats().Volatile
	}
	if held == 0 {
		t.Error("the caches are empty: nothing would be lost")
	}
	if err := g.PowerCut(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, g, mountAgain)
	if got := must(t, g, "cat /data/synced; ls /data | grep -c direct || true"); got != "kept\n0\n" {
		t.Errorf("after the power cut: %q, want only synced", got)
	}
}

// A volume that fails under an array is thrown out of it; one that stalls leaves its requests in
// flight.
func TestFailingVolume(t *testing.T) {
	g := labtest.StartSpec(t, small(t, ""))
	must(t, g, `mdadm --create /dev/md/data --run --level=10 --raid-devices=4 --assume-clean --homehost=any --name=data "${data[@]}"; udevadm settle`)
	if err := g.Volumes[2].Set(ebs.Behaviour{ErrorRate: 1}); err != nil {
		t.Fatal(err)
	}
	must(t, g, `dd if=/dev/zero of=/dev/md/data bs=1M count=4 oflag=direct 2>/dev/null; mdadm --detail /dev/md/data | grep -E "faulty +${data[2]}"`)
	if n := g.Volumes[2].Stats().Errors; n == 0 {
		t.Error("no error counted")
	}
	stalled := g.Volumes[1]
	if err := stalled.Set(ebs.Behaviour{Stall: true}); err != nil {
		t.Fatal(err)
	}
	must(t, g, `(dd if=${data[1]} of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null; touch /tmp/read) </dev/null >/dev/null 2>&1 & sleep 0.5; ! [ -e /tmp/read ]`)
	if n := stalled.Stats().InFlight; n == 0 {
		t.Error("nothing in flight at a stalled volume")
	}
	if err := stalled.Set(ebs.Behaviour{}); err != nil {
		t.Fatal(err)
	}
	must(t, g, `for i in $(seq 50); do [ -e /tmp/read ] && exit; sleep 0.1; done; exit 1`)
	if err := g.Unplug(t.Context(), g.Volumes[3]); err != nil {
		t.Fatal(err)
	}
	must(t, g, `! [ -e ${data[3]} ]`)
}

func TestFilesInAndOut(t *testing.T) {
	g := labtest.StartSpec(t, small(t, ""))
	want := strings.Repeat("some text\n", 100_000)
	if err := g.Put(t.Context(), "/root/in", 0o600, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if got, err := g.Exec(t.Context(), "cat", "in"); err != nil || got.Stdout != want {
		t.Errorf("%d bytes, %v", len(got.Stdout), err)
	}
	flood := fmt.Sprint(sys.OutputLimit + 1)
	if got, err := g.Exec(t.Context(), "head", "-c", flood, "/dev/zero"); err == nil || len(got.Stdout) > sys.OutputLimit {
		t.Errorf("kept %d bytes of what the guest prints: %v", len(got.Stdout), err)
	}
	must(t, g, "mkdir -p runs/a/b && cp in runs/a/b/out && chmod 640 runs/a/b/out && touch runs/empty && ln -s /etc/passwd runs/link")
	to := t.TempDir()
	if err := g.Fetch(t.Context(), "/root/runs", to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "runs/a/b/out")); err != nil || string(got) != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(filepath.Join(to, "runs/empty")); err != nil || info.Size() != 0 {
		t.Errorf("empty: %v", err)
	}
	if err := g.Fetch(t.Context(), "/root/none", to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	if r, err := g.Exec(t.Context(), "plimsoll", "version"); err != nil || r.Code != 0 || !strings.HasPrefix(r.Stdout, "plimsoll ") {
		t.Errorf("plimsoll in the guest: %+v, %v", r, err)
	}
	must(t, g, "echo on the console > /dev/console; sleep 0.2")
	if console, err := g.Console(); err != nil || !strings.Contains(console, "on the console") {
		t.Errorf("console %q, %v", console, err)
	}
}

// TestNothingIsLeft stops a guest in all ways: QEMU ends, and no socket or directory stays.
func TestNothingIsLeft(t *testing.T) {
	labtest.Need(t)
	own, err := os.MkdirTemp("", "pl") //nolint:usetesting // short: the guest's sockets lie below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(own) })
	t.Setenv("TMPDIR", own)
	t.Run("stopped", func(t *testing.T) {
		g, err := lab.Start(t.Context(), host(), lab.Config{Spec: small(t, ""), Binary: labtest.Binary(t)})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a setup that fails", func(t *testing.T) {
		s := small(t, "")
		s.Setup = []string{"echo no way; exit 9"}
		_, err := lab.Start(t.Context(), host(), lab.Config{Spec: s, Binary: labtest.Binary(t)})
		if err == nil || !strings.Contains(err.Error(), "no way") {
			t.Errorf("%v, want what the command said", err)
		}
	})
	t.Run("plimsoll is killed", func(t *testing.T) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHelperStartsAGuest$")
		cmd.Env = append(os.Environ(), "PLIMSOLL_HELPER=1", "PLIMSOLL_TEST_BINARY="+labtest.Binary(t))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if n, err := out.Read(make([]byte, 100)); n == 0 {
			t.Fatalf("the helper ended: %v", err)
		}
		if len(qemus(t)) != 1 {
			t.Errorf("guests running: %v, want one", qemus(t))
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		for end := time.Now().Add(5 * time.Second); len(qemus(t)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("QEMU lives on without its plimsoll: %v", qemus(t))
			}
		}
		g, err := lab.Start(t.Context(), host(), lab.Config{Spec: small(t, ""), Binary: labtest.Binary(t)})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	if left := leftovers(t); len(left) > 0 || len(qemus(t)) > 0 {
		t.Errorf("left behind: %v, %v", left, qemus(t))
	}
}

// A guest whose setup stands still is given up, and another one started, three times in all.
func TestStalledSetup(t *testing.T) {
	if reason := lab.Available(sys.Host()); reason != "" || os.Getenv("PLIMSOLL_LAB") == "off" || testing.Short() {
		t.Skip("NO LAB: " + cmp.Or(reason, "PLIMSOLL_LAB=off or -short"))
	}
	spec := small(t, "")
	spec.Setup = []string{"sleep 600", "true"} // on a busy machine even true stands still for a second
	var log strings.Builder
	cfg := lab.Config{Spec: spec, SetupLimit: time.Second, Log: &log, Binary: labtest.Binary(t)}
	g, err := lab.Start(t.Context(), sys.Host(), cfg)
	if err == nil {
		t.Fatal("started in spite of a setup that does not end", g.Stop())
	}
	if n := strings.Count(log.String(), "starting another guest"); n != 2 || !strings.Contains(err.Error(), "stands still for 3 s") {
		t.Errorf("%d further guests, want 2: %v\n%s", n, err, log.String())
	}
	if n := strings.Count(log.String(), "lab: setup 1/2: sleep 600\n"); n != 3 {
		t.Errorf("the progress of %d setups, want 3:\n%s", n, log.String())
	}
}
