package permit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys/killat"
)

// TestHelperUsesAPlace does with a place what a run of a database does. It is a part of TestKilledAtEachStep.
func TestHelperUsesAPlace(t *testing.T) {
	path := os.Getenv("PERMIT_KILLED_IN")
	if path == "" {
		t.Skip("a part of TestKilledAtEachStep")
	}
	p := placeOn(t, path, Consent{})
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mark := Mark("a run", infoOf(t, path))
	data, err := p.MakeDatabase("pg-data", 65534, 65534)
	record := Server{Data: data, UID: 65534}
	err = errors.Join(err, p.PutMark(mark), p.RecordServer(record))
	record.Cgroup = "changed"
	err = errors.Join(err, p.RecordServer(record), p.makeFresh(p.fileName(), p.Size), p.Keep(), p.RemoveDatabase(),
		p.Empty(), p.DropMark(mark))
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func infoOf(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestKilledAtEachStep: whichever of its steps in plimsoll's folder is a run's last, clean leaves nothing.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if os.Getuid() != 0 {
		t.Skip("only root gives directories to others")
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close() //nolint:errcheck // nothing was written
	killed := 0
	for step := 1; ; step++ {
		path := t.TempDir()
		c := killat.Command{
			Argv: []string{os.Args[0], "-test.run=^TestHelperUsesAPlace$"}, Env: append(os.Environ(), "PERMIT_KILLED_IN="+path),
			Step: step, Signal: unix.SIGKILL, Out: null, Err: null,
		}
		steps, code, err := c.Run()
		if err != nil || code > 0 {
			t.Fatalf("step %d: the helper ended with %d: %v", step, code, err)
		}
		if err := Clean(path, false, func(Leftover) {}); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
		if left, _ := filepath.Glob(path + "/.*"); len(left) > 0 {
			inside, _ := filepath.Glob(left[0] + "/.*")
			t.Errorf("step %d of %d: left: %q %q", step, steps, left, inside)
		}
		if code == 0 {
			break
		}
		killed++
	}
	if killed < 30 {
		t.Errorf("only %d steps were the last: the test tests nothing", killed)
	}
	t.Logf("%d steps", killed)
}
