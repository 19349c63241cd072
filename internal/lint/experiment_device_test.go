package lint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/fio"
)

// loopDevice is a block device on a file, whose counters and queue show what reaches storage.
type loopDevice struct {
	path, trace string
	number      uint64
}

// newLoopDevice makes a device of some MiB and holds it open, so that nothing is written to it merely because
// the last that used it has closed it.
func newLoopDevice(t *testing.T, mib int) loopDevice {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NOT TESTED: fio is not installed")
	}
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, bytes.Repeat([]byte{7}, mib<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "losetup", "--find", "--show", image).Output()
	if err != nil {
		t.Skip("NOT TESTED: no loop device can be made here; what reaches a device is not counted")
	}
	d := loopDevice{path: strings.TrimSpace(string(out))}
	t.Cleanup(func() { exec.Command("losetup", "--detach", d.path).Run() }) //nolint:errcheck // of the test
	held, err := os.OpenFile(d.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	var st syscall.Stat_t
	if err := syscall.Fstat(int(held.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	d.number = st.Rdev
	return d
}

// moved are the bytes read from and written to the device so far.
func (d loopDevice) moved(t *testing.T) (read, written int) {
	t.Helper()
	text, err := os.ReadFile("/sys/block/" + filepath.Base(d.path) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(text))
	const sector, readAt, writtenAt = 512, 2, 6 // as the kernel documents block/stat
	read, _ = strconv.Atoi(f[readAt])
	written, _ = strconv.Atoi(f[writtenAt])
	return read * sector, written * sector
}

// watched has the kernel record each request of the device, from its issue to its completion.
func (d loopDevice) watched(t *testing.T) loopDevice {
	t.Helper()
	root := t.TempDir()
	if err := syscall.Mount("nodev", root, "tracefs", 0, ""); err != nil {
		t.Skip("NOT TESTED: the kernel's trace events cannot be mounted here; the device's queue is not seen")
	}
	t.Cleanup(func() { syscall.Unmount(root, 0) }) //nolint:errcheck // of the test
	d.trace = filepath.Join(root, "instances", "plimsoll-"+strconv.Itoa(os.Getpid())+filepath.Base(d.path))
	if err := os.Mkdir(d.trace, 0o750); err != nil {
		t.Skip("NOT TESTED: no instance of the kernel's trace can be made here: ", err)
	}
	t.Cleanup(func() { _ = os.Remove(d.trace) })
	const minorBits = 20 // of the kernel's dev_t; the C library's are spread
	dev := (d.number>>8&0xfff)<<minorBits | d.number&0xff | d.number>>12&0xfff00
	d.set(t, "buffer_size_kb", "2048")
	for _, event := range []string{"block_rq_issue", "block_rq_complete"} {
		d.set(t, "events/block/"+event+"/filter", "dev == "+strconv.FormatUint(dev, 10))
		d.set(t, "events/block/"+event+"/enable", "1")
		t.Cleanup(func() { d.set(t, "events/block/"+event+"/enable", "0") })
	}
	return d
}

func (d loopDevice) set(t *testing.T, name, value string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.trace, name), []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
}

// queue is what the device saw since the last call: how many requests that move data, the most of
// them in flight at once, and how many in the mean when one was issued.
func (d loopDevice) queue(t *testing.T) (requests, most int, mean float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.trace, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	d.set(t, "trace", "")
	now, sum := 0, 0
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.Contains(line, " + 0 "): // a flush
		case strings.Contains(line, "block_rq_issue:"):
			requests++
			now++
			sum += now
			most = max(most, now)
		case strings.Contains(line, "block_rq_complete:"):
			now--
		}
	}
	return requests, most, float64(sum) / float64(max(requests, 1))
}

// deep is fio's own share of I/Os, in percent, at a depth of 16 or more.
func deep(r fioResult) float64 { return r.Jobs[0].Levels["16"] }

// undisturbed repeats an experiment until it shows what it is to show: udev reads a new device, too, and a
// busy machine may serve a queue as fast as it is filled. What is not so is not so in any of the tries.
func undisturbed(t *testing.T, want string, try func() (saw string, ok bool)) {
	t.Helper()
	for range 8 {
		saw, ok := try()
		t.Log(saw)
		if ok {
			return
		}
	}
	t.Error("want " + want)
}

