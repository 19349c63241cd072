package script

import (
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
)

// What scripts build before they run it is read, each option where it stands.
func TestBuiltCommandsAndFilesAreRead(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"a variable that grows":   {"x.sh", "O='--name=a'\nif x; then O+=\" --foo=1\"; fi\nfio $O --rw=read\n", "foo"},
		"an element of its own":   {"x.sh", "A=(--name=a --rw=read)\nA+=(\"--foo=$T\")\nfio \"${A[@]}\"\n", "foo"},
		"an array that grows":     {"x.sh", "A=(--name=a)\nA+=(--foo=2 --rw=read)\nfio \"${A[@]}\"\n", "foo"},
		"a function":              {"x.sh", "_fio() { fio --direct=1 \"$@\"; }\n_fio --name=a --foo=1\n", "foo"},
		"the function's own":      {"x.sh", "run() {\n  sudo fio --foo=1 \"$@\"\n}\nrun --name=a --rw=read\n", "foo"},
		"inline code in Markdown": {"x.md", "Run `fio --name=a --rw=read --foo=1` and wait.\n", "foo"},
		"a list in Markdown":      {"x.md", "- `sudo fio --name=a --foo=1 --bs=4k`\n", "foo"},
		"CMD of a Dockerfile":     {"Dockerfile", "FROM x\nCMD [\"fio\", \"--name=a\", \"--foo=1\"]\n", "foo"},
		"a Makefile":              {"Makefile", "bench: all\n\tfio --name=a --rw=read \\\n\t  --foo=1\n", "foo"},
		"a job file named .sh":    {"x.sh", "[global]\nioengine=libaio\n[a]\nrw=read\nfoo=1\n", "foo"},
		"a script of Korn":        {"x.ksh", "#!/bin/ksh\nfio --name=a --rw=read --foo=1\n", "foo"},
		"Org":                     {"x.org", "* T\n#+BEGIN_SRC sh\nfio --name=a --rw=read --foo=1\n#+END_SRC\n", "foo"},
		"reStructuredText":        {"x.rst", "Run::\n\n    fio --name=a --rw=read --foo=1\n\n", "foo"},
		"RUN of a Dockerfile":     {"Dockerfile", "FROM x\nRUN apt install fio && \\\n  fio --name=a --foo=1\n", "foo"},
	} {
		f := Parse(c.file, []byte(c.text), Options{})
		found := 0
		for _, j := range f.Jobs {
			for _, s := range j.File.Sections {
				for _, o := range s.Options {
					if o.Name == c.want {
						found++
						if !strings.Contains(f.Source(o.Line), c.want) && !strings.Contains(name, "own") && !strings.Contains(name, "grows") {
							t.Errorf("%s: line %d is %q", name, o.Line, f.Source(o.Line))
						}
					}
				}
			}
		}
		if found == 0 || len(f.Unread) > 0 {
			t.Errorf("%s: %s was not found: %+v, unread %v, missed %v", name, c.want, f.Jobs, f.Unread, f.Passed)
		}
	}
	for _, prose := range []string{"Use `fio --bs` for that.\n", "See `fio --help`.\n"} {
		if f := Parse("x.md", []byte(prose), Options{}); len(f.Unread)+len(f.Passed) > 0 {
			t.Errorf("%q: %v %v", prose, f.Unread, f.Passed)
		}
	}
	for _, other := range []string{
		"kubectl logs -l kbench=fio -f\n", "screen -S fio -d -m sh\n", "kubestr fio -f x.fio -s y\n", "echo \"Running fio --name\"\n",
	} {
		if f := Parse("x.sh", []byte(other), Options{}); len(f.Passed) > 0 {
			t.Errorf("%q is taken for a fio command", other)
		}
	}
}

// FuzzDockerfile reads any text as a Dockerfile, with what scripts build in it.
func FuzzDockerfile(f *testing.F) {
	f.Add("CMD [\"fio\", \"--name=a\"]\n")
	f.Add("RUN O+=x; f() { fio \"$@\"; }; f --name=a; echo '[a]' > x\n")
	bounded.Fuzz(f, func(_ *testing.T, text string) { Parse("Dockerfile", []byte(text), Options{}) })
}

// FuzzForeign reads any bytes as a job file.
func FuzzForeign(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("\xfe\xff\x00a\x00"))
	bounded.Fuzz(f, func(t *testing.T, text []byte) {
		f := Parse("x.fio", text, Options{})
		plain, _, _ := decoded(text)
		if want := strings.Count(strings.TrimSuffix(plain, "\n"), "\n") + 1; len(f.lines) != want {
			t.Fatalf("%d lines become %d", want, len(f.lines))
		}
	})
}
