package sys

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// TestApartFollowsUnmounts: what the machine unmounts while a child runs apart is unmounted for the
// child, too. Else its device would stay busy until the child ends.
func TestApartFollowsUnmounts(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has namespaces of its own")
	}
	if os.Getenv("PLIMSOLL_TEST_SHARED") == "" { // mounts that are shared, as systemd makes them
		cmd := exec.Command("unshare", "--mount", "--propagation", "shared", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_SHARED=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	dir, asked := t.TempDir(), filepath.Join(t.TempDir(), "asked")
	if out, err := exec.Command("mount", "-t", "tmpfs", "none", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	reads, out := io.Pipe()
	c := Child{
		Argv: []string{"/bin/sh", "-c", `count() { grep -c "$0" /proc/self/mountinfo || true; }
			count; while ! test -e "$1"; do sleep 0.05; done; count`, dir, asked},
		Dir: "/", Env: os.Environ(), Out: out, Apart: true,
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context(), time.Minute)
		ended <- errors.Join(err, out.Close())
	}()
	lines := bufio.NewScanner(reads)
	if !lines.Scan() || lines.Text() != "1" {
		t.Errorf("mounted: %q mounts", lines.Text())
	}
	if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(asked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "0" {
		t.Errorf("unmounted: %q mounts", lines.Text())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
