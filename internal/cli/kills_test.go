package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/postgres"
)

// TestKills kills plimsoll at random instants, each in namespaces of its own, and looks for what is
// left after plimsoll clean: processes, files, segments, mounts. Then it resumes what was begun. A dozen
// here; make kills N=500 does more, LANES at a time. Nothing depends on how fast the machine is: an instant may
// be in any phase, or behind the end.
func TestKills(t *testing.T) {
	if os.Getenv("KILLS") == "" {
		t.Skip("SKIPPED: make kills kills runs at random instants, which takes 6 s each")
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes namespaces")
	}
	sh, err := filepath.Abs("testdata/kills.sh")
	if err != nil {
		t.Fatal(err)
	}
	n, lanes, seed := number(t, "KILLS", 12), number(t, "KILLS_LANES", 3), number(t, "KILLS_SEED", 1)
	longest := map[string]float64{"run": 4, "sweep": 5, "ab": 6, "pg": 7, "fleet": 5} // seconds, roughly of the whole
	kinds := []string{"run", "sweep", "ab", "fleet"}
	if u, err := postgres.UserFor("", "/"); err == nil {
		if _, err = postgres.Find(t.Context(), u, ""); err == nil {
			kinds = append(kinds, "pg")
		}
	}
	if len(kinds) < 5 {
		t.Log("NO POSTGRESQL: no run of it is killed")
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	type kill struct{ kind, signal, seconds string }
	work := make(chan kill)
	var mu sync.Mutex
	counts := map[string]int{}
	var wg sync.WaitGroup
	for range lanes {
		wg.Go(func() {
			for k := range work {
				said, err := killOne(t, sh, k.kind, k.signal, k.seconds)
				mu.Lock()
				counts[outcome(k.kind, said)]++
				mu.Unlock()
				if err != nil {
					t.Errorf("%v: %s", err, said)
				} else {
					t.Log(said)
				}
			}
		})
	}
	for i := range n {
		kind := kinds[i%len(kinds)]
		signal := "KILL"
		if roll := r.IntN(10); roll >= 7 {
			signal = []string{"TERM", "INT", "TERM"}[roll-7]
		}
		work <- kill{kind, signal, fmt.Sprintf("%.2f", r.Float64()*longest[kind])}
	}
	close(work)
	wg.Wait()
	for _, what := range slices.Sorted(func(yield func(string) bool) {
		for k := range counts {
			if !yield(k) {
				return
			}
		}
	}) {
		t.Logf("%4d %s", counts[what], what)
	}
}

var figures = regexp.MustCompile(`runs/\S+|[0-9.]+`)

// outcome is what kills have in common, for the summary.
func outcome(kind, said string) string {
	_, said, _ = strings.Cut(said, ": ")
	return kind + ": " + figures.ReplaceAllString(strings.TrimSpace(said), "#")
}

func killOne(t *testing.T, sh, kind, signal, seconds string) (string, error) {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv("KILLS_DIR"), "k") //nolint:usetesting // short, as the path of a socket must be
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the test's own
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "unshare", "--ipc", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child",
		"sh", sh, kind, signal, seconds)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return strings.TrimSpace(out.String()), err
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: want a number", name, text)
	}
	return n
}
