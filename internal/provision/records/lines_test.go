package records

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/sys/bounded"
)

// Lines between marks: where they begin and end, and what is left without them.
func TestLinesByHand(t *testing.T) {
	l := &Lines{File: "/etc/fstab", Name: "t", Text: "UUID=1 /d xfs"}
	if lineIndex([]byte("ab\nb\n"), []byte("b\n")) != 3 || lineIndex([]byte("b\n"), []byte("b\n")) != 0 || lineIndex([]byte("ab\n"), []byte("b\n")) != -1 || lineIndex([]byte("xb\nyb\nb\n"), []byte("b\n")) != 6 {
		t.Error("where a line begins")
	}
	for name, old := range map[string]string{"whole": "a\nb\n", "without its end": "a\nb", "empty": ""} {
		now, err := l.Added([]byte(old), true)
		if err != nil || !l.InPlace(now) {
			t.Fatalf("%s: %q %v", name, now, err)
		}
		again, err := l.Added(now, true)
		if err != nil || !bytes.Equal(again, now) {
			t.Errorf("%s: added twice: %q %v", name, again, err)
		}
		rest, remove, err := l.Cut(now)
		if err != nil || string(rest) != old || remove {
			t.Errorf("%s: %q %v %v", name, rest, remove, err)
		}
		more := append(slices.Clone(now), "c\n"...)
		want := strings.TrimSuffix(old, "\n") + "\nc\n" // somebody's line stays a line of its own
		if rest, _, _ := l.Cut(more); string(rest) != strings.TrimPrefix(want, "\n") {
			t.Errorf("%s: %q, want %q", name, rest, want)
		}
	}
	made, err := l.Added(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if rest, remove, err := l.Cut(made); err != nil || len(rest) != 0 || !remove {
		t.Errorf("%q %v %v", rest, remove, err)
	}
	if rest, remove, err := l.Cut(append(made, "x\n"...)); err != nil || string(rest) != "x\n" || remove {
		t.Errorf("%q %v %v", rest, remove, err)
	}
	if after, err := l.Added([]byte("a"), true); err != nil || !strings.HasPrefix(string(after), "a\n") {
		t.Errorf("%q %v", after, err)
	} else if rest, remove, err := l.Cut(after[2:]); err != nil || len(rest) != 0 || remove { // the line before was taken out
		t.Errorf("%q %v %v", rest, remove, err)
	} else if rest, _, err := l.Cut(after[1:]); err != nil || len(rest) != 0 { // it was emptied
		t.Errorf("%q %v", rest, err)
	}
	begin, end := l.Marks()
	broken := begin + "\nUUID=1 /d xfs\n"
	if _, _, err := l.Cut([]byte(broken)); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Error(err)
	}
	if got := l.Foreign([]byte(broken)); len(got) != 1 {
		t.Errorf("%q", got)
	}
	ours := begin + "\nUUID=1 /d xfs noatime\n\nUUID=1 /e xfs\nUUID=2 /d xfs\nUUID=1\n" + end + "\n"
	if got := l.Foreign([]byte(ours)); !slices.Equal(got, []string{"UUID=1 /e xfs", "UUID=2 /d xfs", "UUID=1"}) {
		t.Errorf("%q", got)
	}
	if l.Foreign([]byte("a\n")) != nil || (&Lines{Bare: true}).Foreign([]byte(ours)) != nil {
		t.Error("nothing is foreign where nothing of ours is")
	}
}

