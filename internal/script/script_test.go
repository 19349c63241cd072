package script

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// outline prints what was found: "5:3 fio [a rw=read size=1m]".
func outline(f *File) []string {
	var out []string
	for _, j := range f.Jobs {
		kind := "job"
		if j.Command {
			kind = "fio"
		}
		text := strings.ReplaceAll(strings.TrimSpace(string(j.File.Text())), "\n\n", " ")
		out = append(out, fmt.Sprintf("%d:%d %s %s %s", j.Line, j.Col, kind, strings.ReplaceAll(text, "\n", " "), strings.Join(j.File.Files, " ")))
	}
	for _, c := range f.Commands {
		var words []string
		for _, w := range c.Words {
			words = append(words, w.Text)
		}
		out = append(out, fmt.Sprintf("%d:%d %s", c.Line, c.Col, strings.Join(words, " ")))
	}
	for _, u := range f.Unread {
		out = append(out, fmt.Sprintf("%d unread %s", u.Line, u.Why))
	}
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

func TestParseFindsJobsAndCommands(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"job file by its content": {"x", "; c\n[a]\nrw=read\n", []string{"2:1 job [a] rw=read"}},
		"job file with an error":  {"x.fio", "rw=read\n[a]\n", []string{`1 unread option "rw=read" stands before the first [section]`}},
		"other INI files":         {"x", "[Unit]\nExecStart=/usr/bin/fio --name=a\n", nil},
		"script": {
			"x.sh", "#!/bin/bash\nset -e\nsudo -u root nice -n 5 ./bin/fio --name=a --rw=read && echo done | tee log\n",
			[]string{"3:24 fio [a] rw=read"},
		},
		"continued lines": {"x.sh", "fio --name=a \\\n    --rw=read \\\n    > out\n", []string{"1:1 fio [a] rw=read"}},
		"a quote over lines": {
			"x.sh", "fio --name=a --description='one\ntwo' --rw=read\nfio --name=b\n",
			[]string{"1:1 fio [a] description=one two rw=read", "3:1 fio [b]"},
		},
		"an open quote":       {"x.sh", "fio --name=a --description='one\n", []string{"1:1 fio [a] description=", "1 unread a quote of this command is never closed"}},
		"loops":               {"x.sh", "for bs in 4k 8k; do\n  fio --name=a --bs=$bs\ndone\n", []string{"2:3 fio [a] bs=$bs"}},
		"variables":           {"x.sh", "BS=4k\nfio --name=a --bs=$BS --size=${SIZE}\n", []string{"2:1 fio [a] bs=4k size=${SIZE}"}},
		"variables that vary": {"x.sh", "BS=4k\nBS=8k\nfio --name=a --bs=$BS\n", []string{"3:1 fio [a] bs=$BS"}},
		"here-documents": {
			"x.sh", "cat > a.fio <<EOF\n[a]\nrw=read\nEOF\nfio a.fio\ncat <<'X'\nfio --name=no\nX\n",
			[]string{"2:1 job [a] rw=read", "5:1 fio  a.fio"},
		},
		"not commands": {"x.sh", "echo fio --name=a\n# fio --name=b\nyum install -y fio\nalias f='fio --name=c'\ngrep -c fio --name=d\n", nil},
		"Markdown": {
			"x.md", "fio is a tool. fio --help tells.\n\n1. Do\n   ``` bash\n   [me@host dir]$ sudo fio --name=a --rw=read\n   # fio --name=b\n   ```\n\n    $ mkfs.xfs /dev/sdb\n\nfio --name=c --rw=write\n\n```ini\n ; head\n[d]\nrw=${MODE}\n```\n```\nMODE=trim fio d.fio\n```\n",
			[]string{"5:24 fio [a] rw=read", "6:6 fio [b]", "11:1 fio [c] rw=write", "15:1 job [d] rw=trim", "19:11 fio  d.fio", "9:7 mkfs.xfs /dev/sdb"},
		},
		"prose is no command":      {"x.md", "mount the device, then fio runs.\nmount /dev/sdb /data is what you type.\n", nil},
		"an open fence":            {"x.md", "```\nfio --name=a\n", []string{"2:1 fio [a]"}},
		"columns count characters": {"x.md", "```\necho äöü; fio --name=a\n```\n", []string{"2:11 fio [a]"}},
		"long dashes":              {"x.md", "```\nfio —name a –rw=read −−bs=4k\n```\n", []string{"2:1 fio [a] rw=read bs=4k"}},
		"empty":                    {"x", "", nil},
		"binary":                   {"x", "\x00\xff\xfe[\n", nil},
	} {
		if got := outline(Parse(c.file, []byte(c.text), Options{})); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\ngives\n  %s\nwant\n  %s", name, c.text, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

func TestIncludesAndEnvironmentComeFromOutside(t *testing.T) {
	opts := Options{
		Env: func(name string) (string, bool) { return "7", name == "N" },
		Include: func(name string) ([]byte, error) {
			if name == "dir/common" {
				return []byte("bs=4k\n"), nil
			}
			return nil, os.ErrNotExist
		},
	}
	f := Parse("dir/x.fio", []byte("[a]\ninclude common\nnumjobs=${N}\nsize=${S}\n"), opts)
	if got, want := outline(f), []string{"1:1 job [a] bs=4k numjobs=7 size=${S}"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlacesAreThoseOfTheDocument(t *testing.T) {
	text := "# T\n\n  ```\n  fio --name=a \\\n      --bs=4k   --size=1g\n  ```\n  ```\n  [b]\n  rw=read\n  ```\n"
	f := Parse("x.md", []byte(text), Options{})
	lines := strings.Split(text, "\n")
	for _, j := range f.Jobs {
		for _, s := range j.File.Sections {
			for _, o := range s.Options {
				if !strings.HasPrefix(strings.TrimPrefix(lines[o.Line-1][o.Col-1:], "--"), o.String()) {
					t.Errorf("%s is not at %d:%d", o, o.Line, o.Col)
				}
			}
		}
	}
	if len(f.Jobs) != 2 {
		t.Errorf("%d jobs", len(f.Jobs))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("x.md", "```\nfio --name=a \\\n --bs=4k\n```\n[b]\nrw=read\n")
	f.Add("x.sh", "for i in 1; do fio —name=a <<E\n[a]\nrw=read\nE\ndone\nmount -o x /dev/a /b")
	f.Add("x.fio", "[a]\nrw=read # plimsoll: disable=PL101 x\ninclude y\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		file := Parse(name, []byte(text), Options{})
		lines := strings.Count(text, "\n") + 1
		for _, j := range file.Jobs {
			if j.Line < 1 || j.Line > lines {
				t.Fatalf("job at line %d of %d", j.Line, lines)
			}
		}
		for line := range lines {
			file.Disabled("PL101", line+1)
		}
	})
}
