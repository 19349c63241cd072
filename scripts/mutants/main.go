// Command mutants tries whether the tests of a package hold its values: it changes one place of the
// source at a time, runs that package's own tests on the changed source, and prints the mutants
// that no test noticed.
//
//	go run ./scripts/mutants [-seed 1] [-n 100] [-list] PACKAGE...
//
// A mutant is one of: a comparison moved to its neighbour or turned round, + and - or * and /
// swapped, one operand of a product, a sum or a condition dropped, min and max swapped, a rounding
// turned round, a constant plus one. They are drawn at random from all places of the packages, so
// that a share of survivors says something of every line and not of chosen ones. The source is
// never touched: go test reads the mutant through -overlay. The file equivalent.tsv beside this one
// lists mutants that cannot change any result, with the reason; they are left out and counted.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed equivalent.tsv
var equivalents string

// limit ends the tests of one mutant: one that runs for ever is noticed.
const limit = 4 * time.Minute

func main() {
	seed := flag.Uint64("seed", 1, "draws the same mutants again")
	n := flag.Int("n", 100, "how many mutants are tried; 0: all")
	list := flag.Bool("list", false, "print the drawn mutants, try none")
	lanes := flag.Int("lanes", 2, "how many are tried at a time")
	match := flag.String("match", "", "only mutants whose line has this text")
	flag.Parse()
	if err := run(*seed, *n, *lanes, *list, *match, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(seed uint64, n, lanes int, list bool, match string, dirs []string) error {
	all, err := find(dirs)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.name(), match) })
	drawn := draw(all, seed, n)
	fmt.Printf("%d places in %d packages, %d drawn by seed %d\n", len(all), len(dirs), len(drawn), seed)
	if list {
		for _, m := range drawn {
			fmt.Println(m.name())
		}
		return nil
	}
	known := known(equivalents)
	var tried []mutant
	left := 0
	for _, m := range drawn {
		if known[m.key()] {
			left++
			continue
		}
		tried = append(tried, m)
	}
	work, err := os.MkdirTemp("", "plimsoll-mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	outcomes := tryAll(work, tried, lanes)
	return summary(tried, outcomes, left)
}

// draw returns n of the mutants in random order, the same ones for the same seed.
func draw(all []mutant, seed uint64, n int) []mutant {
	drawn := slices.Clone(all)
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	if n > 0 && n < len(drawn) {
		drawn = drawn[:n]
	}
	return drawn
}

// known reads equivalent.tsv: file, line's text and change, then the reason.
func known(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		if f := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(f) == 4 && !strings.HasPrefix(line, "#") {
			found[strings.Join(f[:3], "\t")] = true
		}
	}
	return found
}

// outcome is what became of a mutant.
type outcome int

const (
	killed outcome = iota
	survived
	refused // the compiler does not take it: no mutant
)

func tryAll(work string, tried []mutant, lanes int) []outcome {
	outcomes := make([]outcome, len(tried))
	next := make(chan int)
	var wait sync.WaitGroup
	for lane := range max(lanes, 1) {
		wait.Go(func() {
			for i := range next {
				outcomes[i] = try(filepath.Join(work, fmt.Sprint(lane)), tried[i])
				if outcomes[i] == survived {
					fmt.Println("SURVIVED", tried[i].name())
				}
			}
		})
	}
	for i := range tried {
		next <- i
	}
	close(next)
	wait.Wait()
	return outcomes
}

// try runs the package's tests on one mutant.
func try(work string, m mutant) outcome {
	overlay, err := m.overlay(work)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return refused
	}
	binary := filepath.Join(work, "mutant.test")
	var out bytes.Buffer
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+m.dir)
	build.Stdout, build.Stderr = &out, &out
	if build.Run() != nil {
		return refused
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	test := exec.CommandContext(ctx, binary, "-test.failfast", "-test.timeout="+limit.String())
	test.Dir = m.dir
	test.Env = append(os.Environ(), "PLIMSOLL_LAB=off")
	test.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	test.Cancel = func() error { return syscall.Kill(-test.Process.Pid, syscall.SIGKILL) }
	test.WaitDelay = time.Second
	if err := test.Run(); err != nil {
		return killed
	}
	return survived
}

func summary(tried []mutant, outcomes []outcome, left int) error {
	count := map[outcome]int{}
	per := map[string][2]int{}
	for i, m := range tried {
		count[outcomes[i]]++
		c := per[m.dir]
		switch outcomes[i] {
		case killed:
			c[0]++
			c[1]++
		case survived:
			c[1]++
		case refused:
		}
		per[m.dir] = c
	}
	dirs := make([]string, 0, len(per))
	for dir := range per {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		fmt.Printf("%4d of %4d killed in %s\n", per[dir][0], per[dir][1], dir)
	}
	total := count[killed] + count[survived]
	if total == 0 {
		return errors.New("no mutant compiled")
	}
	fmt.Printf("killed %d of %d, %.1f %%; %d not compiled; %d left out as equivalent\n",
		count[killed], total, 100*float64(count[killed])/float64(total), count[refused], left)
	return nil
}

// overlay writes the changed file and go's description of it, and returns the latter's path.
func (m mutant) overlay(work string) (string, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	src, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(work, "mutant.go")
	text := string(src[:m.from]) + m.to + string(src[m.end:])
	if err := os.WriteFile(changed, []byte(text), 0o644); err != nil {
		return "", err
	}
	abs, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {abs: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(work, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}
