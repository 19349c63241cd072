package permit

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/fio/command"
	"plimsoll/internal/sys"
)

// treeOf is what each file below a directory holds, but for plimsoll's folder.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() == folderName {
			return fs.SkipDir
		}
		if e.IsDir() {
			fmt.Fprintln(&b, path)
			return nil
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %d %q\n", path, len(text), text[:min(len(text), 8)])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// fioOn runs a job in a place, by a grant as a run has it or by the command that is shown, and says what refused it.
func fioOn(t *testing.T, data string, out *sys.Dir, text string, typed bool) error {
	t.Helper()
	s := job(t, text)
	p := placeOn(t, data, Consent{Exec: true})
	if err := p.Check(s); err != nil {
		return err
	}
	release, err := p.Lock(t.Context())
	if err != nil {
		return err
	}
	defer release()
	defer p.Empty() //nolint:errcheck // a test's own directory
	g, err := p.Grant(s, p.FileFor(s), out)
	if err != nil {
		return err
	}
	ctx, argv := t.Context(), append(command.Line(&g.Shown), "--aux-path="+out.Name())
	if typed {
		defer func() {
			for _, name := range p.Made() {
				_ = os.Remove(name)
			}
		}()
		if err := os.MkdirAll(p.jobDir(), 0o700); err != nil {
			t.Fatal(err)
		}
	} else {
		path, free, err := sys.MemFile("job", g.Job.Text())
		if err != nil {
			t.Fatal(err)
		}
		defer free()
		argv = []string{"fio", path}
		ctx = sys.WithDir(ctx, out.Path())
	}
	said := &strings.Builder{}
	if err := sys.Host().Run(ctx, said, argv...); err != nil {
		t.Logf("%q: %v: %s", argv, err, said)
	}
	return g.Close()
}

// Whatever names a job has for its files, in whichever section, fio reaches none but those that it was let have: what
// lies in the caller's directory, beside the data and below it stays as it is.
func TestBystanders(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("SKIPPED: needs fio")
	}
	base := t.TempDir()
	data := mkdir(t, filepath.Join(base, "d"))
	for _, dir := range []string{base, data, mkdir(t, filepath.Join(base, "sub")), mkdir(t, filepath.Join(data, "sub"))} {
		for _, name := range []string{"victim", "j.0.0", "f.0"} {
			write(t, filepath.Join(dir, name), strings.Repeat("precious", 512))
		}
	}
	t.Chdir(base)
	was := treeOf(t, base)
	work := "\nioengine=psync\nbs=4k\nsize=64k\nrw=write\n"
	null := "\nioengine=null\nrw=read\nsize=64k\nunlink=1\n"
	for text, runs := range map[string]bool{
		"[j]\nfilename=victim" + work:                                                         true,
		"[global]\nfilename=victim\n[j]" + work:                                               true,
		"[global]\nfilename=victim\n[j]\nunlink=1" + work:                                     true,
		"[global]\nfilename=victim\n[j]\nfilename=sub/victim" + work:                          true,
		"[global]\nfilename=victim\n[j]\nsize=128k\nrw=read\nioengine=psync\n":                true,
		"[global]\nfilename=victim\n[j]\ndirectory=d" + work:                                  false,
		"[global]\nfilename=victim\n[global]\ndirectory=d\n[j]" + work:                        false,
		"[global]\nfilename=d/../victim\n[j]" + work:                                          false,
		"[global]\nfilename=fresh\n[j]\ndirectory=d" + work:                                   true,
		"[j]\nfilename=fresh\ndirectory=d" + work:                                             true,
		"[global]\nfilename=fresh\n[j]" + work + "[k]" + work:                                 true,
		"[j]\nfilename=victim" + null:                                                         true,
		"[global]\nfilename=sub/victim\n[j]" + null:                                           true,
		"[j]\nfilename=d/../victim" + null:                                                    false,
		"[j]\nfilename=" + base + "/victim" + null:                                            false,
		"[j]\nfilename_format=victim" + null:                                                  true,
		"[j]\nfilename_format=../victim" + null:                                               false,
		"[j]\ndirectory=d\nfilename=victim" + null:                                            false,
		"[j]\ndirectory=d" + null:                                                             false,
		"[j]" + null:                                                                          true,
		"[j]\nfilename=victim\nioengine=cpuio\ncpuload=5\nruntime=50ms\nunlink_each_loop=1\n": true,
		"[j]\nfilename=" + base + "/victim\nioengine=null\nsize=64k\nrw=write\n":              true,
	} {
		for _, typed := range []bool{false, true} {
			if err := fioOn(t, data, held(t, t.TempDir()), text, typed); (err == nil) != runs {
				t.Errorf("%s: %v", text, err)
			}
			if now := treeOf(t, base); now != was {
				t.Fatalf("typed %v:\n%s\nwas:\n%s\nis:\n%s", typed, text, was, now)
			}
		}
	}
}

// What a job's commands print is kept with the run, and not over a file of the working directory,
// in which they run. fio names the file by the section, to a shell, so that a name which is more
// than one runs nothing.
func TestOutputOfCommands(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("SKIPPED: needs fio")
	}
	base := t.TempDir()
	data := mkdir(t, filepath.Join(base, "d"))
	for _, name := range []string{"victim", "j.prerun.txt", "j-1.postrun.txt"} {
		write(t, filepath.Join(base, name), "precious")
	}
	t.Chdir(base)
	was := treeOf(t, base)
	const work = "\nioengine=null\nrw=read\nsize=4k\n"
	for text, want := range map[string]map[string]string{
		"[j]\nexec_prerun=cat victim": {"j.prerun.txt": "precious"},
		"[global]\nexec_postrun=false || pwd\n[j-1]\nexec_prerun=true": {
			"j-1.postrun.txt": base + "\n", "j-1.prerun.txt": "",
		},
		"[j]\nname=../victim\nexec_prerun=true": nil,
		"[x>victim]\nexec_prerun=true":          nil,
		"[$(touch made)]\nexec_postrun=true":    nil,
		"[a b]\n":                               {},
	} {
		out := held(t, t.TempDir())
		if err := fioOn(t, data, out, text+work, false); (err == nil) != (want != nil) {
			t.Errorf("%s: %v", text, err)
		}
		if now := treeOf(t, base); now != was {
			t.Fatalf("%s\nwas:\n%s\nis:\n%s", text, was, now)
		}
		for name, said := range want {
			if got, err := os.ReadFile(filepath.Join(out.Name(), name)); err != nil || string(got) != said {
				t.Errorf("%s: %s holds %q, %v", text, name, got, err)
			}
		}
	}
}
