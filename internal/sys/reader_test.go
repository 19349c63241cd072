package sys

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/sys/bounded"
)

// Records of /dev/kmsg become the lines of dmesg(1), those of the last while alone, without their keys.
func TestKernelRecord(t *testing.T) {
	for record, want := range map[string]string{
		"4,339,5140900,-;nvme nvme1: I/O 5 QID 2 timeout\n SUBSYSTEM=nvme\n": "[5.140900] nvme nvme1: I/O 5 QID 2 timeout\n",
		"4,339,5140900,-,caller=T1;a;b":                                      "[5.140900] a;b\n",
		"4,338,4999999,-;too long ago":                                       "",
		"4,338;no time":                                                      "",
		"4,338,1h5,-;no number":                                              "",
		"4,338,-5,-;before the start":                                        "",
		"no head":                                                            "",
	} {
		var out strings.Builder
		kernelRecord(&out, record, 5*time.Second)
		if out.String() != want {
			t.Errorf("%q: %q, want %q", record, out.String(), want)
		}
	}
}

// A held file is read from its start each time, and is of the process that it was opened of: when that has
// ended, reading fails.
func TestHeld(t *testing.T) {
	c := exec.Command("sleep", "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() { _ = c.Process.Kill(); _ = c.Wait() })
	defer end()
	r := Host().Reader()
	name := "proc/" + strconv.Itoa(c.Process.Pid) + "/stat"
	h, err := r.Hold(name)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range 2 {
		if text, err := h.Read(); err != nil || !bytes.HasPrefix(text, []byte(strconv.Itoa(c.Process.Pid)+" (")) {
			t.Errorf("%q %v", text, err)
		}
	}
	end()
	if text, err := h.Read(); err == nil {
		t.Errorf("of a process that has ended: %q", text)
	}
	if _, err := r.Hold(name); err == nil {
		t.Error("a process that has ended can be held")
	}
	root := fstest.MapFS{"proc/diskstats": {Data: []byte("1")}}
	h, err = (&Machine{Root: root}).Reader().Hold("proc/diskstats")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1", "2"} {
		root["proc/diskstats"].Data = []byte(want)
		if text, err := h.Read(); err != nil || string(text) != want {
			t.Errorf("%q %v, want %s", text, err, want)
		}
	}
	h.Close()
}

// FuzzKernelRecord: a driver may write any text; a record is one line at most.
func FuzzKernelRecord(f *testing.F) {
	f.Add("4,339,5140900,-;nvme nvme1: timeout\n SUBSYSTEM=nvme")
	f.Add("4,339,99999999999999999999,-;x")
	bounded.Fuzz(f, func(t *testing.T, record string) {
		var out strings.Builder
		kernelRecord(&out, record, 0)
		if s := out.String(); s != "" && (strings.Count(s, "\n") != 1 || s[0] != '[' || strings.HasPrefix(s, "[-")) {
			t.Errorf("%q: %q", record, s)
		}
	})
}
