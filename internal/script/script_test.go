package script

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
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
		"an open quote":       {"x.sh", "fio --name=a --description='one\n", []string{"1:1 fio [a]", "1 unread a quote in this command is never closed"}},
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
		"job files in quotes of YAML": {
			"x.yaml", "data:\n  a.fio: '[global]\n\n    rw=read\n\n\n    [a]\n\n    bs=4k\n\n    '\n  b.fio: \"[b]\\nrw=write\\n\\\n    bs=8k\\n\"\n  c: '[1, 2]'\n  d: '[x'\n",
			[]string{"2:1 job [global] rw=read [a] bs=4k", "12:1 job [b] rw=write bs=8k"},
		},
		"empty":  {"x", "", nil},
		"binary": {"x", "\x00\xff\xfe[\n", nil},
	} {
		if got := outline(Parse(c.file, []byte(c.text), Options{})); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\ngives\n  %s\nwant\n  %s", name, c.text, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

// What people run fio through: substitutions, variables, other programs, YAML. Each case gave "0
// fio commands" once.
func TestParseLooksThrough(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"$(…)":                {"x.sh", "IOPS=$(fio --name=a --rw=read --size=16K | grep iops)\n", []string{"1:8 fio [a] rw=read size=16K"}},
		"`…`":                 {"x.sh", "out=`fio --name=a --rw=read`\n", []string{"1:6 fio [a] rw=read"}},
		"in a quote":          {"x.sh", "echo \"$(fio --name=a)\"\n", []string{"1:9 fio [a]"}},
		"$FIO":                {"x.sh", "FIO=/opt/fio/fio\n$FIO --name=a\n", []string{"2:1 fio [a]"}},
		"$FIO_BIN, not set":   {"x.sh", "\"${FIO_BIN}\" --name=a --rw=read\n", []string{"1:1 fio [a] rw=read"}},
		"$OPTS":               {"x.sh", "OPTS=\"--iodepth=64 --size=$S\"\nfio $OPTS --name=a --rw=read\n", []string{"2:1 fio [global] iodepth=64 size=$S [a] rw=read"}},
		"an array":            {"x.sh", "A=(--name=a --rw=read)\nfio \"${A[@]}\" --bs=4k\n", []string{"2:1 fio [a] rw=read bs=4k"}},
		"a command in one":    {"x.sh", "cmd=\"fio --name=a\"\nset -e\neval \"$cmd\"\n$cmd\n", []string{"3:7 fio [a]", "4:1 fio [a]"}},
		"ssh":                 {"x.sh", "ssh -p 22 me@host fio --name=a --rw=read\nssh host 'cd /x && fio --name=b'\n", []string{"1:19 fio [a] rw=read", "2:20 fio [b]"}},
		"ssh <<":              {"x.sh", "ssh host bash <<'E'\nfio --name=a\nE\n", []string{"2:1 fio [a]"}},
		"kubectl, docker":     {"x.sh", "kubectl exec -it pod -- fio --name=a\ndocker run --rm -v /d:/d img/fio --name=b\nsh -c 'fio --name=c'\n", []string{"1:25 fio [a]", "2:26 fio [b]", "3:8 fio [c]"}},
		"timeout, a function": {"x.sh", "run() {\n  timeout 60 sudo -E fio --name=a || exit 1\n}\nif ! fio --name=b; then run fio --name=c; fi\n", []string{"2:22 fio [a]", "4:6 fio [b]", "4:29 fio [c]"}},
		"not commands": {
			"x.sh", "apt-get install fio --yes\necho \"usage: fio --name=a\"\nwhich fio --x\nfio --version\n",
			[]string{"4:1 fio"},
		},
		"Ansible": {
			"x.yml", "- name: run fio --name=no\n  shell: fio --name=a --bs={{ bs }}\n    --rw=read\n- command: >\n    fio --name=b\n    --rw=write\n- command:\n    cmd: \"fio --name=c\"\n- command:\n    argv:\n      - fio\n      - --name=d\n",
			[]string{"2:10 fio [a] bs=${_____} rw=read", "5:5 fio [b] rw=write", "8:11 fio [c]", "11:9 fio [d]"},
		},
		"GitHub Actions": {"x.yaml", "jobs:\n  t:\n    steps:\n    - run: fio --name=a\n    - run: |\n        set -e\n        fio --name=b --bs=${{ matrix.bs }}\n      env: {x: y}\n", []string{"4:12 fio [a]", "7:9 fio [b] bs=$${____________}"}},
		"Kubernetes": {
			"x.yaml", "spec:\n  containers:\n  - command: [\"fio\"]\n    args: [\"--name=a\",\n      '--rw=read']\n  - command: [sh, -c, \"fio --name=b\"]\n  - image: fio\n    args:\n    - --name=c\n    - --rw=write\n",
			[]string{"3:16 fio [a] rw=read", "6:25 fio [b]", "9:7 fio [c] rw=write"},
		},
		"ConfigMap":           {"x.yaml", "kind: ConfigMap\ndata:\n  job.fio: |\n    [a]\n    rw=read\n    size={{ .Values.size }}\n  run.sh: |\n    fio job.fio\n", []string{"4:1 job [a] rw=read size=${_______________}", "8:5 fio  job.fio"}},
		"templates":           {"x.fio.j2", "[global]\n{% if direct %}\ndirect=1\n{% endif %}\n[a]\nrw={{ mode }}\nbs=@BS@\n", []string{"1:1 job [global] direct=1 [a] rw=${_______} bs=${_}"}},
		"a fragment":          {"bw-include.fio", "# for include\nbs=128k\nsize=1g\n", []string{"1:1 job [global] bs=128k size=1g"}},
		"another tool's file": {"x.md", "```\n[benchfio]\ntarget = /dev/md0\ntype = device\nmode = randread\nsize = 10G\niodepth = 1,2,4\nengine = libaio\noutput = x\n```\n", nil},
	} {
		if got := outline(Parse(c.file, []byte(c.text), Options{})); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\ngives\n  %s\nwant\n  %s", name, c.text, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

// What is seen and not read is counted, so that silence means that there is nothing.
func TestParseCountsWhatItCannotRead(t *testing.T) {
	for text, want := range map[string][]int{
		"python - <<E\nos.system('fio --name=a')\nE\nfio --name=b\n":    {2},
		"fio --name=a\n$RUN \"x fio $OPTS\"\n":                          {2},
		"echo fio --name=a\n# fio --name=b\nyum install fio\nls fio/\n": nil,
	} {
		var got []int
		for _, p := range Parse("x.sh", []byte(text), Options{}).Passed {
			got = append(got, p.Line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
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
	f.Add("x.yml", "- shell: >\n    fio --name={{ a }}\n- command: [fio, \"--name=b\"]\n  args:\n  - --rw=read\n")
	f.Add("x.sh", "A=(x y); O=\"fio $A\"; ssh h \"fio --a `$O` $(fio\" <<E\n$(\nE\n")
	bounded.Fuzz(f, func(t *testing.T, name, text string) {
		text = text[:min(len(text), 512)] // larger ones make a fuzzer slow and find no more
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
