package lint

import (
	"strings"
	"testing"

	"plimsoll/internal/script"
)

// TestEditsStandWhereTheySay repairs values in lines that hold the same text elsewhere, too, and holds
// that each repair is of the text that stands at its place.
func TestEditsStandWhereTheySay(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.fio", "[a]\nrw=randread\nbs=4KiB ; bs=4KiB note\nsize=1g\n", "[a]\nrw=randread\nbs=4k ; bs=4KiB note\nsize=1g\n"},
		{"a.fio", "[a]\nrw = randread ; = randread\nsize=1g\n", "[a]\nrw =randread ; = randread\nsize=1g\n"},
		{"a.fio", "[a]\nrw=read\nio-size=1g ; size\n", "[a]\nrw=read\nio_size=1g ; size\n"},
		{"a.sh", "fio --name=bs=4KiB --rw=read --bs=4KiB --size=1g\n", "fio --name=bs=4KiB --rw=read --bs=4k --size=1g\n"},
		{"a.sh", "fio --name=a --rw=read '--bs=4KiB' --size=1g\n", "fio --name=a --rw=read '--bs=4k' --size=1g\n"},
		{"a.sh", "fio --name=a --rw=read --bs=\"4KiB\" --size=1g\n", "fio --name=a --rw=read --bs=\"4k\" --size=1g\n"},
		{"a.sh", "fio --name=a --rw read --bs 4KiB --size 1g\n", "fio --name=a --rw read --bs 4k --size 1g\n"},
		{"a.sh", "fio -name=é -rw=read -bs=4KiB -size=1g\n", "fio -name=é -rw=read -bs=4k -size=1g\n"},
		{
			"a.sh", "fio --name=\xe9 --rw=read --bs=4KiB --size=1g\nfio --name=b --rw=read --bs=4KiB --size=1g\n",
			"fio --name=\xe9 --rw=read --bs=4KiB --size=1g\nfio --name=b --rw=read --bs=4k --size=1g\n",
		},
		{"a.sh", "BS=4KiB\nfio --name=a --rw=read --bs=$BS --size=1g\n", "BS=4KiB\nfio --name=a --rw=read --bs=$BS --size=1g\n"},
		{"a.sh", "fio --name=a --rw=read --bs=4K\"iB\" --size=1g\n", "fio --name=a --rw=read --bs=4K\"iB\" --size=1g\n"},
	} {
		file := script.Parse(c.name, []byte(c.text), script.Options{})
		found := Judge(NewCase(Case{Scripts: []*script.File{file}})).Found
		if len(found) == 0 {
			t.Errorf("%q: nothing found", c.text)
		}
		for _, f := range found {
			for _, e := range f.Edits {
				line := []rune(strings.Split(c.text, "\n")[e.Line-1])
				if !strings.HasPrefix(string(line[e.Col-1:]), e.Old) {
					t.Errorf("%q: %+v does not stand there", c.text, e)
				}
			}
		}
		if got, _ := Fix(c.text, found); got != c.want {
			t.Errorf("%q:\n%q, want\n%q", c.text, got, c.want)
		}
	}
}

// TestJudgedInOnePass holds that what a comment silences is found, once, beside what it does not.
func TestJudgedInOnePass(t *testing.T) {
	file := textOf("a.fio", "[a]\nrw=randread\niodepth=32 # plimsoll: disable=PL103 meant\nsize=1g\n"+
		"[b]\nrw=randread\niodepth=32\nsize=1g\ndirect=tru\n")
	j := Judge(NewCase(Case{Scripts: []*script.File{file}}))
	if len(j.Silenced) != 1 || j.Silenced[0].Line != 3 || j.Silenced[0].File != "a.fio" {
		t.Errorf("silenced: %+v", j.Silenced)
	}
	for _, f := range j.Found {
		if f.Line == 3 {
			t.Errorf("found, too: %+v", f)
		}
	}
}