func TestAsyncBufferedExperiment(t *testing.T) {
	d := newLoopDevice(t, 8).watched(t)
	job := "[a]\nioengine=libaio\niodepth=16\nrw=randread\nbs=4k\nsize=8m\nnumber_ios=300\nfilename=" + d.path + "\n"
	warned(t, "PL104", job, true)
	undisturbed(t, "one in flight, several with direct=1, and 16 by fio's own count in both", func() (string, bool) {
		d.queue(t)
		r, _, _ := experiment(t, job)
		n, most, mean := d.queue(t)
		direct, _, _ := experiment(t, job+"direct=1\n")
		_, mostDirect, meanDirect := d.queue(t)
		return fmt.Sprintf("buffered: fio counts %.0f %% of I/Os at depth 16, the device had at most %d of %d in flight, %.2f in the "+
				"mean; direct=1: %.0f %%, %d, %.2f", deep(r), most, n, mean, deep(direct), mostDirect, meanDirect),
			n >= 290 && most == 1 && mostDirect >= 4 && deep(r) >= 90 && deep(direct) >= 90
	})
	warned(t, "PL104", job+"direct=1\n", false)
}

func TestSyncWithDepthExperiment(t *testing.T) {
	d := newLoopDevice(t, 8).watched(t)
	job := "[a]\nioengine=libaio\ndirect=1\niodepth=16\nrw=randwrite\nbs=4k\nsize=8m\nnumber_ios=200\nfilename=" + d.path + "\n"
	warned(t, "PL111", job+"fdatasync=1\n", true)
	undisturbed(t, "a quarter of the queue at most with the sync, and most of it without", func() (string, bool) {
		d.queue(t)
		synced, _, _ := experiment(t, job+"fdatasync=1\n")
		n, _, mean := d.queue(t)
		free, _, _ := experiment(t, job)
		_, most, meanFree := d.queue(t)
		uring, _, _ := experiment(t, strings.Replace(job, "libaio", fio.IOURing, 1)+"fdatasync=1\n")
		_, _, meanRing := d.queue(t)
		return fmt.Sprintf("fdatasync=1: fio counts %.0f %% at depth 16, the device had %.2f of %d writes in flight on average; "+
				"without: %.0f %%, %.2f, at most %d; io_uring with it: %.0f %%, %.2f",
				deep(synced), mean, n, deep(free), meanFree, most, deep(uring), meanRing),
			n >= 190 && mean <= 4 && most >= 8 && deep(synced) >= 90
	})
	warned(t, "PL111", job+"fdatasync=32\n", false)
}

// The rate keeps the copies side by side on a busy machine, too.
func TestSameBlocksOnADeviceExperiment(t *testing.T) {
	d := newLoopDevice(t, 16)
	job := "[a]\nrw=read\nioengine=psync\nbs=64k\nsize=16m\nrate=32m\nnumjobs=4\nfilename=" + d.path + "\n"
	warned(t, "PL107", strings.Replace(job, "rate=32m\n", "", 1), true) // of paced jobs it is an info
	share := func(job string) (float64, string) {
		before, _ := d.moved(t)
		r, _, _ := experiment(t, job)
		after, _ := d.moved(t)
		sum := 0
		for _, j := range r.Jobs {
			sum += j.Read.Bytes
		}
		return float64(after-before) / float64(sum), strconv.Itoa(sum>>20) + " MiB"
	}
	cached, sum := share(job)
	direct, _ := share(job + "direct=1\n")
	t.Logf("fio reports %s of reads; %.0f %% of it came from the device, %.0f %% with direct=1", sum, 100*cached, 100*direct)
	if cached > 0.8 || direct < 0.99 {
		t.Error("want a part of it, and all with direct=1")
	}
}

// What buffered writes leave behind when fio has ended.
func TestBufferedWritesExperiment(t *testing.T) {
	d := newLoopDevice(t, 16)
	job := "[a]\nrw=write\nioengine=psync\nbs=64k\nsize=16m\nfilename=" + d.path + "\n"
	const typed = "fio --name=a --rw=write --ioengine=psync --bs=64k --filename=/mnt/f"
	warned(t, "PL105", typed+" --size=16m\n", true)
	written := func(job string) int {
		_, before := d.moved(t)
		experiment(t, job)
		_, after := d.moved(t)
		exec.Command("blockdev", "--flushbufs", d.path).Run() //nolint:errcheck // so that the next begins with nothing to write
		return after - before
	}
	plain, synced := written(job), written(job+"end_fsync=1\n")
	t.Logf("of 16 MiB, %d bytes had reached the device when fio ended, %d with end_fsync=1", plain, synced)
	if plain > 8<<20 || synced < 16<<20 {
		t.Error("want less than half of it, and all")
	}
	warned(t, "PL105", typed+" --size=16m --end_fsync=1\n", false)
	warned(t, "PL155", typed+" --size=16g\n", true) // of which memory holds a part at the end, too
	warned(t, "PL155", typed+" --size=16g --end_fsync=1\n", false)
}

