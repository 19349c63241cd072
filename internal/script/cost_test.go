package script

import (
	"fmt"
	"strings"
	"testing"
)

// TestDocumentsHaveLimits: what is beyond a limit is named once, with its line, and what is within it
// is read.
func TestDocumentsHaveLimits(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		jobs             int
		unread           string // with its line; "" for nothing
	}{
		{"as many commands as there may be", "x.sh", strings.Repeat("fio --name=a\n", mostCommands), mostCommands, ""},
		{"one more", "x.sh", strings.Repeat("fio --name=a\n", mostCommands+1), mostCommands, "2049: more than 2,048 jobs"},
		{
			"many more", "x.md", "```\n" + strings.Repeat("fio --name=a\n", 3*mostCommands) + "```\n", mostCommands,
			"2050: more than 2,048 jobs",
		},
		{
			"very many words", "x.sh", "fio --name=a\n" + strings.Repeat("fio --name=b"+strings.Repeat(" --bs=4k", 2000)+"\n", 30),
			25, "26: more than 2,048 jobs",
		},
		{"a long command", "x.sh", "fio --name=a\nfio --name=b" + strings.Repeat(" --bs=4k", 200_000) + "\nfio --name=c\n", 2, "2: a command of more than 64 KiB"},
		{"a long line of something else", "x.sh", "fio --name=a\necho " + strings.Repeat("x ", 200_000) + "\nfio --name=c\n", 2, ""},
		{
			"many pieces", "x.md", strings.Repeat("`fio -name=a -bs=4k`\n", mostPieces+1), mostPieces,
			fmt.Sprint(mostPieces+1) + ": more than 2,048 pieces of shell",
		},
		{"many job files", "x.sh", strings.Repeat("cat >x.fio <<E\n[a]\nrw=read\n[b]\nrw=read\nE\n", mostCommands), mostCommands / 2, "6146: more than 2,048 jobs"},
		{"a job file in the middle", "x.sh", "\n\ncat >x.fio <<E\n[a]\nrw=read\nno option\nE\n", 1, ""},
	} {
		f := Parse(c.file, []byte(c.text), Options{})
		var unread []string
		for _, u := range f.Unread {
			unread = append(unread, fmt.Sprintf("%d: %s", u.Line, u.Why))
		}
		said := strings.Join(unread, "\n")
		if len(f.Jobs) != c.jobs || len(unread) > 1 || !strings.HasPrefix(said, c.unread) || c.unread == "" && said != "" {
			t.Errorf("%s: %d jobs, unread %q; want %d, %q", c.name, len(f.Jobs), said, c.jobs, c.unread)
		}
	}
	f := Parse("x.sh", []byte("\n\ncat >x.fio <<E\n[a]\nrw=read\n\nbs=4k\nE\n"), Options{})
	if s := f.Jobs[0].File.Sections[0]; s.Line != 4 || s.Options[1].Line != 7 || f.Jobs[0].Line != 4 {
		t.Errorf("a job in a document: section in line %d, option in %d", s.Line, s.Options[1].Line)
	}
}

// TestDisabledByLine: comments of one code that overlap silence what each of them covers.
func TestDisabledByLine(t *testing.T) {
	f := Parse("x.fio", []byte("[a]\nrw=read # plimsoll: disable=PL103,PL107 x\n# plimsoll: disable=PL103 x\n[b]\nrw=read\nbs=4k\n[c]\nrw=read\n"), Options{})
	var silenced []int
	for line := range 10 {
		if f.Disabled("PL103", line) {
			silenced = append(silenced, line)
		}
	}
	if fmt.Sprint(silenced) != "[2 3 4 5 6]" && fmt.Sprint(silenced) != "[2 4 5 6]" {
		t.Errorf("PL103 is silenced in lines %v", silenced)
	}
	if !f.Disabled("PL107", 2) || f.Disabled("PL107", 4) || f.Disabled("PL999", 2) {
		t.Error("PL107 is silenced in line 2 alone")
	}
}
