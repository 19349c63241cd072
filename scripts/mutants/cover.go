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

// room is a package's tests: which lines each of them runs, and for how long.
type room struct {
	tests  []covering // the fastest first
	lines  map[place]bool
	not    []string // tests that fail or take too long without any mutant
	binary string   // of the source as it stands
}

// covering is one test and the lines that it runs.
type covering struct {
	name  string
	took  time.Duration
	lines map[place]bool
}

// place is a line of a file of the package.
type place struct {
	file string // its base name
	line int
}

// measure runs each test of a package on its own, and notes what it runs.
func measure(work, dir string, lanes int) (room, error) {
	binary := filepath.Join(work, strings.ReplaceAll(dir, "/", ".")+".cover.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-cover", "-covermode=set", "-ldflags=-s -w", "-o", binary,
		"./"+dir)
	if out, err := build.CombinedOutput(); err != nil {
		return room{}, fmt.Errorf("%s: %w\n%s", dir, err, out)
	}
	list := exec.Command(binary, "-test.list", "^(Test|Fuzz|Example)")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return room{}, fmt.Errorf("%s: the tests cannot be listed: %w", dir, err)
	}
	names := strings.Fields(string(out))
	r := room{binary: binary, lines: map[place]bool{}}
	var mu sync.Mutex
	inLanes(lanes, len(names), func(lane, i int) {
		profile := filepath.Join(work, fmt.Sprintf("%d.cover", lane))
		from := time.Now()
		_, err := program{binary, dir, 0}.run([]covering{{name: names[i]}}, slowest, "-test.coverprofile="+profile)
		took := time.Since(from)
		var c covering
		if err == nil {
			c, err = covered(profile, r.lines, &mu)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			r.not = append(r.not, names[i])
			return
		}
		c.name, c.took = names[i], took
		r.tests = append(r.tests, c)
	})
	slices.SortFunc(r.tests, func(a, b covering) int { return int(a.took - b.took) })
	slices.Sort(r.not)
	return r, nil
}

// block is a line of a profile: file:line.column,line.column statements count.
var block = regexp.MustCompile(`([^/]+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// covered reads a profile; it adds all lines that hold statements to known.
func covered(profile string, known map[place]bool, mu *sync.Mutex) (covering, error) {
	f, err := os.Open(profile)
	if err != nil {
		return covering{}, err
	}
	defer func() { _ = f.Close() }()
	c := covering{lines: map[place]bool{}}
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
				c.lines[place{m[1], line}] = true
			}
		}
	}
	return c, in.Err()
}

// batches are the tests that run a mutant's line: the fast ones together, then the others one by
// one. A line without statements of its own, such as a table's, may be read by any test.
func (r room) batches(m mutant) [][]covering {
	at := place{filepath.Base(m.file), m.runs}
	var found [][]covering
	var fast []covering
	var together time.Duration
	for _, c := range r.tests {
		if r.lines[at] && !c.lines[at] {
			continue
		}
		if together += c.took; together < 3*time.Second {
			fast = append(fast, c)
			continue
		}
		found = append(found, []covering{c})
	}
	if len(fast) > 0 {
		found = slices.Insert(found, 0, fast)
	}
	return found
}

// program is a package's compiled tests, with the mutant of that number.
type program struct {
	binary, dir string
	number      int
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
	// A mutant that fills the memory is ended, not the machine.
	limits := fmt.Sprintf(`ulimit -v 12000000 -t %d; exec "$@"`, int(cpu.Seconds()))
	args := append([]string{
		"-c", limits, "bash", p.binary, "-test.failfast",
		"-test.run=^(" + strings.Join(names, "|") + ")$",
	}, more...)
	test := exec.CommandContext(ctx, "bash", args...)
	test.Dir = p.dir
	test.Env = append(os.Environ(), "PLIMSOLL_LAB=off", "RAPID_NOFAILFILE=true", fmt.Sprintf("%s=%d", chooses, p.number))
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
