package fio

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/units"
)

// spellings are numbers with suffixes, alone, in lists and in ranges, with separators between, before and
// behind them.
func spellings() []string {
	var one, all []string
	for _, number := range []string{"4", "08", "16", "+8", "0x10", "3000"} {
		for _, suffix := range []string{"k", "", "K", "kb", "KiB", "ki", "m", "MB", "b", "kk", "kilo", "x", ".5k", " k", "e1", "_0"} {
			one = append(one, number+suffix)
		}
	}
	all = append(all, one...)
	for i, a := range one {
		b := one[(i*7+5)%len(one)]
		for _, sep := range []string{"-", ":", ","} {
			all = append(all, a+sep, sep+a, a+sep+b, a+sep+sep+b, a+sep+b+sep)
			for _, other := range []string{"-", ":", ","} {
				all = append(all, a+sep+b+other+"32k", a+sep+other+b)
			}
		}
	}
	return all
}

// headed are the block sizes that fio prints of a job when it has read it: read, write and trim, least and most.
var headed = regexp.MustCompile(`(?m)^s(\d+): .*bs=\(R\) (\S+)-(\S+), \(W\) (\S+)-(\S+), \(T\) (\S+)-(\S+), ioengine`)

// headers gives fio many jobs of one option in files of some hundred, and gives what it prints of each. The last
// job is refused for what only a run looks at, so fio has read all others and runs none.
func headers(t *testing.T, option string, values []string) map[string][]string {
	t.Helper()
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NOT TESTED: fio is not installed")
	}
	got := map[string][]string{}
	name := filepath.Join(t.TempDir(), "x.fio")
	for from := 0; from < len(values); from += 400 {
		some := values[from:min(from+400, len(values))]
		var text strings.Builder
		for i, v := range some {
			fmt.Fprintf(&text, "[s%d]\nioengine=null\nsize=1t\n%s=%s\n", i, option, v)
		}
		text.WriteString("[end]\nsize=1m\nzonemode=strided\n")
		if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.CommandContext(t.Context(), "fio", name).Output()
		all := headed.FindAllStringSubmatch(string(out), -1)
		if len(all) != len(some) {
			t.Fatalf("fio read %d of %d jobs: %s", len(all), len(some), out[max(len(out)-300, 0):])
		}
		for _, m := range all {
			i, _ := strconv.Atoi(m[1])
			got[some[i]] = m[2:]
		}
	}
	return got
}

// printedSize is a size as fio's header has it: three digits of a binary unit.
func printedSize(b units.Bytes) string {
	if b < 10000 {
		return fmt.Sprintf("%dB", b)
	}
	v, unit := float64(b), ""
	for _, unit = range []string{"KiB", "MiB", "GiB"} {
		if v /= 1024; v < 10000 {
			break
		}
	}
	if v < 100 {
		return fmt.Sprintf("%.1f", v) + unit
	}
	return fmt.Sprintf("%.0f", v) + unit
}

// blocksOf are the sizes that a job reads and writes, or why they are not known.
func blocksOf(option, value string) (read, write Sizes, err error) {
	at := func(rw string) (Workload, error) {
		return WorkloadOf("a", Section{Options: []Option{{Name: "rw", Value: rw}, {Name: option, Value: value}}})
	}
	r, err := at("read")
	if err != nil {
		return nil, nil, err
	}
	w, err := at("write")
	return append(r.ReadSizes, SizeShare{Size: r.ReadBS}), append(w.WriteSizes, SizeShare{Size: w.WriteBS}), err
}

var saysNumber = regexp.MustCompile(`fio reads the number (\d+) and ignores`)

// Each spelling that is read here is read as fio 3.33 reads it, and of one that is not, fio reads the number
// that the error says, in one of its places.
func TestSpellingsAgainstTheInstalledFio(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	values := spellings()
	got := headers(t, "bs", values)
	read := 0
	for _, v := range values {
		fio := got[v]
		r, w, err := blocksOf("bs", v)
		if err != nil {
			m := saysNumber.FindStringSubmatch(err.Error())
			if strings.Contains(err.Error(), "is negative") && slices.Contains(fio, "16.0EiB") {
				continue
			}
			if m == nil {
				t.Errorf("bs=%s: %v; fio reads %s", v, err, fio)
				continue
			}
			n, _ := strconv.ParseUint(m[1], 10, 64)
			if !slices.Contains(fio, printedSize(units.Bytes(n))) {
				t.Errorf("bs=%s: %v; fio reads %s", v, err, fio)
			}
			continue
		}
		read++
		if printedSize(r[0].Size) != fio[0] || printedSize(w[0].Size) != fio[2] {
			t.Errorf("bs=%s: %s and %s; fio reads %s", v, printedSize(r[0].Size), printedSize(w[0].Size), fio)
		}
	}
	t.Logf("%d of %d spellings are read", read, len(values))
	if read < 500 {
		t.Error("want 500 at least")
	}
}

// Ranges that are read here are those that fio 3.33 reads.
func TestRangesAgainstTheInstalledFio(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	var values []string
	for _, low := range []string{"4k", "8k", "16", "+8k", "0x10", "3000", "64KiB"} {
		for _, high := range []string{"4k", "64k", "64", "8K", "1m", "0x2000", ""} {
			for _, sep := range []string{"-", ":", "--", ",", "-,"} {
				v := low + sep + high
				values = append(values, v, v+",", ","+v, v+",4k-32k", v+"-", v+":2m", v+"-2m")
			}
		}
	}
	// ends are what is printed of a value: its ranges for read and write, which a last one stands for all behind it.
	ends := func(v string) ([]string, bool) {
		r := newOptionReader(Section{})
		var all []string
		for part := range strings.SplitSeq(v, ",") {
			least, most, err := units.Bytes(defaultBS), units.Bytes(defaultBS), error(nil)
			if part != "" {
				least, most, err = r.rangeEnds(part)
			}
			if err != nil {
				return nil, false
			}
			all = append(all, printedSize(least), printedSize(most))
		}
		return append(all, all...)[:4], true
	}
	// What is refused here is not asked: fio reads no further than the first that it refuses itself.
	taken := slices.DeleteFunc(values, func(v string) bool {
		_, ok := ends(v)
		return !ok
	})
	got := headers(t, "bsrange", taken)
	for _, v := range taken {
		if want, _ := ends(v); !slices.Equal(got[v][:4], want) {
			t.Errorf("bsrange=%s: %s; fio reads %s", v, want, got[v])
		}
	}
	t.Logf("%d of %d ranges are read", len(taken), len(values))
	if len(taken) < 300 {
		t.Error("want 300 at least")
	}
}
