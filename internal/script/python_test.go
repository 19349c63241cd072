package script

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
)

// TestCommandsOfPython: what a shell would be given stands where the program has it.
func TestCommandsOfPython(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a string":         {"run(\"fio --name=a --rw=read\")", "     fio --name=a --rw=read"},
		"a format":         {"c = f'sudo fio --bs={bs}k --rw={rw}'", "      sudo fio --bs=$___k --rw=$___"},
		"the program":      {"c = f'{fio_path} --name=a'", "      $fio       --name=a"},
		"a folder":         {"c = f'fio --output={fio_dir}/x --name=a'", "      fio --output=$________/x --name=a"},
		"percent":          {"c = 'fio --bs=%s --size=%(size)s' % v", "     fio --bs=$_ --size=$_______"},
		"format()":         {"c = 'fio --bs={} --name={0}'.format(1)", "     fio --bs=$_ --name=$__"},
		"two strings":      {"c = ('fio --bs=4k '\n     '--rw=read')", "      fio --bs=4k \\\n      --rw=read"},
		"a word in two":    {"c = ('fio --bs=4k --size='\n     '1g --rw=read')", "      fio --bs=4k --size=$ \\\n         --rw=read"},
		"added":            {"c = 'fio --bs=' + bs + 'k --rw=read'", "     fio --bs=$_          --rw=read"},
		"added last":       {"c = 'fio --bs=4k ' + more", "     fio --bs=4k $_"},
		"grows":            {"c = 'fio --bs=4k'\nc += ' --rw=read'", "     fio --bs=4k $_\n"},
		"three quotes":     {"c = \"\"\"fio --bs=4k\n  --rw=read\n\"\"\"", "       fio --bs=4k \\\n  --rw=read\n"},
		"a list":           {"run(['fio', '--bs=4k', \"--name\", n, '--rw=read'])", "      fio   '--bs=4k'  '--name'  $_ '--rw=read'"},
		"a list of lines":  {"c = [fio_path,\n  '--bs=%s' % b,\n  # why\n  '--size=' + s]\nrun(c)", "     fio \\\n  '--bs=$_' \\\n \\\n  '--size='$_\n"},
		"a list, and more": {"c = ['fio', '--bs=4k'] + more", "      fio   '--bs=4k' $_"},
		"a list that grows": {
			"c = ['fio', '--bs=4k']\nc.append('--rw=read')", "      fio   '--bs=4k' $_\n",
		},
		"a comment":     {"# plimsoll: disable=PL103\nrun('fio --name=a')", "# plimsoll: disable=PL103\n     fio --name=a"},
		"printed":       {"print('fio --name=a --rw=read')", ""},
		"help":          {"add('-f', help='fio --name=a is run')", ""},
		"documentation": {"def f():\n    \"\"\"fio --name=a is run\"\"\"", "\n"},
		"another list":  {"a = ['fiona', '--bs=4k']\nb = ['fio', 'ext4']", "\n"},
		"quotes":        {"c = 'fio --name=\\'a b\\' --rw=read'", "     fio --name=''a b'' --rw=read"},
		"never closed":  {"c = 'fio --name=a\nx = [ 'fio', '-a'", "     fio --name=a\n"},
	} {
		lines := strings.Split(c.in, "\n")
		jobs, _ := fromPython(lines)
		if got := strings.Join(lines, "\n"); strings.TrimRight(got, " ") != c.want || len(jobs) > 0 {
			t.Errorf("%s:\n got %q\nwant %q, %v", name, got, c.want, jobs)
		}
	}
}

// TestJobsOfPython: a string that is a job file is one, and a command that cannot be read is counted.
func TestJobsOfPython(t *testing.T) {
	text := "#!/usr/bin/env python3\nJOB = \"\"\"[global]\nrw=%s\nbs=4k\n[a]\nsize={size}\n\"\"\"\n" +
		"run('fio --name=b --size=1g --rw=read')\nos.system(x + 'sudo -u me fio --name=c')\n"
	for _, name := range []string{"x.py", "x"} {
		f := Parse(name, []byte(text), Options{})
		if f.Kind != Python || len(f.Jobs) != 2 {
			t.Fatalf("%s: %s with %d jobs", name, f.Kind, len(f.Jobs))
		}
		for _, j := range f.Jobs {
			want := map[bool]int{true: 8, false: 2}[j.Command]
			if j.Line != want || j.Partial {
				t.Errorf("%s: a job at line %d, want %d (partial %v)", name, j.Line, want, j.Partial)
			}
		}
		if !slices.Equal(f.Missed, []int{9}) {
			t.Errorf("%s: missed %v", name, f.Missed)
		}
	}
	if f := Parse("x", []byte("#!/bin/sh\nfio --name=b --size=1g --rw=read\n"), Options{}); f.Kind != Shell {
		t.Errorf("%s", f.Kind)
	}
}

func FuzzPython(f *testing.F) {
	f.Add("c = [fio_path, '--bs=%s' % b, \"--size=\" + s]\nrun(f'''fio {x}\n --y''' + z)\nJ = \"\"\"[a]\nrw=read\n\"\"\"")
	f.Add("c = ('fio --bs=' + f(a)[1] + 'k' % {'x': [1]}, r'\\', '''")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		lines := strings.Split(strings.ToValidUTF8(text, "?"), "\n")
		turned := slices.Clone(lines)
		jobs, missed := fromPython(turned)
		if len(turned) != len(lines) {
			t.Fatalf("%d lines of %d", len(turned), len(lines))
		}
		for _, j := range jobs {
			if j.from < 0 || j.to <= j.from || j.to > len(lines) {
				t.Errorf("job at %+v of %d lines", j, len(lines))
			}
		}
		for _, line := range missed {
			if line < 1 || line > len(lines) {
				t.Errorf("line %d of %d", line, len(lines))
			}
		}
	})
}
