package permit

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
)

// lockedLoop is a loop device on which another program has a shared lock, as udev takes it, until
// let is called.
func lockedLoop(t *testing.T) (device string, let func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", file).CombinedOutput()
	if err != nil {
		t.Skipf("NO LOOP DEVICES HERE, so no lock was waited for: losetup: %v: %s", err, out)
	}
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "--detach", device).Run() })
	cmd := exec.Command("flock", "-s", device, "sh", "-c", "echo held; read -r end")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("NO flock HERE, so no lock was waited for: %v", err)
	}
	let = func() { _ = in.Close() }
	t.Cleanup(func() { let(); _, _ = io.Copy(io.Discard, said); _ = cmd.Wait() })
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("flock says %q, %v", line, err)
	}
	return device, let
}

// A lock that is held for a moment is waited for.
func TestLockIsTriedAgain(t *testing.T) {
	device, let := lockedLoop(t)
	tries := 0
	p := &Place{Path: device, Device: &block.Device{}, Patience: time.Hour, Waits: func(error) {
		if tries++; tries == 2 {
			let()
		}
	}}
	release, err := p.Lock(t.Context())
	if err != nil || tries < 2 {
		t.Fatalf("%d tries: %v", tries, err)
	}
	release()
}

// One that is held for good is named with its holder, and Ctrl-C ends the wait.
func TestLockNamesItsHolder(t *testing.T) {
	device, _ := lockedLoop(t)
	p := &Place{Path: device, Device: &block.Device{}, Patience: 3 * lockPause}
	if _, err := p.Lock(t.Context()); err == nil || !strings.HasPrefix(err.Error(), device+" is locked by \"flock\" (process ") {
		t.Error(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	p.Patience, p.Waits = time.Hour, func(error) { interrupt() }
	if _, err := p.Lock(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
