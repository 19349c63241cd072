// Command mutants tries whether the tests of a package hold its values: it changes one place of the
// source at a time, runs those of the package's own tests that run the changed line, the fastest
// first, and prints the mutants that no test noticed.
//
//	go run ./scripts/mutants [-seed 1,2] [-n 100] [-list] PACKAGE-OR-FILE...
//
// A mutant is one of: a comparison moved to its neighbour or turned round, + and - or * and /
// swapped, one operand of a product, a sum or a condition dropped, min and max swapped, a rounding
// turned round, a constant plus one. They are drawn at random from all places of the packages, so
// that a share of survivors says something of every line and not of chosen ones. The source is
// never touched: go test reads the mutant through -overlay. The file equivalent.tsv beside this one
// lists mutants that cannot change any result, with the reason; they are left out and counted.
package main

import (
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
	"strconv"
	"strings"
	"time"
)

//go:embed equivalent.tsv
var equivalents string

func main() {
	seeds := flag.String("seed", "1", "draws the same mutants again; several with commas: one draw each")
	n := flag.Int("n", 100, "how many mutants are tried; 0: all")
	list := flag.Bool("list", false, "print the drawn mutants, try none")
	lanes := flag.Int("lanes", 2, "how many are tried at a time")
	match := flag.String("match", "", "only mutants whose line has this text")
	flag.Parse()
	if err := run(*seeds, *n, *lanes, *list, *match, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(seeds string, n, lanes int, list bool, match string, dirs []string) error {
	all, err := findIn(dirs)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.name(), match) })
	work, err := os.MkdirTemp("", "plimsoll-mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := bench{work: work, lanes: lanes, rooms: map[string]room{}}
	known := known(equivalents)
	for text := range strings.SplitSeq(seeds, ",") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("-seed %s: no number", text)
		}
		drawn := draw(all, seed, n)
		fmt.Printf("%d places, %d drawn by seed %d\n", len(all), len(drawn), seed)
		if list {
			for _, m := range drawn {
				fmt.Println(m.name())
			}
			continue
		}
		tried := slices.DeleteFunc(slices.Clone(drawn), func(m mutant) bool { return known[m.key()] })
		outcomes, err := b.tryAll(tried)
		if err != nil {
			return err
		}
		if err := summary(tried, outcomes, len(drawn)-len(tried)); err != nil {
			return err
		}
	}
	return nil
}

// findIn lists the mutants of packages and of single files.
func findIn(args []string) ([]mutant, error) {
	var dirs []string
	whole, single := map[string]bool{}, map[string]bool{}
	for _, arg := range args {
		arg = filepath.ToSlash(filepath.Clean(arg))
		dir := arg
		if strings.HasSuffix(arg, ".go") {
			single[arg], dir = true, filepath.Dir(arg)
		} else {
			whole[arg] = true
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	all, err := find(dirs)
	return slices.DeleteFunc(all, func(m mutant) bool { return !whole[m.dir] && !single[m.file] }), err
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

// bench tries mutants: it knows which tests run which line of the rooms that it has met.
type bench struct {
	work  string
	lanes int
	rooms map[string]room
}

func (b bench) tryAll(tried []mutant) ([]outcome, error) {
	for _, m := range tried {
		if _, ok := b.rooms[m.dir]; ok {
			continue
		}
		r, err := measure(b.work, m.dir, b.lanes)
		if err != nil {
			return nil, err
		}
		if len(r.not) > 0 {
			fmt.Printf("not counted in %s, since they fail or take over %v of CPU time: %s\n", m.dir, slowest,
				strings.Join(r.not, " "))
		}
		b.rooms[m.dir] = r
	}
	outcomes := make([]outcome, len(tried))
	inLanes(b.lanes, len(tried), func(lane, i int) {
		outcomes[i] = try(filepath.Join(b.work, fmt.Sprint(lane)), tried[i], b.rooms[tried[i].dir])
		if outcomes[i] == survived {
			fmt.Println("SURVIVED", tried[i].name())
		}
	})
	return outcomes, nil
}

// try runs the tests on one mutant that run its line.
func try(work string, m mutant, r room) outcome {
	overlay, err := m.overlay(work)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return refused
	}
	binary := filepath.Join(work, "mutant.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+m.dir)
	if build.Run() != nil {
		return refused
	}
	for _, batch := range r.batches(m) {
		limit := time.Minute // one that runs for ever is noticed
		names := make([]string, len(batch))
		for i, c := range batch {
			names[i] = c.name
			limit += 10 * c.took
		}
		if runTests(binary, m.dir, names, limit, limit) != nil {
			return killed
		}
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
