package runs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// An import says on which days its results were measured, a run of its own only when it began.
func TestDaysOfAnImport(t *testing.T) {
	const seeds = "../../../testdata/seeds/"
	b := imported(t, seeds+"ebs-across-instances.md", seeds+"workload-to-jobfile.md")
	for _, c := range []struct {
		step int
		want string
	}{{0, "measured 2026-03-02, "}, {1, "measured 2026-03-02 to 2026-03-0"}} {
		for i := range b.Scenarios {
			b.Scenarios[i].Result.Start = time.Date(2026, 3, 2+c.step*i, 9, 0, 0, 0, time.UTC)
		}
		if got := Run(b).Head.About; !strings.Contains(got, c.want) {
			t.Errorf("%s: want %s", got, c.want)
		}
	}
	b.Run.Imported = nil
	if got := Run(b).Head.About; strings.Contains(got, "measured") {
		t.Error(got)
	}
}

// TestLibrarySaysOfWhichFile: of results of several files a row says where it was read and what its verdict is, and a
// file how many of its results have the worst one.
func TestLibrarySaysOfWhichFile(t *testing.T) {
	dir := t.TempDir()
	ioping := func(fs string) string {
		return "4 KiB <<< . (" + fs + " 6.18 GiB): request=1 time=312 us\n--- . (" + fs + " 6.18 GiB) ioping statistics ---\n" +
			"9.6 k requests completed in 3.00 s, 3.2 k iops, 12.5 MiB/s\nmin/avg/max/mdev = 280 us / 312 us / 344 us / 19 us\n"
	}
	memory, disk := ioping("tmpfs tmpfs"), ioping("ext4 /dev/sda")
	for name, s := range map[string]string{"acme/a.txt": memory + "\n" + disk, "borealis/b.txt": disk} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(dir, "acme/a.txt"), filepath.Join(dir, "borealis/b.txt")
	library := imported(t, a, b)
	if got, want := Run(library).Head.Word,
		"2 files, 3 results: 1 INVALID, 1 MEASURED"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	var out strings.Builder
	if err := page.Write(&out, page.Text, Run(library), page.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(out.String()), " "),
		"INVALID 1 of 2 acme/a.txt 312 µs ioping asked a filesystem in memory") {
		t.Error(out.String())
	}
	if got, want := shortened("acme/"+strings.Repeat("long", 20)+"-7.json"), "acme/longlong…"; len([]rune(got)) != 28 ||
		!strings.HasPrefix(got, want) || !strings.HasSuffix(got, "-7.json") {
		t.Error(got)
	}
	out.Reset()
	if err := Export(&out, page.CSV, []*bundle.Bundle{library}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), ","+a+",acme\n") || !strings.Contains(out.String(), ","+b+",borealis\n") {
		t.Error(out.String())
	}

	outputs, documents, err := bundle.Gather([]string{a, b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	results, err := bundle.Found{Outputs: outputs, Documents: documents}.Results()
	if err != nil {
		t.Fatal(err)
	}
	summary := Summary(bundle.Pick{}.Groups(results))
	for format, want := range map[page.Format]string{
		page.Text: " INVALID\n", page.CSV: ",invalid\n",
		page.JSON: `"verdict": "invalid"`,
	} {
		out.Reset()
		if err := page.Write(&out, format, summary, page.Options{Width: 120}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: no %q in %s", format, want, out.String())
		}
	}
}

// TestLibraryNamesWhatIsUnlike: a result far from those of its directory that did the same is counted in the first line
// and stands first; one as far from results of another directory, or of other work, does not.
func TestLibraryNamesWhatIsUnlike(t *testing.T) {
	library := func(dir, last string, values ...units.IOPS) string {
		b := &bundle.Bundle{Run: bundle.Run{Imported: []string{"lib"}}}
		for i, v := range values {
			r := &result.Result{
				Source: fmt.Sprintf("lib/%d.json", i), Labels: map[string]string{"dir": "acme"}, State: result.Done,
				Workloads: []fio.Workload{{ReadShare: 1, ReadBS: 4096, Engine: "libaio", Depth: 32}},
			}
			if i == len(values)-1 {
				r.Labels["dir"], r.Workloads[0].Engine = dir, last
			}
			r.Total.Read = fio.Direction{N: 1, IOPS: v, BW: units.Rate(v) * 4096}
			b.Scenarios = append(b.Scenarios, bundle.Scenario{
				Scenario: suite.Scenario{ID: i + 1}, Result: r, Verdict: verdict.Measured,
			})
		}
		return render(t, page.Text, b, page.Options{Width: 80})
	}
	like := []units.IOPS{1000, 1010, 990, 1005, 995}
	got := library("acme", "libaio", append(like, 460)...)
	if !strings.HasPrefix(got, "6 files: 0 INVALID, 6 MEASURED, 1 unlike the others\n") ||
		!strings.Contains(got, "why\nMEASURED  acme/5.json    460 IOPS  54.0 % below 5 similar results") {
		t.Errorf("half of the others:\n%s", got)
	}
	for name, near := range map[string]string{
		"within 10 %": library("acme", "libaio", append(like, 910)...),
		"elsewhere":   library("borealis", "libaio", append(like, 460)...),
		"other work":  library("acme", "psync", append(like, 460)...),
	} {
		if !strings.HasPrefix(near, "6 files: 0 INVALID, 6 MEASURED\n") {
			t.Errorf("%s:\n%s", name, near)
		}
	}
}

// TestMediansByDirectory: two to five directories stand beside each other, each with the median of
// three results or more of a work, beside that of the first.
func TestMediansByDirectory(t *testing.T) {
	library := func(counts ...int) string {
		b := &bundle.Bundle{Run: bundle.Run{Imported: []string{"lib"}}}
		for d, n := range counts {
			for i := range n {
				r := &result.Result{
					Source: fmt.Sprintf("lib/d%d/%d.json", d, i), Labels: map[string]string{"dir": fmt.Sprintf("d%d", d)},
					State: result.Done, Workloads: []fio.Workload{{ReadShare: 1, ReadBS: 4096, Engine: "libaio", Depth: 32}},
				}
				v := units.IOPS((d + 1) * (1000 + 10*((i*2)%n))) // not in their order
				r.Total.Read = fio.Direction{N: 1, IOPS: v, BW: units.Rate(v) * 4096}
				b.Scenarios = append(b.Scenarios, bundle.Scenario{
					Scenario: suite.Scenario{ID: len(b.Scenarios) + 1}, Result: r, Verdict: verdict.Measured,
				})
			}
		}
		return render(t, page.Text, b, page.Options{Width: 160})
	}
	for want, got := range map[string]string{
		"2,020 IOPS (x2.00)": library(3, 3),
		"5,050 IOPS (x5.00)": library(3, 3, 3, 3, 3),
		"4,040 IOPS (x4.00)": library(3, 2, 3, 3, 3),
	} {
		_, below, found := strings.Cut(got, "Medians by directory\n")
		if !found || !strings.Contains(below, "1,010 IOPS") || !strings.Contains(below, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, none := range []string{library(3), library(3, 3, 3, 3, 3, 3), library(2, 2), library(3, 2)} {
		if strings.Contains(none, "Medians by directory") {
			t.Error(none)
		}
	}
}

// TestRowsOfASummary: a mix has the latency of its slower direction, a name is told from its file's, and a group of one
// work has its median.
func TestRowsOfASummary(t *testing.T) {
	var all []*result.Result
	for i, v := range []units.IOPS{300, 100, 200} {
		r := &result.Result{
			Source: "acme/mix-0.json", Name: "mix-0-randrw-4k",
			Workloads: []fio.Workload{{ReadShare: .5, ReadBS: 4096, WriteBS: 4096, Depth: 4}},
		}
		at := func(p99 float64) fio.Direction {
			return fio.Direction{
				N: 100, IOPS: v / 2, BW: units.Rate(v) * 2048,
				Clat: fio.Latency{N: 100, Mean: 1e6, Percentiles: []fio.Percentile{{P: 99, Value: time.Duration(p99)}}},
			}
		}
		r.Total.Read, r.Total.Write = at(2e6), at(3e6*float64(i+1))
		r.Jobs = []fio.Job{r.Total}
		all = append(all, r)
	}
	cells := summaryCells(all[0])
	if cells[1] != "randrw-4k" || cells[7] != "write 3 ms" {
		t.Errorf("%q", cells)
	}
	if got := middle(all); got != "median 200 IOPS, 100 IOPS to 300 IOPS" {
		t.Error(got)
	}
	all[1].Workloads[0].Depth = 8
	if got := middle(all); got != "" {
		t.Errorf("%s of different works", got)
	}
}

// A long table of the page is sorted by its heads, figures by their amounts, and filtered by what is typed above it.
func TestLongTablesSortAndFilter(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	d := page.New("catalogue", "rows", "catalog", nil)
	rows := page.NewTable("<name, figure")
	for i, figure := range []string{"2 GiB/s", "900 MiB/s", "–", "1,000 KiB/s", "12 ms"} {
		for k := range 3 {
			rows.Add(fmt.Sprintf("file-%d%d", i, k), figure)
		}
	}
	d.Add(rows)
	var out bytes.Buffer
	if err := page.Write(&out, page.HTML, d, page.Options{}); err != nil {
		t.Fatal(err)
	}
	p := openPage(browser(t), t, out.String())
	figures := func() string {
		return eval[string](p,
			`[...document.querySelectorAll('tbody tr')].filter((r) => !r.hidden).map((r) => r.cells[1].textContent).join('|')`)
	}
	eval[bool](p, `document.querySelectorAll('thead button')[1].click() ?? true`)
	got := figures()
	if want := strings.Repeat("1,000 KiB/s|", 3) + strings.Repeat("12 ms|", 3); !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, "2 GiB/s|–|–|–") {
		t.Errorf("sorted upwards: %s", got)
	}
	eval[bool](p, `(() => { const f = document.querySelector('input.filter'); f.value = 'file-1 900'; f.dispatchEvent(new Event('input')); return true })()`)
	if got := figures(); got != "900 MiB/s|900 MiB/s|900 MiB/s" {
		t.Errorf("filtered: %s", got)
	}
}
