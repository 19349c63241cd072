package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// outcome is what became of a mutant.
type outcome int

const (
	killed outcome = iota
	survived
	refused // the compiler does not take it: no mutant
)

// bench tries mutants: it knows which tests run which line of the rooms that it has met.
type bench struct {
	options
	work  string
	rooms map[string]room
}

// counts are the outcomes of each room.
type counts map[string]map[outcome]int

// tryAll tries mutants, one room after another.
func (b bench) tryAll(tried []mutant) (counts, error) {
	of := map[string][]mutant{}
	for _, m := range tried {
		of[m.dir] = append(of[m.dir], m)
	}
	count := counts{}
	for _, dir := range sorted(of) {
		r, err := b.room(dir)
		if err != nil {
			return nil, err
		}
		outcomes := make([]outcome, len(of[dir]))
		inLanes(b.lanes, len(outcomes), func(lane, i int) {
			outcomes[i] = b.try(filepath.Join(b.work, fmt.Sprint(lane)), of[dir][i], r)
		})
		count[dir] = map[outcome]int{}
		for _, o := range outcomes {
			count[dir][o]++
		}
		fmt.Printf("%4d of %4d killed in %s\n", count[dir][killed], count[dir][killed]+count[dir][survived], dir)
	}
	return count, nil
}

// room measures the tests of a package once.
func (b bench) room(dir string) (room, error) {
	if r, ok := b.rooms[dir]; ok {
		return r, nil
	}
	r, err := measure(b.work, dir, b.options)
	if err != nil {
		return room{}, err
	}
	if len(r.not) > 0 {
		fmt.Printf("not counted in %s, since they fail or take over %v of CPU time: %s\n", dir, slowest,
			strings.Join(r.not, " "))
	}
	b.rooms[dir] = r
	return r, nil
}

// try runs the tests on one mutant that run its line.
func (b bench) try(work string, m mutant, r room) outcome {
	binaries := map[string]string{} // with the mutant, by the tests' directory
	built := func(tests string) (refusal string) {
		if binaries[tests] != "" {
			return ""
		}
		binaries[tests] = filepath.Join(work, strings.ReplaceAll(tests, "/", ".")+".mutant.test")
		if refusal = m.build(binaries[tests], tests, work); refusal != "" {
			b.say("REFUSED", m.name(), refusal)
		}
		return refusal
	}
	batches := r.batches(m)
	if len(batches) == 0 && built(sorted(r.binaries)[0]) != "" { // no test runs it, and it may be none
		return refused
	}
	for _, batch := range batches {
		tests := batch[0].dir
		if built(tests) != "" {
			return refused
		}
		with, without := program{binaries[tests], tests, b.short}, program{r.binaries[tests], tests, b.short}
		if by := b.notice(with, without, batch, m.name()); by != "" {
			b.say("killed", m.name(), by)
			return killed
		}
	}
	fmt.Println("SURVIVED", m.name())
	return survived
}

// build builds the tests of a directory with the mutant, and returns why the compiler does not take it.
func (m mutant) build(binary, tests, work string) string {
	src, err := os.ReadFile(m.file)
	if err != nil {
		return err.Error()
	}
	if out, err := build(binary, tests, work, m.file, string(src[:m.from])+m.to+string(src[m.end:])); err != nil {
		return firstError(out)
	}
	return ""
}

// build compiles the tests of a directory with one file changed, whose text lies in work meanwhile.
func build(binary, tests, work, file, text string) ([]byte, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	changed, overlay := filepath.Join(work, filepath.Base(file)), filepath.Join(work, "overlay.json")
	data, err := json.Marshal(map[string]map[string]string{"Replace": {abs: changed}})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(changed, []byte(text), 0o644), os.WriteFile(overlay, data, 0o644)); err != nil {
		return nil, err
	}
	return exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary,
		"./"+tests).CombinedOutput()
}

// notice returns the test of a batch that notices a mutant: it fails with it, fails again with it,
// and then passes without it. A test that does not is no witness: it may have failed because the
// machine was busy, or by a die that falls otherwise tomorrow.
func (b bench) notice(with, without program, batch []covering, name string) string {
	for len(batch) > 0 {
		failed, err := with.run(batch, limitOf(batch))
		if err == nil {
			return ""
		}
		witness := batch // where no test says that it failed
		if len(failed) > 0 {
			witness = slices.DeleteFunc(slices.Clone(batch), func(c covering) bool { return c.name != failed[0] })
		}
		limit := limitOf(witness)
		again := err
		if !errors.Is(err, errTime) {
			_, again = with.run(witness, limit)
		}
		_, plain := without.run(witness, limit)
		if again != nil && plain == nil {
			return witness[0].name
		}
		fmt.Printf("not a witness: %s of %s\n", witness[0].name, name)
		batch = slices.DeleteFunc(slices.Clone(batch), func(c covering) bool {
			return slices.ContainsFunc(witness, func(w covering) bool { return w.name == c.name })
		})
	}
	return ""
}

// limitOf is the CPU time that tests may take with a mutant: one that computes for ever is noticed.
func limitOf(batch []covering) time.Duration {
	limit := 20 * time.Second
	for _, c := range batch {
		limit += 10 * c.took
	}
	return limit
}

// say prints what became of a mutant where that is asked for.
func (b bench) say(what, name, why string) {
	if b.verbose {
		fmt.Printf("%s %s: %s\n", what, name, why)
	}
}

// firstError is the first line of the compiler's that is not the name of a package.
func firstError(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// print prints the sum of all rooms.
func (c counts) print(left int) error {
	sum := map[outcome]int{}
	for _, room := range c {
		for o, n := range room {
			sum[o] += n
		}
	}
	total := sum[killed] + sum[survived]
	if total == 0 {
		return errors.New("no mutant compiled")
	}
	fmt.Printf("killed %d of %d, %.1f %%; %d not compiled; %d left out as equivalent\n",
		sum[killed], total, 100*float64(sum[killed])/float64(total), sum[refused], left)
	return nil
}