// fio's rate is a ceiling on any machine; the job whose blocks have one size shows that it is reached.
func TestRateBySmallestExperiment(t *testing.T) {
	const job = "[a]\nrw=randread\nioengine=psync\nsize=8m\nfilename=f\ntime_based\nruntime=1\nrate_iops=160\n"
	warned(t, "PL135", job+"bssplit=4k/50:60k/50\n", true)
	mixed, _, _ := experiment(t, job+"bssplit=4k/50:60k/50\n")
	single, _, _ := experiment(t, job+"bs=32k\n")
	t.Logf("rate_iops=160 for a second: %d I/Os of 4k and 60k, %d of 32k", mixed.Jobs[0].Read.IOs, single.Jobs[0].Read.IOs)
	if mixed.Jobs[0].Read.IOs > 60 || single.Jobs[0].Read.IOs <= mixed.Jobs[0].Read.IOs {
		t.Error("want about 20, and more with one size")
	}
	warned(t, "PL135", job+"bs=32k\n", false)
}

// What a random fill leaves of a device as it was: the blocks that still hold what the device was made of.
func TestHolesOnADeviceExperiment(t *testing.T) {
	const mib, block = 8, 4096
	d := newLoopDevice(t, mib)
	job := "[fill]\nrw=randwrite\nioengine=psync\ndirect=1\nbs=4k\nsize=100%\nfilename=" + d.path + "\n"
	old := bytes.Repeat([]byte{7}, block)
	left := func(job string) int {
		if err := os.WriteFile(d.path, bytes.Repeat(old, mib<<20/block), 0o600); err != nil {
			t.Fatal(err)
		}
		experiment(t, job)
		text, err := os.ReadFile(d.path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for at := range slices.Chunk(text, block) {
			if bytes.Equal(at, old) {
				n++
			}
		}
		return n
	}
	warned(t, "PL145", job+"norandommap\n", true)
	warned(t, "PL145", job, false)
	holes, none := left(job+"norandommap\n"), left(job)
	const all = mib << 20 / block
	t.Logf("of %d blocks %d are as they were with norandommap, and %d without", all, holes, none)
	if holes < all*32/100 || holes > all*42/100 || none != 0 {
		t.Error("want 1/e of them, and none")
	}
}

// What the device has read, beside what fio reports.
func TestRampAboveRunExperiment(t *testing.T) {
	d := newLoopDevice(t, 8)
	job := "[a]\nrw=randread\nioengine=psync\ndirect=1\nbs=4k\nsize=8m\nfilename=" + d.path +
		"\ntime_based\nramp_time=1s\nruntime=60ms\n"
	warned(t, "PL137", job, true)
	before, _ := d.moved(t)
	r, _, _ := experiment(t, job)
	after, _ := d.moved(t)
	all := (after - before) / 4096
	t.Logf("the device did %d reads, and fio reports %d", all, r.Jobs[0].Read.IOs)
	if r.Jobs[0].Read.IOs > all/2 {
		t.Error("want most of them thrown away")
	}
}

// A device that is mounted in two places shows one filesystem in both.
func TestMountedTwiceExperiment(t *testing.T) {
	d := newLoopDevice(t, 8)
	const mounts = "mount /dev/sdb /a\nmount /dev/sdb /b\n"
	if len(lint("PL131", mounts)) != 1 || len(lint("PL131", strings.Replace(mounts, "\nm", "\numount /a\nm", 1))) != 0 {
		t.Error("want an error for the second mount, and none where the first is gone")
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", `mkdir a b && mkfs.ext4 -q "$1" && mount "$1" a || exit 77
		mount "$1" b && echo written >a/f && cat b/f && umount a && ls a`, "sh", d.path)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 77 || errors.Is(err, exec.ErrNotFound) || bytes.HasPrefix(out, []byte("unshare:")) {
		t.Skipf("NOT TESTED: no filesystem can be mounted here: %v, %s", err, out)
	}
	if err != nil || string(out) != "written\n" {
		t.Errorf("%q, %v: want what was written below a, read below b, and nothing below a behind umount", out, err)
	}
}

// Two sections that a series names after what they do start together.
func TestTogetherExperiment(t *testing.T) {
	const job = "[global]\nfilename=f\nsize=1m\n[write]\nrw=write\n[read]\n%rw=read\n"
	both := strings.Replace(job, "%", "", 1)
	warned(t, "PL139", both, true)
	r, _, _ := experiment(t, both)
	apart, _, _ := experiment(t, strings.Replace(job, "%", "stonewall\n", 1))
	t.Logf("groups: %d %d; with stonewall: %d %d", r.Jobs[0].GroupID, r.Jobs[1].GroupID, apart.Jobs[0].GroupID, apart.Jobs[1].GroupID)
	if r.Jobs[0].GroupID != r.Jobs[1].GroupID || apart.Jobs[0].GroupID == apart.Jobs[1].GroupID {
		t.Error("want one group, and two with stonewall")
	}
}
