package permit

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, name string) string {
	t.Helper()
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func held(t *testing.T, name string) *sys.Dir {
	t.Helper()
	d, err := sys.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func placeOn(t *testing.T, path string, consent Consent) *Place {
	t.Helper()
	return &Place{
		Role: topology.Data, Path: path, Files: Files{Size: units.KiB}, tree: &block.Tree{}, consent: consent,
		dir: held(t, path), made: map[string]units.Bytes{},
	}
}

func job(t *testing.T, text string) suite.Scenario {
	t.Helper()
	f, err := fio.ParseJobFile("j.fio", []byte(text), fio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return suite.Scenario{ID: 1, Name: "j", Role: topology.Data, AsIs: true, Job: *f}
}

// Plimsoll's folder is used only when it is the caller's own directory that nobody else can write
// to, and whatever stands there instead stays untouched.
func TestFolderMustBeOnesOwn(t *testing.T) {
	for _, c := range []struct {
		kind, want string
		plant      func(t *testing.T, name, victim string)
	}{
		{"link", "a link or a file", func(t *testing.T, name, victim string) {
			if err := os.Symlink(victim, name); err != nil {
				t.Fatal(err)
			}
		}},
		{"file", "a link or a file", func(t *testing.T, name, _ string) { write(t, name, "") }},
		{"pipe", "a link or a file", func(t *testing.T, name, _ string) {
			if err := unix.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"writable by all", "written to by others (mode 0777)", func(t *testing.T, name, _ string) {
			if err := os.Chmod(mkdir(t, name), 0o777); err != nil {
				t.Fatal(err)
			}
		}},
		{"writable by a group", "written to by others (mode 0775)", func(t *testing.T, name, _ string) {
			if err := os.Chmod(mkdir(t, name), 0o775); err != nil {
				t.Fatal(err)
			}
		}},
		{"another user's", "belongs to ", func(t *testing.T, name, _ string) {
			if os.Geteuid() != 0 || os.Chown(mkdir(t, name), 65534, 65534) != nil {
				t.Skip("planting a directory of another user's needs root: this exam did not run")
			}
		}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			base := t.TempDir()
			victim := mkdir(t, filepath.Join(base, "victim"))
			write(t, filepath.Join(victim, "data.dat"), "precious")
			data := mkdir(t, filepath.Join(base, "data"))
			c.plant(t, filepath.Join(data, folderName), victim)
			p := placeOn(t, data, Consent{})
			release, err := p.Lock(t.Context())
			if err == nil {
				release()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), data+"/.plimsoll ") {
				t.Errorf("%v, want a refusal with %q", err, c.want)
			}
			if p.Prefilled() {
				t.Error("its content was trusted")
			}
			if text, err := os.ReadFile(filepath.Join(victim, "data.dat")); err != nil || string(text) != "precious" {
				t.Errorf("the victim is %q, %v", text, err)
			}
		})
	}
}

// A marker counts only next to a regular file of the caller's own, that has one name.
func TestPrefilledTrustsNoLinks(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, file, victim string)
		want bool
	}{
		{"own file", func(t *testing.T, file, _ string) { write(t, file, strings.Repeat("x", 1024)) }, true},
		{"too small", func(t *testing.T, file, _ string) { write(t, file, "x") }, false},
		{"link", func(t *testing.T, file, victim string) {
			if err := os.Symlink(victim, file); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"hard link", func(t *testing.T, file, victim string) {
			if err := os.Link(victim, file); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			victim := filepath.Join(base, "victim")
			write(t, victim, strings.Repeat("v", 4096))
			p := placeOn(t, mkdir(t, filepath.Join(base, "data")), Consent{})
			folder := mkdir(t, filepath.Join(p.Path, folderName))
			c.make(t, filepath.Join(folder, "data.dat"), victim)
			write(t, filepath.Join(folder, "data.dat.prefilled"), `{"size": 1024}`)
			if got := p.Prefilled(); got != c.want {
				t.Errorf("prefilled %v, want %v", got, c.want)
			}
		})
	}
}

// What a job may open, without any fio.
func TestAccess(t *testing.T) {
	base := t.TempDir()
	data := mkdir(t, filepath.Join(base, "data"))
	precious := filepath.Join(data, "precious")
	write(t, precious, strings.Repeat("p", 4096))
	if err := os.Symlink("precious", filepath.Join(data, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(data, "twice"), "x")
	if err := os.Link(filepath.Join(data, "twice"), filepath.Join(data, "second")); err != nil {
		t.Fatal(err)
	}
	lose := Consent{Destroy: map[string]string{precious: "", filepath.Join(data, "twice"): ""}}
	for _, c := range []struct {
		options string
		consent Consent
		want    string // "" for allowed
	}{
		{"rw=read\nfilename=DATA/precious", Consent{}, ""},
		{"rw=read\nfilename=DATA/link", Consent{}, ""},
		{"rw=read\nfilename=DATA/precious\nsize=1m", Consent{}, "would rewrite it"},
		{"rw=write\nfilename=DATA/precious", Consent{}, "add --destroy"},
		{"rw=write\nfilename=DATA/link", Consent{}, "add --destroy"},
		{"rw=randtrim\nfilename=DATA/precious", Consent{}, "add --destroy"},
		{"rw=read\nunlink=1\nfilename=DATA/precious", Consent{}, "add --destroy"},
		{"rw=write\nfilename=DATA/precious", lose, ""},
		{"rw=write\nfilename=DATA/link", lose, ""},
		{"rw=write\nfilename=DATA/twice", lose, "hard links"},
		{"rw=write\nfilename=DATA/new\nsize=4k", Consent{}, ""},
		{"rw=write\nfilename=DATA/no/new\nsize=4k", Consent{}, "make the directory first"},
		{"rw=write\nfilename=/dev/null", Consent{}, "neither a regular file nor a block device"},
		{"rw=read\nioengine=exec", Consent{}, "runs programs"},
		{"ioengine=null\nrw=read\nsize=4k\nfilename=/no/such/place", Consent{}, ""},
		{"ioengine=cpuio\ncpuload=10", Consent{}, ""},
	} {
		p := placeOn(t, data, c.consent)
		err := p.Check(job(t, "[x]\n"+strings.ReplaceAll(c.options, "DATA", data)+"\n"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.options, err, c.want)
		}
	}
}

// Another user's link decides nothing about what is written over, whatever fs.protected_symlinks
// is.
func TestLinksOfOthersAreNotFollowedToWrite(t *testing.T) {
	base := t.TempDir()
	victim := filepath.Join(base, "victim")
	write(t, victim, "precious")
	data := mkdir(t, filepath.Join(base, "data"))
	link := filepath.Join(data, "link")
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 || os.Lchown(link, 65534, 65534) != nil {
		t.Skip("planting a link of another user's needs root: this exam did not run")
	}
	p := placeOn(t, data, Consent{Destroy: map[string]string{link: ""}})
	err := p.Check(job(t, "[x]\nrw=write\nfilename="+link+"\n"))
	if err == nil || !strings.Contains(err.Error(), link+" is a link owned by ") {
		t.Errorf("%v, want a refusal that names the link", err)
	}
}

// The names that fio gets lead to what was looked at, though every name on the way is replaced
// after that.
func TestGrantSurvivesSwaps(t *testing.T) {
	base := t.TempDir()
	victim := mkdir(t, filepath.Join(base, "victim"))
	write(t, filepath.Join(victim, "old"), "precious")
	data := mkdir(t, filepath.Join(base, "data"))
	write(t, filepath.Join(data, "old"), "seen")
	p := placeOn(t, data, Consent{})
	s := job(t, "[r]\nrw=read\nfilename="+data+"/old\n[w]\nrw=write\nsize=4k\nfilename="+data+"/new\n[own]\nrw=write\nsize=4k\n")
	if err := p.Check(s); err != nil {
		t.Fatal(err)
	}
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	g, err := p.Grant(s, p.FileFor(s), held(t, mkdir(t, filepath.Join(base, "run"))))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close() //nolint:errcheck // it was tested
	if err := os.Rename(data, filepath.Join(base, "away")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, data); err != nil {
		t.Fatal(err)
	}
	name := func(i int, option string) string {
		v, _ := g.Job.Effective(i).Get(option)
		return v
	}
	if text, err := os.ReadFile(name(0, "filename")); err != nil || string(text) != "seen" {
		t.Errorf("the file to read is %q, %v", text, err)
	}
	write(t, name(1, "filename"), "new")
	write(t, filepath.Join(name(2, "directory"), "own.0.0"), "own")
	left, err := os.ReadDir(victim)
	if err != nil || len(left) != 1 {
		t.Errorf("%v behind the link, %v; want only what was there", left, err)
	}
	shown, _ := g.Shown.Effective(1).Get("filename")
	if shown != data+"/new" || !slices.Equal(p.Made(), []string{data + "/new"}) {
		t.Errorf("shown %s, made %v", shown, p.Made())
	}
	if got := g.Plain("no space on " + name(1, "filename")); got != "no space on "+data+"/new" {
		t.Errorf("plain: %s", got)
	}
}

// A directory of jobs' own files counts as prefilled only when each is there, whole and the
// caller's, and fio gets them through the handle of the folder.
func TestJobsFiles(t *testing.T) {
	base := t.TempDir()
	data := mkdir(t, filepath.Join(base, "data"))
	s := job(t, "[own]\nrw=randwrite\nbs=512\nnumjobs=3\n")
	s.AsIs, s.Files, s.Size = false, suite.FilePerJob, units.KiB
	p := placeOn(t, data, Consent{})
	p.Files = FilesOf(s)
	if want := (Files{Jobs: 3, JobSize: units.KiB}); p.Files != want || p.Total() != 3*units.KiB {
		t.Fatalf("%+v, want %+v", p.Files, want)
	}
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	jobs, err := p.Prefills()
	if err != nil || len(jobs) != 1 || jobs[0].Size != 3*units.KiB || jobs[0].Files != 3 {
		t.Fatalf("%+v, %v", jobs, err)
	}
	if err := p.Check(s); err != nil || len(p.Made()) > 0 {
		t.Errorf("%v, made %v: they are plimsoll's own", err, p.Made())
	}
	dir, _ := jobs[0].Job.Sections[0].Get("directory")
	if got := jobs[0].Plain("no room for " + dir + "/job.1"); dir == jobs[0].Shown || got != "no room for "+jobs[0].Shown+"/job.1" {
		t.Errorf("%s is shown as %q", dir, got)
	}
	for i := range 3 {
		if err := p.CheckPrefilled(); err == nil {
			t.Errorf("%d of 3 files count as all", i)
		}
		write(t, filepath.Join(dir, jobFile(i)), strings.Repeat("x", 1024))
	}
	if err := errors.Join(p.CheckPrefilled(), p.Keep()); err != nil || !p.Prefilled() {
		t.Errorf("%v, prefilled %v", err, p.Prefilled())
	}
	g, err := p.Grant(s, p.FileFor(s), held(t, mkdir(t, filepath.Join(base, "run"))))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close() //nolint:errcheck // it was tested
	if got, _ := g.Job.Effective(0).Get("directory"); got != dir {
		t.Errorf("fio gets %s, want %s", got, dir)
	}
	for what, change := range map[string]func(*Files){
		"one more job": func(f *Files) { f.Jobs++ }, "larger": func(f *Files) { f.JobSize *= 2 },
		"a shared file, too": func(f *Files) { f.Size = units.KiB },
	} {
		more := *p
		change(&more.Files)
		if more.Prefilled() {
			t.Errorf("%s: prefilled", what)
		}
	}
	victim := filepath.Join(base, "victim")
	write(t, victim, strings.Repeat("v", 4096))
	if err := errors.Join(os.Remove(filepath.Join(dir, "job.1")), os.Symlink(victim, filepath.Join(dir, "job.1"))); err != nil {
		t.Fatal(err)
	}
	if p.Prefilled() {
		t.Error("a link counts as a job's file")
	}
	if err := p.Empty(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(data, folderName)); err != nil || len(left) != 1 { // the lock
		t.Errorf("left: %v, %v", left, err)
	}
}
