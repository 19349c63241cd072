package sys

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestApart: a child with shared memory of its own sees none of the machine's, leaves none behind, and
// mounts nothing that others see.
func TestApart(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has namespaces of its own")
	}
	before, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 { // on whatever thread
		apart := i > 0
		var out bytes.Buffer
		c := Child{
			Argv: []string{"/bin/sh", "-c", "readlink /proc/self/ns/ipc; test -z \"$(ls -A /dev/shm)\" && echo empty; : >/dev/shm/plimsoll-test-apart"}, Dir: "/", Out: &out,
			Apart: apart,
		}
		if _, err := c.Run(context.Background(), time.Minute); err != nil {
			t.Fatal(err)
		}
		own, err := os.Readlink("/proc/self/ns/ipc")
		if err != nil {
			t.Fatal(err)
		}
		_, left := os.Stat("/dev/shm/plimsoll-test-apart")
		if left == nil {
			_ = os.Remove("/dev/shm/plimsoll-test-apart")
		}
		same := strings.Contains(out.String(), own)
		if apart && (same || left == nil || !strings.Contains(out.String(), "empty")) || !apart && (!same || left != nil) {
			t.Errorf("apart %v: %q, left %v", apart, out.String(), left)
		}
	}
	if after, _ := os.ReadFile("/proc/self/mounts"); !bytes.Equal(before, after) {
		t.Errorf("mounts became\n%s", after)
	}
}
