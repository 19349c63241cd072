package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/sys/bounded"
)

func TestSplitShell(t *testing.T) {
	for line, want := range map[string][]string{
		`fio --name=a  --rw=read`:                          {"fio", "--name=a", "--rw=read"},
		"fio --name=a \\\n    --rw=read\\\n --bs=4k":       {"fio", "--name=a", "--rw=read", "--bs=4k"},
		"fio \\\r\n --bs=4k\r":                             {"fio", "--bs=4k"},
		`fio --description="two words" --name='a b'"c"\ d`: {"fio", "--description=two words", "--name=a bc d"},
		`fio --x="a \"b\" \$c \n" # comment`:               {"fio", `--x=a "b" $c \n`},
		`fio --bs=4k > out.txt 2>&1 < in`:                  {"fio", "--bs=4k"},
		`fio --bs=4k | tee x`:                              {"fio", "--bs=4k"},
		`fio --bs=4k; rm x`:                                {"fio", "--bs=4k"},
		`fio --size=$(( 2 * 3 ))k --name=$(hostname -s)`:   {"fio", "--size=$(( 2 * 3 ))k", "--name=$(hostname -s)"},
		"fio --name=`hostname -s` a#b":                     {"fio", "--name=`hostname -s`", "a#b"},
		`fio ""`:                                           {"fio", ""},
		"\n\n  fio x":                                      {"fio", "x"},
		"":                                                 nil,
	} {
		got, err := Split(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
	for _, bad := range []string{`fio "a`, `fio 'a`} {
		if got, err := Split(bad); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestShellWordsTellPlaces(t *testing.T) {
	words, err := Words("a 'b\nc' \\\n  d;e")
	if err != nil {
		t.Fatal(err)
	}
	want := []Word{{Text: "a", Line: 1, Col: 1}, {Text: "b\nc", Line: 1, Col: 3}, {Text: "d", Line: 3, Col: 3}, {";", true, 3, 4}, {Text: "e", Line: 3, Col: 5}}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
}

// What bash makes of our quoting is what we put in.
func TestShellLineIsReadBackByBash(t *testing.T) {
	words := []string{"a b", "it's", `"$HOME"`, "$(id)", "`id`", "", "a\nb", `\`, "x;y|z&", "*", "~", "é", "--bs=${BS}k$jobname", "#x"}
	out, err := exec.CommandContext(t.Context(), "bash", "-c", "BS=4; printf '%s\\0' "+Line(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(words)
	want[12] = "--bs=4k$jobname"
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, want) {
		t.Errorf("bash reads\n%q, want\n%q", got, want)
	}
}

func FuzzShellWords(f *testing.F) {
	f.Add("fio --name=a \\\n --bs=\"4k\" 'x' $(y) > z # c")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		words, err := Words(text)
		for _, w := range words {
			if w.Line < 1 || w.Col < 1 {
				t.Fatalf("%q: word %+v has no place", text, w)
			}
		}
		if err != nil {
			return
		}
		argv, err := Split(text)
		if err != nil || slices.ContainsFunc(argv, func(s string) bool { return strings.ContainsAny(s, "$`\x00") }) {
			return
		}
		if again, err := Split(Line(argv)); err != nil || !slices.Equal(argv, again) {
			t.Fatalf("%q becomes %q: %v", argv, again, err)
		}
	})
}
