// Command mutants tries whether the tests of a package hold its values: it changes one place of the
// source at a time, runs those of the package's own tests that run the changed line, the fastest
// first, and prints the mutants that no test noticed. Some packages are tried by the tests of another
// one too: cases of all rules of diagnose stand in diagnose/rules.
//
//	go run ./scripts/mutants [-seed 1,2] [-n 100] [-list] [-v] [-short] PACKAGE-OR-FILE...
//
// A mutant is one of: a comparison moved to its neighbour or turned round, + and - or * and /
// swapped, one operand of a product, a sum or a condition dropped, min and max swapped, a rounding
// turned round, a constant plus one. They are drawn at random from all places of the packages, so
// that a share of survivors says something of every line and not of chosen ones. Three things are
// not changed, since nothing reads them: a literal 0 or -1 beside an error or a plain false, the
// base and the bits of strconv's functions, and the sign of math.Inf.
//
// A mutant counts as noticed when a test fails with it, fails again with it, and then passes without
// it. The source is never touched: go test reads it through -overlay. The file equivalent.tsv beside this
// one lists mutants that cannot change any result, with the reason; they are left out and counted.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed equivalent.tsv
var equivalents string

func main() {
	var o options
	seeds := flag.String("seed", "1", "draws the same mutants again; several with commas: one draw each")
	flag.IntVar(&o.n, "n", 100, "how many mutants are tried; 0: all")
	flag.BoolVar(&o.list, "list", false, "print the drawn mutants, try none")
	flag.IntVar(&o.lanes, "lanes", 2, "how many are tried at a time")
	flag.StringVar(&o.match, "match", "", "only mutants whose line has this text")
	flag.BoolVar(&o.short, "short", false, "the short form of the tests alone: what they notice, all of them notice")
	flag.BoolVar(&o.verbose, "v", false, "print also which test noticed each mutant")
	flag.Parse()
	if err := run(strings.Split(*seeds, ","), o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// options are the flags but the seeds.
type options struct {
	n, lanes      int
	match         string
	list, verbose bool
	short         bool
}

func run(seeds []string, o options, dirs []string) error {
	all, err := findIn(dirs)
	if err != nil {
		return err
	}
	known, err := known(equivalents, all)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.name(), o.match) })
	work, err := os.MkdirTemp("", "plimsoll-mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	b := bench{work: work, options: o, rooms: map[string]room{}}
	for _, text := range seeds {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("-seed %s: no number", text)
		}
		drawn := draw(all, seed, o.n)
		fmt.Printf("%d places, %d drawn by seed %d\n", len(all), len(drawn), seed)
		if o.list {
			for _, m := range drawn {
				fmt.Println(m.name())
			}
			continue
		}
		tried := slices.DeleteFunc(slices.Clone(drawn), func(m mutant) bool { return known[m.key()] })
		count, err := b.tryAll(tried)
		if err != nil {
			return err
		}
		if err := count.print(len(drawn) - len(tried)); err != nil {
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

// known reads equivalent.tsv: file, line's text and change, then the reason. A row of a file that is
// looked at must fit one mutant: with several, one that can be noticed would be left out with it.
func known(text string, all []mutant) (map[string]bool, error) {
	fit, files := map[string]int{}, map[string]bool{}
	for _, m := range all {
		fit[m.key()]++
		files[m.file] = true
	}
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 4 || strings.HasPrefix(line, "#") {
			continue
		}
		key := strings.Join(f[:3], "\t")
		if files[f[0]] && fit[key] != 1 {
			return nil, fmt.Errorf("equivalent.tsv: %d mutants fit, want 1: %s", fit[key], key)
		}
		found[key] = true
	}
	return found, nil
}
