package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unicode/utf16"

	"plimsoll/internal/fio"
)

// hostileTexts are real outputs in all forms, as far as the repository holds them.
func hostileTexts(t *testing.T) [][]byte {
	t.Helper()
	var texts [][]byte
	for _, pattern := range []string{
		"../../testdata/seeds/*", "../fio/output/testdata/json/*", "../fio/foreign/testdata/*", "../fio/output/testdata/versions/*",
	} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, names, err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > 256<<10 {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, data)
		}
	}
	return texts
}

// spoil does one or two of the things to a text that pasting, mailing, editing and attacking do.
func spoil(r *rand.Rand, text []byte, other []byte) (spoiled []byte, how string) {
	numbers := []string{"99999999999999999999", "-1", "nan", "1e308", "inf", "0", "18446744073709551615", "0.000000001", ""}
	for range 1 + r.IntN(2) {
		at := r.IntN(len(text) + 1)
		lines := bytes.SplitAfter(text, []byte("\n"))
		a, b := r.IntN(len(lines)), r.IntN(len(lines))
		switch which := r.IntN(10); which {
		case 0:
			text, how = text[:at], how+" cut off at "+strconv.Itoa(at)
		case 1:
			text, how = text[at:], how+" begun at "+strconv.Itoa(at)
		case 2:
			lines[a], lines[b] = lines[b], lines[a]
			text, how = bytes.Join(lines, nil), how+fmt.Sprintf(" lines %d and %d swapped", a, b)
		case 3:
			text, how = withNumber(r, text, numbers[r.IntN(len(numbers))]), how+" a number changed"
		case 4:
			text, how = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), how+" CRLF"
		case 5: // UTF-16 from somewhere on
			tail := make([]byte, 0, 2*(len(text)-at))
			for _, u := range utf16.Encode([]rune(string(text[at:]))) {
				tail = append(tail, byte(u), byte(u>>8))
			}
			text, how = append(bytes.Clone(text[:at]), tail...), how+" UTF-16 from "+strconv.Itoa(at)
		case 6:
			noise := make([]byte, 1+r.IntN(4096))
			for i := range noise {
				noise[i] = byte(r.UintN(256))
			}
			text, how = bytes.Join([][]byte{text[:at], noise, text[at:]}, nil), how+" noise at "+strconv.Itoa(at)
		case 7:
			text, how = bytes.Join([][]byte{text[:at], other, text[at:]}, nil), how+" another text inside at "+strconv.Itoa(at)
		case 8:
			text, how = bytes.Repeat(text[:min(len(text), 2048)], 1+r.IntN(40)), how+" its beginning repeated"
		default:
			marks := []string{"{", "}", "\"", "\x00", "\x1b[31m", "```\n", "|", "[", "\ufeff", "%"}
			mark := marks[r.IntN(len(marks))]
			text = bytes.Join([][]byte{text[:at], bytes.Repeat([]byte(mark), 1+r.IntN(300)), text[at:]}, nil)
			how += fmt.Sprintf(" %q at %d", mark, at)
		}
	}
	return text, how
}

// withNumber puts a number in the place of the one that stands next to a random place.
func withNumber(r *rand.Rand, text []byte, number string) []byte {
	digit := func(i int) bool { return text[i] >= '0' && text[i] <= '9' }
	for i := r.IntN(len(text) + 1); i < len(text); i++ {
		if digit(i) {
			end := i
			for end < len(text) && digit(end) {
				end++
			}
			return bytes.Join([][]byte{text[:i], []byte(number), text[end:]}, nil)
		}
	}
	return text
}

// hostileMost is how long one spoiled input of less than 1 MB may take before the test calls it a hang:
// far more than a busy machine makes of the milliseconds that each takes.
const hostileMost = 2 * time.Minute

// TestSpoiledInputs reads real outputs that were cut, swapped, changed and mixed, by a generator with a
// fixed seed: none crashes or hangs, and what is read can be written. PLIMSOLL_SPOILED is how many
// (make bench: 2,000).
func TestSpoiledInputs(t *testing.T) {
	n := 60
	if given, err := strconv.Atoi(os.Getenv("PLIMSOLL_SPOILED")); err == nil {
		n = given
	}
	texts, dir := hostileTexts(t), t.TempDir()
	r := rand.New(rand.NewPCG(27, 11))
	read, results := 0, 0
	for i := range n {
		text, how := spoil(r, texts[r.IntN(len(texts))], texts[r.IntN(len(texts))])
		name := filepath.Join(dir, "spoiled"+[]string{".md", ".log", ".json", ".txt"}[i%4])
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		ended := make(chan int, 1) // what comes too late waits for nobody
		go func() { ended <- importSpoiled(t, name, i, how) }()
		select {
		case found := <-ended:
			if results += found; found > 0 {
				read++
			}
		case <-time.After(hostileMost):
			t.Fatalf("input %d,%s: not read within %v", i, how, hostileMost)
		}
	}
	t.Logf("%d inputs, %d of them with %d results", n, read, results)
	if read < n/3 {
		t.Errorf("only %d of %d inputs have a result: the generator spoils too much to test anything", read, n)
	}
}

// importSpoiled is how many results an input gave.
func importSpoiled(t *testing.T, name string, i int, how string) int {
	outputs, documents, err := Gather([]string{name}, nil)
	if err != nil {
		t.Errorf("input %d,%s: %v", i, how, err)
		return 0
	}
	results, err := (Found{Outputs: outputs, Documents: documents, Beside: func(*fio.Output) *fio.JobFile { return nil }}).Results()
	if err != nil {
		t.Errorf("input %d,%s: %v", i, how, err)
	}
	for _, one := range results {
		if _, err := json.Marshal(one); err != nil { // NaN and infinity cannot be written
			t.Errorf("input %d,%s: %s: %v", i, how, one.Name, err)
		}
	}
	return len(results)
}
