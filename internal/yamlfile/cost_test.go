package yamlfile

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// repeat makes about n bytes of a piece.
func repeat(piece string, n int) string { return strings.Repeat(piece, n/len(piece)+1) }

// hostile are documents of up to n bytes that cost more than they look, and a long row of each sign that
// YAML has.
func hostile(n int) map[string]string {
	var merge, laughs, steps, keys strings.Builder
	merge.WriteString("k0: &k0 {a: 1}\n")
	laughs.WriteString("k0: &k0 [x, x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&merge, "k%d: &k%d {<<: [*k%d, *k%d]}\n", i, i, i-1, i-1)
		fmt.Fprintf(&laughs, "k%d: &k%d [*k%d, *k%d]\n", i, i, i-1, i-1)
	}
	for i := 0; steps.Len() < n; i++ {
		steps.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for i := 0; keys.Len() < n; i++ {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	all := map[string]string{
		"merge": merge.String(), "laughs": laughs.String(), "steps": steps.String(), "keys": keys.String(),
		"self": "a: &a [*a]\n", "aliases": "a: &a 1\nb: [" + repeat("*a, ", n) + "]\n",
		"string": `a: "` + repeat("x\n ", n), "block": "a: |\n" + repeat(" x\n", n), "fold": "a: >\n" + repeat(" x\n\n", n),
		"number": "a: " + repeat("9", n), "keep": "a: |+\n" + repeat(" \n", n), "anchors": "a: " + repeat("&a ", n),
		"tags": "a: " + repeat("!a ", n), "list": "[" + repeat("1,", n), "lines": "a:\n" + repeat("- b: 1\n", n),
	}
	for _, piece := range []string{
		"[", "{", "{a: ", "[a: ", "- ", "? ", ": ", "a: ", "&a ", "*a ", "! ", "!!", "'", "\"", "|\n", ">\n", "-\n", "?\n", "#\n", "#",
		"---\n", "...\n", "%", "@", "`", ",", "]", "}", "\n", " ", "\t", "\\", "\r", "\xff", "\ufeff", "x", "x\n", "<<: ", "\x00", "a:\n- ",
	} {
		all[fmt.Sprintf("%q", piece)] = repeat(piece, n)
		all[fmt.Sprintf("a: %q", piece)] = "a: " + repeat(piece, n)
	}
	return all
}

// TestCosts reads documents of 1 MB, and of the most that is parsed, and counts the bytes that are
// allocated, which do not depend on how fast the machine is.
func TestCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for _, n := range []int{1 << 20, mostBytes - 100, mostTokens / 2, mostTokens} {
		for name, text := range hostile(n) {
			var into struct {
				A any
				K map[string]any
			}
			if got := allocated(func() {
				_ = Decode([]byte(text), &into)
				_, _ = Parse([]byte(text))
			}); got > 128<<20 { // 64 MiB each, nothing of it freed
				t.Errorf("%d bytes of %s: %d MiB", n, name, got>>20)
			}
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestRefusesBombs: what is refused is named with its place and what to do, and its neighbour is
// read.
func TestRefusesBombs(t *testing.T) {
	bombs := hostile(1000)
	nested := func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ text, want string }{
		{bombs["merge"], "f:2: merge keys (<<) are not read: write the keys out"},
		{"a: &a {x: 1}\nb:\n  <<: *a\n", "f:3: merge keys (<<) are not read: write the keys out"},
		{bombs["laughs"], "f:12: aliases stand for more than 20,000 values: write out what is meant"},
		{bombs["self"], `f:1: alias "*a" stands in itself: write out what is meant`},
		{nested(mostDepth), "f:1: nested more than 32 levels deep: flatten it"},
		{strings.Repeat("- ", mostDepth+1) + "x", "f:1: nested more than 32 levels deep: flatten it"},
		{strings.Repeat("- x\n", mostTokens/2+1), "f:5001: more than 10,000 words and signs: split the file"},
		{"a: " + strings.Repeat("x", mostBytes), "f: 131,075 bytes: want at most 131,072; split the file"},
	} {
		for _, read := range []func([]byte) error{
			func(b []byte) error { _, err := Parse(b); return err },
			func(b []byte) error { var into any; return Decode(b, &into) },
			func(b []byte) error { var into any; return Ordered(b, &into) },
		} {
			if err := Wrong("f", []byte(c.text), read([]byte(c.text))); err.Error() != c.want {
				t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
			}
		}
	}
	for _, fine := range []string{
		"a: &a {x: 1}\nb: *a\nc: [*a, *a]\n",
		"a: '<<: x'\n'<<': 1\n",
		"a: |\n  <<: *b\n  [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n",
		// on one line, and flat
		"volumes: [" + strings.Repeat("{serial: a, iops: 300, merge: 4, type: gp3}, ", 40) + "{serial: b}]\n",
		nested(mostDepth - 1), strings.Repeat("- ", mostDepth) + "x",
		strings.Repeat("- x\n", mostTokens/2), "a: " + strings.Repeat("x", mostBytes-10),
	} {
		var into any
		if err := Decode([]byte(fine), &into); err != nil {
			t.Errorf("%.60q: %v", fine, err)
		}
	}
}
