package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A disk that becomes read-only, and memory of a control group that runs out, at a random instant of a run: it says
// why it ends, what is left is removed once all works again, and the run is resumed or says why not. One of each here;
// FAULTS=20 tries twenty.
func TestFaultsOfARun(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root makes namespaces and mounts")
	}
	sh, err := filepath.Abs("testdata/faults.sh")
	if err != nil {
		t.Fatal(err)
	}
	n, seed := number(t, "FAULTS", 1), number(t, "FAULTS_SEED", 1)
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for _, kind := range []string{"data", "runs", "memory"} {
		counts := map[string]int{}
		for range n {
			at := 50 + r.IntN(6000)
			cmd := exec.CommandContext(t.Context(), "unshare", "--ipc", "--mount", "--pid", "--fork", "--mount-proc",
				"--kill-child",
				"sh", sh, kind, fmt.Sprint(at))
			cmd.Dir = t.TempDir()
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			said := strings.TrimSpace(out.String())
			switch {
			case strings.HasSuffix(said, ": no loop device"), strings.HasSuffix(said, ": no control group"),
				strings.HasSuffix(said, ": the filesystem cannot be made to fail"):
				t.Skipf("SKIPPED: %s", said)
			case err != nil:
				t.Errorf("%v: %s", err, said)
			default:
				t.Log(said)
			}
			counts[outcome(kind, said)]++
		}
		for what, n := range counts {
			t.Logf("%4d %s", n, what)
		}
	}
}
