package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
)

// figuresOf are the figures of a row's directions.
func figuresOf(j fio.Job) (all []string) {
	for i, d := range j.Directions() {
		for _, f := range []string{
			fmt.Sprint("n ", d.N), fmt.Sprint("iops ", d.IOPS), fmt.Sprint("bw ", d.BW),
			fmt.Sprint("mean ", d.Clat.Mean),
		} {
			if !strings.HasSuffix(f, " 0") && !strings.HasSuffix(f, " 0 B/s") {
				all = append(all, fmt.Sprint(i, " ", j.Name, " ", f))
			}
		}
		for _, p := range d.Clat.Percentiles {
			all = append(all, fmt.Sprint(i, " ", j.Name, " ", p))
		}
	}
	return all
}

// TestDocumentsCutAnywhere: of a document that begins or ends anywhere, each figure that is read is one of the whole's,
// in its direction; as soon as one of a row is whole it is read, and that something is missing is said.
func TestDocumentsCutAnywhere(t *testing.T) {
	doc := runFio(t, t.TempDir(), "--output-format=json", "--filename=f", "--size=1m", "--bs=4k", "--rw=randrw",
		"--name=a",
		"--stonewall", "--name=b")
	whole, err := ParseJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, j := range whole.Jobs {
		for _, f := range figuresOf(j) {
			known[f] = true
		}
	}
	read := func(text []byte) (rows int) {
		outs, err := Read("x.txt", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outs {
			if len(o.Jobs) > 0 && !o.Missing.Has(part.Ending, part.AllJobs) {
				t.Fatalf("nothing is missing of %.200q", text)
			}
			for _, j := range o.Jobs {
				rows++
				for _, f := range figuresOf(j) {
					if name := j.Name; !known[f] && !known[strings.Replace(f, "  ", " a ", 1)] &&
						!known[strings.Replace(f, "  ", " b ", 1)] {
						t.Fatalf("%s %q of %d bytes that begin with %.40q", name, f, len(text), text)
					}
				}
			}
		}
		return rows
	}
	second := bytes.LastIndex(doc, []byte(`"jobname"`))
	for at := len(doc) / 10; at < len(doc)-20; at += 61 {
		ended := read(doc[:at])
		if begun := bytes.Index(doc[:at], []byte(`"slat_ns"`)); begun > 0 && ended == 0 {
			t.Errorf("nothing is read of the first %d bytes", at)
		}
		begun := read(doc[at:])
		if last := bytes.LastIndex(doc, []byte(`"write"`)); at < last-10 && begun == 0 {
			t.Errorf("nothing is read from byte %d on, the second row is at %d", at, second)
		}
	}
}

// TestRowsOfDocuments: a row that a program took out of fio's document, alone or in a list, and excerpts on a page are
// read; what it was to do is known only where its options are there. JSON of others is none.
func TestRowsOfDocuments(t *testing.T) {
	const read = `"read" : { "io_bytes" : 409600, "io_kbytes" : 400, "bw_bytes" : 409600, "bw" : 400, "iops" : 100.0, "runtime" : 1000, "total_ios" : 100,` + "\n"
	const row = `{ "jobname" : "a", "job options" : { "rw" : "randread", "bs" : "4k" }, ` + read + `"short_ios" : 0 } }`
	for name, c := range map[string]struct {
		text string
		rows int
		head bool // is missing
	}{
		"one row":     {row, 1, false},
		"a list":      {"[" + row + ",\n" + row + "]", 2, false},
		"an excerpt":  {"The result:\n```\n   \"iodepth\" : \"16\"\n },\n " + read + " \"short_ios\" : 0,\n```\nIs it good?", 1, true},
		"two of them": {"```\n " + read + " \"short_ios\" : 0,\n```\nand\n```\n " + read + " \"short_ios\" : 0,\n```\n", 2, true},
		"of others":   {`{"read": {"bytes": 5}, "io_bytes": 7}`, 0, false},
		"cut in it":   {`"read" : { "io_bytes" : 4096`, 0, false},
	} {
		outs, err := Read("x.md", strings.NewReader(c.text))
		rows := 0
		for _, o := range outs {
			if rows += len(o.Jobs); o.Missing.Has(part.Head) != c.head {
				t.Errorf("%s: missing %v", name, o.Missing)
			}
			for _, j := range o.Jobs {
				if j.Read.IOPS != 100 || j.Read.N != 100 {
					t.Errorf("%s: %+v", name, j.Read)
				}
			}
		}
		if err != nil || rows != c.rows {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// TestDocumentsInOtherClothes: marks before each line of a document are taken off.
func TestDocumentsInOtherClothes(t *testing.T) {
	doc := runFio(t, t.TempDir(), "--output-format=json", "--filename=f", "--size=64k", "--rw=read", "--name=a")
	for _, mark := range []string{
		"fio-1  | ", "[pod/fio-abc/fio] ", "Nov 26 10:00:00 host fio[123]: ", "2026-11-26T10:00:00.123456Z ", "> ",
		"> > ", "    ",
		"out/fio.txt:", "2026-11-26T10:00:00Z fio-1  | ", "\x1b[32m",
	} {
		marked := mark + strings.ReplaceAll(strings.TrimSpace(string(doc)), "\n", "\n"+mark) + "\n"
		outs, err := Read("x.txt", strings.NewReader(marked))
		if err != nil || len(outs) != 1 || len(outs[0].Jobs) != 1 || outs[0].Jobs[0].Read.N != 16 || len(outs[0].Unread) > 0 {
			t.Errorf("%q: %d outputs, %v", mark, len(outs), err)
		}
	}
}
