package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// shelf is a small library: of each kind of work two results.
func shelf() []*result.Result {
	measured := func(name, file string, read float64, bs units.Bytes, iops units.IOPS, p99 time.Duration) *result.Result {
		d := fio.Direction{
			N: 1000, IOPS: iops, BW: units.Rate(float64(iops) * float64(bs)), Runtime: time.Minute,
			Clat: fio.Latency{N: 1000, Mean: float64(p99) / 2, Percentiles: []fio.Percentile{{P: 99, Value: p99}}},
		}
		w := fio.Workload{Engine: "libaio", Depth: 32, Jobs: 2, ReadShare: read}
		r := &result.Result{Name: name, Source: file}
		if read == 1 {
			w.ReadBS, r.Total.Read = bs, d
		} else {
			w.WriteBS, r.Total.Write = bs, d
		}
		r.Workloads = []fio.Workload{w}
		return r
	}
	none := &result.Result{Name: "none", Source: "z.txt"}
	none.Label("instance", "c6a.xlarge")
	return []*result.Result{
		measured("a", "/x/a.txt", 1, 4*units.KiB, 1000, 5*time.Millisecond), measured("b", "/x/b.txt", 0, 4*units.KiB, 9000, time.Millisecond),
		measured("c", "/x/a.txt", 1, 16*units.KiB, 5000, 2*time.Millisecond), none,
	}
}

// TestPick: what people ask of a library, and what is refused.
func TestPick(t *testing.T) {
	for _, tt := range []struct{ where, sort, want string }{
		{"", "", "a b c none"},
		{"rw=randread", "", "a c"},
		{"bs=4k,rw=randread", "", "a"},
		{"bs=4096", "", "a b"},
		{"bs>4k", "", "c"},
		{"rw!=randread", "", "b none"},
		{"iops>=5k", "-iops", "b c"},
		{"p99<3ms", "p99", "b c"},
		{"file=a.txt", "", "a c"},
		{"name~on", "", "none"},
		{"instance=C6A.xlarge", "", "none"},
		{"depth=32", "-name", "c b a"},
		{"jobs>1", "-file", "b a c"},
		{"bs~k", "", "a b c"},
		{"mean<=1ms", "", "b c"},
		{"p99=2ms", "", "c"},
		{"p99>=600us", "-mean", "a c b"},
		{"", "instance", "a b c none"},
		{"bw>20MiB/s", "", "b c"},
		{"", "iops", "a c b none"},
		{"", "-bs", "c a b none"},
	} {
		var where []string
		if tt.where != "" {
			where = []string{tt.where}
		}
		p, err := NewPick(where, tt.sort, "")
		if err != nil {
			t.Errorf("%s: %v", tt.where, err)
		}
		picked, err := p.Of(shelf())
		if err != nil {
			t.Errorf("%s: %v", tt.where, err)
		}
		var names []string
		for _, r := range picked {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("--where %q --sort %q: %s, want %s", tt.where, tt.sort, got, tt.want)
		}
	}
	for _, wrong := range []string{"bs", "=4k", "rw>read", "p99<3", "iops>many", "bw>much", "bs>big", "iops~1", "bs=", "instance>3"} {
		if _, err := NewPick([]string{wrong}, "", ""); err == nil {
			t.Errorf("--where %s is taken", wrong)
		}
	}
	if _, err := NewPick(nil, "", "iops"); err == nil {
		t.Error("--group iops is taken")
	}
	// A key that nothing has would choose nothing, and a misspelt one to order by would order nothing.
	for _, wrong := range []struct{ where, sort, group string }{{where: "instanse=c6a.xlarge"}, {sort: "-iosp"}, {group: "wrok"}} {
		p, err := NewPick(strings.Fields(wrong.where), wrong.sort, wrong.group)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Of(shelf()); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "keys are work, rw") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	p, _ := NewPick(nil, "", "work")
	var groups []string
	for _, g := range p.Groups(shelf()) {
		groups = append(groups, fmt.Sprintf("%s:%d", g.Name, len(g.Results)))
	}
	if got := strings.Join(groups, " "); got != "randread-4k-libaio-2x32:1 randwrite-4k-libaio-2x32:1 randread-16k-libaio-2x32:1 not known:1" {
		t.Error(got)
	}
}

