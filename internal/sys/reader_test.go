package sys

import (
	"strings"
	"testing"
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