// Whatever stands in a file, putting lines in and taking them out again leaves it as it was, also
// with other arrays' lines in between, and also when the first or second half was done twice.
func TestLinesLeaveTheFileAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(rapid.StringMatching(`([ -~]{0,20}\n){0,4}[ -~]{0,9}`).Draw(t, "file"))
		exists := len(before) > 0 || rapid.Bool().Draw(t, "exists")
		a, b := &Lines{File: "/etc/f", Name: "a", Text: "one"}, &Lines{File: "/etc/f", Name: "a.b", Text: "two\nthree"}
		now, err := a.Added(before, exists)
		if err != nil || !a.InPlace(now) {
			t.Fatalf("%q: %v", now, err)
		}
		both, err := b.Added(now, true)
		if err != nil || !a.InPlace(both) || !b.InPlace(both) {
			t.Fatalf("%q: %v", both, err)
		}
		if again, _ := b.Added(both, true); !bytes.Equal(again, both) {
			t.Fatalf("added twice: %q", again)
		}
		rest, _, err := b.Cut(both)
		if err != nil || !bytes.Equal(rest, now) {
			t.Fatalf("%q\n%q: %v", now, rest, err)
		}
		rest, remove, err := a.Cut(rest)
		if err != nil || !bytes.Equal(rest, before) || remove == exists {
			t.Fatalf("%q\n%q, remove %v: %v", before, rest, remove, err)
		}
		if rest2, remove2, _ := a.Cut(rest); !bytes.Equal(rest, rest2) || remove2 {
			t.Fatalf("cut twice: %q", rest2)
		}
	})
}

// What a person changed around the lines stays; what they changed within goes.
func TestLinesAmongEdits(t *testing.T) {
	l := &Lines{File: "/etc/fstab", Name: "data", Text: "UUID=1 /data xfs noatime,nofail 0 0"}
	file, err := l.Added([]byte("first\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace("zero\n"+string(file)+"last\n", "noatime", "relatime", 1)
	if l.InPlace([]byte(edited)) {
		t.Error("a changed line passes for ours")
	}
	rest, _, err := l.Cut([]byte(edited))
	if err != nil || string(rest) != "zero\nfirst\nlast\n" {
		t.Errorf("%q: %v", rest, err)
	}
	if _, _, err := l.Cut([]byte(strings.Replace(edited, "# plimsoll data: end\n", "", 1))); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("without its end: %v", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("# plimsoll a: begin, in a file of its own; plimsoll array teardown takes these lines out\n# plimsoll a: end\n"))
	f.Add([]byte("x\n# plimsoll a: end\n# plimsoll a: begin; plimsoll array teardown takes these lines out\n"))
	bounded.Fuzz(f, func(t *testing.T, file []byte) {
		l := &Lines{File: "/etc/f", Name: "a", Text: "one"}
		now, err := l.Added(file, true)
		if err != nil {
			return
		}
		if !l.InPlace(now) {
			t.Errorf("%q: added, and not there", now)
		}
	})
}

// Lines of others between the marks are named by verify, and by teardown before it cuts them out.
func TestForeignLines(t *testing.T) {
	l := &Lines{File: "/etc/fstab", Name: "data", Text: "UUID=1 /data xfs noatime,nofail 0 0"}
	whole, err := l.Added([]byte("UUID=0 / ext4 defaults 0 1\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{l.Text, "UUID=1 /data xfs noatime,nofail,logbufs=8 0 0", ""},
		{l.Text + "\n", l.Text + "\n/dev/sdz1 /home ext4 defaults 0 2\n", "/dev/sdz1 /home ext4 defaults 0 2"},
		{l.Text + "\n", "# mine\n" + l.Text + "\n\n", "# mine"},
		{l.Text, "UUID=2 /data xfs noatime,nofail 0 0", "UUID=2 /data xfs noatime,nofail 0 0"},
		{"# plimsoll data: end\n", "", "the line # plimsoll data: end is gone"},
	} {
		got := l.Foreign([]byte(strings.Replace(string(whole), c.from, c.to, 1)))
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q -> %q: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got := l.Foreign([]byte("UUID=0 / ext4 defaults 0 1\n")); got != nil {
		t.Errorf("without the block: %q", got)
	}
}

// A line that others have written goes wherever it stands whole.
func TestBareLines(t *testing.T) {
	for text, want := range map[string]string{"a\nb\na\n": "b\na\n", "b\na": "b\n", "aa\n": "aa\n", "": "", "\ta\n": "\ta\n"} {
		if got := (&Lines{Text: "a"}).cutBare([]byte(text)); string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