// TestPickByVerdict: what is invalid sorts behind all else, the largest first or last, and can be asked for by name.
func TestPickByVerdict(t *testing.T) {
	dir := t.TempDir()
	for name, fs := range map[string]string{"a.txt": "tmpfs tmpfs", "b.txt": "ext4 /dev/sda", "c.txt": "tmpfs tmpfs"} {
		text := "4 KiB <<< . (" + fs + " 6.18 GiB): request=1 time=312 us\n--- . (" + fs + " 6.18 GiB) ioping statistics ---\n" +
			"9.6 k requests completed in 3.00 s, 3.2 k iops, 12.5 MiB/s\nmin/avg/max/mdev = 280 us / 312 us / 344 us / 19 us\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ where, sort, want string }{
		{"", "file", "b a c"},
		{"", "-file", "b c a"},
		{"", "iops", "b a c"},
		{"verdict=INVALID", "", "a c"},
		{"verdict!=invalid", "", "b"},
	} {
		p, err := NewPick(slices.DeleteFunc([]string{c.where}, func(s string) bool { return s == "" }), c.sort, "")
		if err != nil {
			t.Fatal(err)
		}
		outs, docs, err := Gather([]string{dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := Found{Outputs: outs, Documents: docs}
		results, err := found.Results()
		if err != nil {
			t.Fatal(err)
		}
		listed, err := p.Of(results)
		if err != nil {
			t.Errorf("--where %q: %v", c.where, err)
			continue
		}
		found.Pick = p
		b, err := Import(t.TempDir(), Run{Imported: []string{dir}}, found)
		if err != nil {
			t.Errorf("--where %q: %v", c.where, err)
			continue
		}
		var stored []*result.Result
		for i := range b.Scenarios {
			stored = append(stored, b.Scenarios[i].Result)
		}
		for form, list := range map[string][]*result.Result{"listed": listed, "stored": stored} {
			var names []string
			for _, r := range list {
				names = append(names, strings.TrimSuffix(filepath.Base(r.Source), ".txt"))
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("--where %q --sort %q, %s: %s, want %s", c.where, c.sort, form, got, c.want)
			}
		}
	}
}

// BenchmarkLibrary reads ten thousand results of a hundred files, and picks among them; the README of the
// library promises 3 s.
func BenchmarkLibrary(b *testing.B) {
	one, err := readSeed()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	for i := range 100 {
		writeLibrary(b, dir, i, one)
	}
	for b.Loop() {
		outs, docs, err := Gather([]string{dir}, strings.NewReader(""))
		if err != nil {
			b.Fatal(err)
		}
		results, err := Found{Outputs: outs, Documents: docs}.Results()
		if err != nil || len(results) != 10000 {
			b.Fatalf("%d results, %v", len(results), err)
		}
		p, _ := NewPick([]string{"bs=28k,iops>1k"}, "-iops", "work")
		picked, err := p.Of(results)
		if n := len(p.Groups(picked)); n != 1 {
			b.Fatalf("%d groups, %v", n, err)
		}
	}
}

func readSeed() (string, error) {
	data, err := os.ReadFile("../../testdata/seeds/MS-28k-r-r-15.log")
	return string(data), err
}

// writeLibrary writes one file of a hundred results, each of a job of its own.
func writeLibrary(b *testing.B, dir string, i int, one string) {
	b.Helper()
	var all strings.Builder
	for k := range 100 {
		all.WriteString(strings.ReplaceAll(one, "28k_r_r", fmt.Sprintf("job%d_%d", i, k)))
	}
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("r%03d.log", i)), []byte(all.String()), 0o600); err != nil {
		b.Fatal(err)
	}
}

// What only some may read is shown to nobody else by the run that holds its text.
func TestImportOfAPrivateFile(t *testing.T) {
	for _, c := range []struct{ dir, mode, want fs.FileMode }{
		{0o755, 0o600, 0o700}, {0o755, 0o640, 0o700}, {0o755, 0o644, 0o755}, {0o711, 0o644, 0o755}, {0o700, 0o644, 0o700},
	} {
		mode, want := c.mode, c.want
		file := filepath.Join(openTo(t, c.dir), "out.txt")
		text := "x: (groupid=0, jobs=1): err= 0: pid=1: Fri Nov 27 12:00:00 2026\n" +
			"  read: IOPS=100, BW=400KiB/s (410kB/s)(4096KiB/10240msec)\n"
		if err := errors.Join(os.WriteFile(file, []byte(text), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		outs, docs, err := Gather([]string{file}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Import(t.TempDir(), Run{Imported: []string{file}}, Found{Outputs: outs, Documents: docs})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(b.Dir); err != nil || info.Mode().Perm() != want {
			t.Errorf("of a file %o: %v, %v, want %o", mode, info.Mode().Perm(), err, want)
		}
	}
}

// openTo makes a directory of a mode, in one that everybody may go through.
func openTo(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// So is a run of a job that only some may read, or that includes such a file.
func TestRunOfAPrivateJob(t *testing.T) {
	for _, c := range []struct{ job, included, want fs.FileMode }{
		{0o644, 0o644, 0o755}, {0o600, 0o644, 0o700}, {0o644, 0o640, 0o700}, {0o604, 0o604, 0o755},
	} {
		dir := openTo(t, 0o755)
		job, included := filepath.Join(dir, "j.fio"), filepath.Join(dir, "more.fio")
		err := errors.Join(os.WriteFile(job, []byte("[j]\nrw=read\nsize=1m\ninclude more.fio\n"), 0o600),
			os.Chmod(job, c.job),
			os.WriteFile(included, []byte("bs=8k\n"), 0o600), os.Chmod(included, c.included))
		if err != nil {
			t.Fatal(err)
		}
		s, err := suite.FromJobFile(job)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Create(t.TempDir(), Run{Suite: *s})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(w.Dir); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("of %o and %o: %v, %v, want %o", c.job, c.included, info.Mode().Perm(), err, c.want)
		}
		w.Close()
	}
}
