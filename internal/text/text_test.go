package text

import (
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"

	"plimsoll/internal/sys/bounded"
)

func TestPrinters(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Percent(0.2636), "26.4 %"},
		{Percent(12.5), "1,250.0 %"},
		{PlusMinus(0.032), "± 3.2 %"},
		{Article("is4gen.medium"), "an is4gen.medium"},
		{Article("m5.large"), "an m5.large"},
		{Article("c8g.large"), "a c8g.large"},
		{Article("Standard_D8s_v5"), "a Standard_D8s_v5"},
		{Article("mac1.metal"), "a mac1.metal"},
		{Article("u-6tb1.metal"), "a u-6tb1.metal"},
		{Article(""), "a "},
		{Share(0.7), "70 %"},
		{Share(0.125), "12.5 %"},
		{Change(0.0321), "+3.2 %"},
		{Change(-0.0004), "+0.0 %"},
		{Change(-12.5), "-1,250.0 %"},
		{Between(-0.012, 0.063), "[-1.2, +6.3]"},
		{Factor(1.046875), "1.0469"},
		{Factor(2), "2"},
		{Factor(0.36788), "0.36788"},
		{Factor(0), "0"},
		{Factor(12345.6), "12346"},
		{Times(3.94), "3.9x"},
		{Times(4), "4x"},
		{Ratio(2.4995), "x2.50"},
		{Ratio(0.675), "x0.68"},
		{Of("1,823 IOPS", "1,846 IOPS"), "1,823 of 1,846 IOPS"},
		{Of("980 MiB/s", "1.2 GiB/s"), "980 MiB/s of 1.2 GiB/s"},
		{Plural(1, "step"), "1 step"},
		{Plural(0, "step"), "0 steps"},
		{Plural(1200, "I/O"), "1,200 I/Os"},
		{Plural(2, "entry", "entries"), "2 entries"},
		{Several([]int{7, 8}, "entry", "entries"), "2 entries"},
		{Either(true, "yes", "no") + Either(false, "yes", "no"), "yesno"},
		{Duration(0), "0 s"},
		{Duration(250 * time.Millisecond), "250 ms"},
		{Duration(12540 * time.Millisecond), "12.5 s"},
		{Duration(90 * time.Second), "90 s"},
		{Duration(150 * time.Second), "2 min 30 s"},
		{Duration(30 * time.Minute), "30 min"},
		{Duration(time.Hour), "1 h"},
		{Duration(90 * time.Minute), "1 h 30 min"},
		{Duration(5*time.Hour + 20*time.Second), "5 h"},
		{Duration(72 * time.Hour), "3 days"},
		{Duration(math.MinInt64), "-106,751 days"},
		{List([]string{"a"}), "a"},
		{List([]string{"a", "b", "c"}), "a, b and c"},
		{Some([]string{"a", "b", "c", "d", "e"}, 3), "a, b and 3 more"},
		{Some([]string{"a", "b", "c"}, 3), "a, b and c"},
		{Sentence("the disk is full"), "The disk is full."},
		{Sentence("Is it?"), "Is it?"},
		{PadLeft("µs", 4) + PadRight("–", 3) + "|", "  µs–  |"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestWrapNeverSplitsAWord(t *testing.T) {
	s := "its volume limits are unknown; declare them, for example with " + strings.ReplaceAll("--volumes 3000iops:125MiB/s", " ", NoBreak) + " or in plimsoll.yaml"
	lines := Wrap(s, 40, "note: ", "      ")
	joined := strings.Join(lines, "\n")
	if !strings.Contains(joined, "--volumes 3000iops:125MiB/s") {
		t.Errorf("the flag is split:\n%s", joined)
	}
	for i, l := range lines {
		if Width(l) > 40 {
			t.Errorf("line %d has %d columns: %q", i+1, Width(l), l)
		}
		if i > 0 && !strings.HasPrefix(l, "      ") {
			t.Errorf("line %d is not indented: %q", i+1, l)
		}
	}
	if lines := Wrap("a-very-long-word-that-does-not-fit-here b", 10, "", ""); len(lines) != 2 {
		t.Errorf("got %q, want two lines", lines)
	}
	if lines := Wrap("\x1b[31mred\x1b[0m green", 9, "", ""); len(lines) != 1 {
		t.Errorf("escape sequences take columns: %q", lines)
	}
}

func TestCleanHidesNothing(t *testing.T) {
	for in, want := range map[string]string{
		"plain":             "plain",
		"\x1b[31mred":       "\ufffd[31mred",
		"a\u202eb":          "a\ufffdb",
		"two\nlines\tthere": "two lines there",
		"bad\xffbyte":       "bad\ufffdbyte",
	} {
		if got := Clean(in, 0); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := Clean("0123456789", 5); got != "0123…" {
		t.Errorf("cut to %q", got)
	}
}

// TestShellQuote asks shells what they read: scripts that begin with #!/bin/sh are run by dash on Debian.
func TestShellQuote(t *testing.T) {
	args := []string{
		"", "plain", "two words", "it's", "$(id)", "`id`", "a\nb", "\n", "tab\there", "back\\slash", "ünï", "*?[a]", "!x",
		"~", "\x1b[0m",
		"a\u00a0'$(echo planted) #", "-n\x01", "%s\x7f\\047'\"$HOME!", "\xff\xfe'", "end\n\n", "\u2028", "\ufffd",
	}
	n := 0
	for _, shell := range []string{"sh", "dash", "bash", "ksh", "zsh"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		n++
		out, err := exec.Command(shell, "-c", "printf '%s\\0' "+ShellLine(args)).Output()
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			want := strings.TrimRight(args[i], "\n")
			want += strings.Repeat("\ufffd", len(args[i])-len(want))
			if got != want {
				t.Errorf("%s reads %q as %q", shell, args[i], got)
			}
		}
	}
	if n == 0 {
		t.Skip("no shell is installed, so its reading of quoted words is not tested")
	}
}

func FuzzForeign(f *testing.F) {
	for _, s := range []string{"", "it's", "\x1b[31m", "a\u202eb", strings.Repeat("x", 200)} {
		f.Add(s)
	}
	bounded.Fuzz(f, func(t *testing.T, s string) {
		for _, got := range []string{Clean(s, 40), Quote(s), ShellQuote(s)} {
			if strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
				t.Errorf("%q became %q, which is not printable", s, got)
			}
		}
		if Width(Clean(s, 40)) > 40 {
			t.Errorf("%q became %q, which is wider than 40 columns", s, Clean(s, 40))
		}
	})
}
