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
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/postgres"
	"plimsoll/internal/sys/killat"
)

// TestKills kills plimsoll at random steps of its own, each in namespaces of its own, and looks for what is
// left after plimsoll clean: processes, files, segments, mounts. Then it resumes what was begun. Two
// here, and the other commands at their first step; make kills N=500 does more, LANES at a time. Nothing depends on how fast the machine is: a step may be
// in any phase, or behind the end.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes namespaces")
	}
	sh, err := filepath.Abs("testdata/kills.sh")
	if err != nil {
		t.Fatal(err)
	}
	n, lanes, seed := number(t, "KILLS", 2), number(t, "KILLS_LANES", 3), number(t, "KILLS_SEED", 1)
	// About how many steps each takes until it has ended; the files of a cluster, which are removed one by one at
	// the end of pg, are not counted in.
	steps := map[string]int{"run": 120, "sweep": 170, "ab": 290, "pg": 400, "fleet": 160}
	kinds := []string{"run", "pg", "sweep", "ab", "fleet"}
	u, err := postgres.UserFor("", "/")
	if err == nil {
		_, err = postgres.Find(t.Context(), u, "")
	}
	if err != nil {
		t.Log("NO POSTGRESQL: no run of it is killed")
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "pg" })
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	type kill struct{ kind, signal, step string }
	work := make(chan kill)
	var mu sync.Mutex
	counts := map[string]int{}
	var wg sync.WaitGroup
	for range lanes {
		wg.Go(func() {
			for k := range work {
				said, err := killOne(t, sh, k.kind, k.signal, k.step)
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
		work <- kill{kind, signal, strconv.Itoa(1 + r.IntN(steps[kind]))}
	}
	for _, kind := range kinds[min(n, len(kinds)):] { // so that a command of kills.sh which nobody can type any more is seen
		work <- kill{kind, "KILL", "1"}
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

func killOne(t *testing.T, sh, kind, signal, step string) (string, error) {
	t.Helper()
	dir, err := os.MkdirTemp(os.Getenv("KILLS_DIR"), "k") //nolint:usetesting // short, as the path of a socket must be
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the test's own
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--ipc", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child",
		"sh", sh, kind, signal, step)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err = cmd.Run(); ctx.Err() != nil {
		err = fmt.Errorf("%s %s %s did not end within 5 min", kind, signal, step)
	}
	return strings.TrimSpace(out.String()), err
}

// killAt is the command killat STEP SIGNAL FILE PROGRAM [ARGUMENT]..., which ends as the program does, with 137
// after a signal, and writes the number of steps that it took into the file.
func killAt(args []string) int {
	c := killat.Command{Out: os.Stdout, Err: os.Stderr}
	_, err := fmt.Sscan(args[0], &c.Step)
	c.Signal, c.Argv = unix.SignalNum("SIG"+args[1]), args[3:]
	taken, code := 0, 0
	if err == nil {
		taken, code, err = c.Run()
	}
	if err == nil {
		err = os.WriteFile(args[2], fmt.Appendln(nil, taken), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "killat:", err)
		return 125
	}
	if code < 0 {
		return 128 + int(unix.SIGKILL)
	}
	return code
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
