package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/sys"
)

// On a host a copy is put, and started by its name, only where nobody but its user and root can change the way to it.
func TestCopiesLieWhereNobodyElseCanChangeThem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to somebody else")
	}
	for says, c := range map[string]struct {
		mode, dMode     os.FileMode // of what holds the cache, and of the cache's own directory
		owner, dOwner   int
		group           int
		sticky, refused bool
	}{
		"the user's own":                {mode: 0o755, dMode: 0o755},
		"of all, sticky":                {mode: 0o777, dMode: 0o755, sticky: true},
		"of all":                        {mode: 0o777, dMode: 0o755, refused: true},
		"of a group":                    {mode: 0o775, dMode: 0o755, group: 54321, refused: true},
		"of the user's own group":       {mode: 0o775, dMode: 0o755},
		"another's":                     {mode: 0o755, dMode: 0o755, owner: 65534, refused: true},
		"its directory another's":       {mode: 0o755, dMode: 0o755, dOwner: 65534, refused: true},
		"its directory another's, open": {mode: 0o755, dMode: 0o777, dOwner: 65534, refused: true},
		"its directory open to all":     {mode: 0o755, dMode: 0o777},
	} {
		cache := filepath.Join(t.TempDir(), "cache")
		own := filepath.Join(cache, "plimsoll")
		mode := c.mode
		if c.sticky {
			mode |= os.ModeSticky
		}
		if err := errors.Join(os.MkdirAll(own, 0o755), os.Chmod(own, c.dMode), os.Chown(own, c.dOwner, 0), os.Chmod(cache, mode),
			os.Chown(cache, c.owner, c.group)); err != nil {
			t.Fatal(err)
		}
		out, err := placeIn(cache, "a program")
		copies, globErr := filepath.Glob(own + "/fleet-*/plimsoll")
		if globErr != nil || (err != nil) != c.refused || (len(copies) == 0) != c.refused {
			t.Errorf("%s: %v, %q, copies %q", says, err, out, copies)
		}
		if info, err := os.Stat(own); err != nil || !c.refused && info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s: others can still write to it: %v, %v", says, info.Mode(), err)
		}
		if c.refused && !strings.Contains(string(out), "could be changed by others") {
			t.Errorf("%s: %q", says, out)
		}
	}
}

// placeIn runs the script with a cache of its own.
func placeIn(cache, program string) (string, error) {
	sum := sha256.Sum256([]byte(program))
	cmd := exec.Command("sh", "-c", strings.Replace(placing, "SUM", hex.EncodeToString(sum[:]), 1))
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
	cmd.Stdin = strings.NewReader(program)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// A link on the way is not what is printed: who can change the link would choose the program.
func TestCopiesAreRunByTheWayThatWasLookedAt(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := func(elem ...string) string { return filepath.Join(append([]string{base}, elem...)...) }
	for _, name := range []string{"real", "open", "other"} {
		if err := os.Mkdir(dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("real", dir("link")), os.Symlink(dir("other"), dir("open", "plimsoll"))); err != nil {
		t.Fatal(err)
	}
	if out, err := placeIn(dir("link"), "a program"); err != nil ||
		!strings.HasPrefix(out, dir("real", "plimsoll")+"/fleet-") {
		t.Errorf("through the user's own link: %q, %v", out, err)
	}
	if out, err := placeIn(dir("open"), "a program"); err == nil || !strings.Contains(out, "could be changed by others") {
		t.Errorf("its own directory is a link: %q, %v", out, err)
	}
	if err := os.Chmod(dir("open"), 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := placeIn(dir("open"), "a program"); err == nil || !strings.Contains(out, "could be changed by others") {
		t.Errorf("a link in a directory of all: %q, %v", out, err)
	}
	if left, err := os.ReadDir(dir("other")); err != nil || len(left) > 0 {
		t.Errorf("behind the link: %v, %v", left, err)
	}
}

// A copy is gone once it has started; one that never did goes with the next that is put there.
func TestCopiesAreNotLeft(t *testing.T) {
	cache := t.TempDir()
	copies := func() []string {
		found, err := filepath.Glob(filepath.Join(cache, "plimsoll", "fleet-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	var placed []string
	for range 3 {
		name, err := placeIn(cache, "a program")
		if err != nil {
			t.Fatal(name, err)
		}
		placed = append(placed, name)
	}
	EndCopy(placed[0])
	long := time.Now().Add(-11 * time.Minute)
	if err := os.Chtimes(placed[1], long, long); err != nil {
		t.Fatal(err)
	}
	last, err := placeIn(cache, "a program")
	if err != nil {
		t.Fatal(last, err)
	}
	want := []string{filepath.Dir(placed[2]), filepath.Dir(last)}
	slices.Sort(want)
	if got := copies(); !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
	other := filepath.Join(cache, "plimsoll", "plimsoll")
	if err := os.WriteFile(other, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if EndCopy(other); !sys.Exists(other) {
		t.Error("a program that is no copy was removed")
	}
}
