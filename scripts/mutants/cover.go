package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// slowest is the CPU time that one test may take to count: what takes more simulates or measures, and
// a value should not need it. Waiting is not counted, but for patience, which ends what hangs.
const (
	slowest  = time.Minute
	patience = 10 * time.Minute
)

// beside names the packages whose tests try a package besides its own: cases of all rules stand in one
// place, documents are read for lint's sake, and what fio prints is read as text and as documents.
func beside(dir string) []string {
	switch {
	case dir == "internal/diagnose/rules":
		return []string{dir}
	case dir == "internal/diagnose" || strings.HasPrefix(dir, "internal/diagnose/"):
		return []string{dir, "internal/diagnose/rules"}
	case dir == "internal/script":
		return []string{dir, "internal/lint"}
	case dir == "internal/fio/text":
		return []string{dir, "internal/fio/output"}
	}
	return []string{dir}
}

// room is the tests of a package: which lines each of them runs, and for how long.
type room struct {
	tests    []covering // the fastest first
	lines    map[place]bool
	not      []string          // tests that fail or take too long without any mutant
	binaries map[string]string // of the source as it stands, by the tests' directory
}

// covering is one test and the lines that it runs.
type covering struct {
	dir   string
	name  string
	took  time.Duration
	lines map[place]bool
}

// place is a line of a file of the package.
type place struct {
	file string // its base name
	line int
}

// measure runs each test of a package on its own, and of those beside it, and notes what it runs.
func measure(work, dir string, o options) (room, error) {
	r := room{lines: map[place]bool{}, binaries: map[string]string{}}
	for _, tests := range beside(dir) {
		if err := r.measure(work, dir, tests, o); err != nil {
			return room{}, err
		}
	}
	slices.SortFunc(r.tests, func(a, b covering) int { return int(a.took - b.took) })
	slices.Sort(r.not)
	return r, nil
}

// measure adds the tests of one directory that run lines of another, or of the same.
func (r *room) measure(work, dir, tests string, o options) error {
	binary := filepath.Join(work, strings.ReplaceAll(dir+"."+tests, "/", ".")+".cover.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-cover", "-covermode=set", "-coverpkg=./"+dir,
		"-ldflags=-s -w", "-o", binary, "./"+tests)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", tests, err, out)
	}
	if _, err := os.Stat(binary); err != nil {
		return nil // a package without tests of its own
	}
	r.binaries[tests] = binary
	list := exec.Command(binary, "-test.list", "^(Test|Fuzz|Example)")
	list.Dir = tests
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("%s: the tests cannot be listed: %w", tests, err)
	}
	names := strings.Fields(string(out))
	var mu sync.Mutex
	inLanes(o.lanes, len(names), func(lane, i int) {
		profile := filepath.Join(work, fmt.Sprintf("%d.cover", lane))
		from := time.Now()
		_, err := program{binary, tests, o.short}.run([]covering{{name: names[i]}}, slowest, "-test.coverprofile="+profile)
		c := covering{dir: tests, name: names[i], took: time.Since(from)}
		if err == nil {
			c.lines, err = covered(profile, r.lines, &mu)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			r.not = append(r.not, names[i])
		case len(c.lines) > 0 || tests == dir:
			r.tests = append(r.tests, c)
		}
	})
	return nil
}

// block is a line of a profile: file:line.column,line.column statements count.
var block = regexp.MustCompile(`([^/]+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// covered reads a profile; it adds all lines that hold statements to known.
func covered(profile string, known map[place]bool, mu *sync.Mutex) (map[place]bool, error) {
	f, err := os.Open(profile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	ran := map[place]bool{}
	mu.Lock()
	defer mu.Unlock()
	in := bufio.NewScanner(f)
	for in.Scan() {
		m := block.FindStringSubmatch(in.Text())
		if m == nil {
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for line := from; line <= to; line++ {
			known[place{m[1], line}] = true
			if m[4] != "0" {
				ran[place{m[1], line}] = true
			}
		}
	}
	return ran, in.Err()
}

// batches are the tests that run a mutant's line: the fast ones of a directory together, then the
// others one by one. A line without statements of its own, such as a table's, may be read by any test.
func (r room) batches(m mutant) [][]covering {
	at := place{filepath.Base(m.file), m.runs}
	var found [][]covering
	fast, together := map[string][]covering{}, map[string]time.Duration{}
	for _, c := range r.tests {
		if r.lines[at] && !c.lines[at] {
			continue
		}
		if together[c.dir] += c.took; together[c.dir] < 3*time.Second {
			fast[c.dir] = append(fast[c.dir], c)
			continue
		}
		found = append(found, []covering{c})
	}
	var first [][]covering
	for _, dir := range sorted(fast) {
		first = append(first, fast[dir])
	}
	return slices.Concat(first, found)
}

// program is a package's compiled tests.
type program struct {
	binary, dir string
	short       bool // the tests' short form
}

// errTime says that tests took more time than they may.
var errTime = errors.New("took too long")

// failing finds the tests that a binary says have failed.
var failing = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// run runs some tests within so much CPU time, and ends with all processes that they started. It
// returns which failed, as far as they say so.
func (p program) run(tests []covering, cpu time.Duration, more ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	names := make([]string, len(tests))
	for i, c := range tests {
		names[i] = c.name
	}
	// A mutant that fills the memory is ended, not the machine; and one that writes elsewhere does not write
	// into the sources, where this user may mount them read-only.
	limits := fmt.Sprintf(`here=$PWD top=$(git rev-parse --show-toplevel)
mount --bind "$top" "$top" 2>/dev/null && mount -o remount,bind,ro "$top" && cd "$here"
ulimit -v 12000000 -t %d; exec "$@"`, int(cpu.Seconds()))
	args := append([]string{
		"-c", limits, "bash", p.binary, "-test.failfast", fmt.Sprintf("-test.short=%t", p.short),
		"-test.run=^(" + strings.Join(names, "|") + ")$",
	}, more...)
	test := exec.CommandContext(ctx, "bash", args...)
	if os.Getuid() == 0 {
		test = exec.CommandContext(ctx, "unshare", append([]string{"--mount", "bash"}, args...)...)
	}
	test.Dir = p.dir
	test.Env = append(os.Environ(), "PLIMSOLL_LAB=off", "RAPID_NOFAILFILE=true")
	test.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	test.Cancel = func() error { return syscall.Kill(-test.Process.Pid, syscall.SIGKILL) }
	test.WaitDelay = time.Second
	out, err := test.CombinedOutput()
	var failed []string
	for _, m := range failing.FindAllSubmatch(out, -1) {
		failed = append(failed, string(m[1]))
	}
	if test.ProcessState == nil { // it did not start
		return nil, err
	}
	status, _ := test.ProcessState.Sys().(syscall.WaitStatus)
	ended := status.Signaled() && (status.Signal() == syscall.SIGKILL || status.Signal() == syscall.SIGXCPU)
	if ctx.Err() != nil || ended {
		return failed, errTime
	}
	return failed, err
}

// sorted are the keys of a map, in order.
func sorted[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// inLanes calls work for each index, on so many goroutines.
func inLanes(lanes, n int, work func(lane, i int)) {
	next := make(chan int)
	var wait sync.WaitGroup
	for lane := range max(lanes, 1) {
		wait.Go(func() {
			for i := range next {
				work(lane, i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}
