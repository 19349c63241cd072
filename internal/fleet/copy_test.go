package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// On a host a copy is put, and started by its name, only where nobody but its user and root can change the way to it.
func TestCopiesLieWhereNobodyElseCanChangeThem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to somebody else")
	}
	const program = "a program"
	sum := sha256.Sum256([]byte(program))
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
		cmd := exec.Command("sh", "-c", strings.Replace(placing, "SUM", hex.EncodeToString(sum[:]), 1))
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
		cmd.Stdin = strings.NewReader(program)
		out, err := cmd.CombinedOutput()
		copies, globErr := filepath.Glob(own + "/fleet-*/plimsoll")
		if globErr != nil || (err != nil) != c.refused || (len(copies) == 0) != c.refused {
			t.Errorf("%s: %v, %q, copies %q", says, err, out, copies)
		}
		if c.refused && !strings.Contains(string(out), "could be changed by others") {
			t.Errorf("%s: %q", says, out)
		}
	}
}
