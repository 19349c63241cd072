// Package labtest gives lab guests to tests.
package labtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/lab"
	"plimsoll/internal/sys"
)

// Start starts a guest from a preset, for one test at a time of all packages: two would share two
// cores and measure each other. Without QEMU it skips the test and says why. PLIMSOLL_LAB=off skips
// as well.
func Start(t testing.TB, preset string) *lab.Guest {
	t.Helper()
	spec, err := lab.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	return StartSpec(t, spec)
}

// StartSpec is Start with a spec of the test's own.
func StartSpec(t testing.TB, spec *lab.Spec) *lab.Guest {
	t.Helper()
	return StartConfig(t, lab.Config{Spec: spec})
}

// StartConfig is Start with all that can be chosen; Binary and Log are the test's.
func StartConfig(t testing.TB, cfg lab.Config) *lab.Guest {
	t.Helper()
	Need(t)
	return StartBeside(t, cfg)
}

// StartBeside is StartConfig for a test that has called Need itself and runs several guests at
// once.
func StartBeside(t testing.TB, cfg lab.Config) *lab.Guest {
	t.Helper()
	cfg.Binary, cfg.Log = Binary(t), t.Output()
	limit := 5 * time.Minute
	if cfg.Spec.System == lab.SystemDebian {
		limit = 10 * time.Minute // the first is made from packages
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	g, err := lab.Start(ctx, sys.Host(), cfg)
	if errors.Is(err, lab.ErrUnavailable) {
		t.Skip("NO LAB: " + err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			console, _ := g.Console()
			late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			r, _ := g.Exec(late, "sh", "-c", "dmesg | tail -30")
			cancel()
			t.Logf("the guest's console and kernel log:\n%s\n%s", console[max(0, len(console)-4000):], r.Stdout)
		}
		if err := g.Stop(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// Need skips the test where no lab can run, loudly, and waits for other tests' guests. PLIMSOLL_LAB names
// the one test that may have guests, then also with -short.
func Need(t testing.TB) {
	t.Helper()
	only := os.Getenv("PLIMSOLL_LAB")
	switch {
	case only == "off" || strings.HasPrefix(only, "Test") && only != t.Name():
		t.Skip("NO LAB: PLIMSOLL_LAB=" + only)
	case testing.Short() && only != t.Name():
		t.Skip("NO LAB: -short")
	}
	if reason := lab.Available(sys.Host()); reason != "" {
		t.Skip("NO LAB: " + reason)
	}
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "plimsoll-labtest.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // and with it the lock
}

// Binary is a static plimsoll built from this source; PLIMSOLL_TEST_BINARY names another one.
func Binary(t testing.TB) string {
	t.Helper()
	if name := os.Getenv("PLIMSOLL_TEST_BINARY"); name != "" {
		return name
	}
	name, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// build runs once a test program; what it returns does not change.
var build = sync.OnceValues(func() (string, error) {
	_, self, _, _ := runtime.Caller(0)
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	name := filepath.Join(cache, "plimsoll", "lab", "test-plimsoll")
	// With -trimpath Go would compile every package once more, the standard library's too.
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", name, "plimsoll/cmd/plimsoll")
	if filepath.IsAbs(self) { // with -trimpath it names the module: the test's own directory is inside it, too
		cmd.Dir = filepath.Dir(self)
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", &os.PathError{Op: "go build", Path: string(out), Err: err}
	}
	return name, nil
})
