package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
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
	if got, want := Library(library).Head.Word,
		"2 files, 3 results: 1 INVALID, 1 MEASURED"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	var out strings.Builder
	if err := page.Write(&out, page.Text, Library(library), page.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(out.String()), " "),
		"INVALID 1 of 2 acme/a.txt 312 µs ioping asked a filesystem in memory") {
		t.Error(out.String())
	}
	if got, want := shortened("acme/"+strings.Repeat("long", 20)+"-7.json"), "acme/longlonglo…"; len([]rune(got)) != 32 ||
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
