package live

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/finding"
)

// What was true when facts of testdata/host were kept: on a machine whose storage a program delayed, limited
// and failed (26 November 2026, Linux 6.18). Several codes where each of them is right; "" is no cause within
// the storage.
var kept = []struct {
	name  string
	truth string
	right []finding.Code
	says  string // a part of the first line
}{
	{"cg-other-innocent", "a backup is held to its own limit, and nobody waits for it", []finding.Code{"", "PL910"}, ""},
	{"cpu-quota", "a CPU quota of 5 %, of which these facts hold nothing", []finding.Code{""}, ""},
	{"eio-journal-aborted", "every write fails and the journal was aborted", []finding.Code{"PL316"}, "fails"},
	{"failed-then-idle", "writes failed 6 s ago, and who wrote has ended", []finding.Code{"PL316"}, "fails"},
	{"flush-not-told", "a flush takes 61 ms, a write 0.5 ms", []finding.Code{"PL909"}, "Flushes of loop1"},
	{"fstrim-as-first-touch", "fstrim, and a dd that has ended", []finding.Code{"PL914", "PL309"}, ""},
	{"full-behind-cpu", "no block is free, and the processors are busy", []finding.Code{"PL317"}, "is full"},
	{"late-200us", "2 of 502 I/Os took 400 ms", []finding.Code{"PL909"}, ""},
	{"neighbour-ended", "a backup ended in the middle of the look", []finding.Code{"PL906"}, "backup"},
	{"pg-checkpoint-as-short-queue", "PostgreSQL's checkpoints", []finding.Code{"PL309"}, "postgres"},
	{"rotational-27ms", "a volume of 27 ms that claims to rotate", []finding.Code{"PL909"}, "per read"},
	{"sibling-partition", "a backup on another partition of the disk", []finding.Code{"PL906"}, "loop3 makes"},
	{"stalls-not-told", "the device stops for 0.75 s again and again", []finding.Code{"PL902"}, "stalls repeatedly"},
	{"swap-as-short-queue", "the machine swaps, on another device", []finding.Code{"PL911"}, ""},
	{"victim-accused-by-bytes", "a backup of small I/Os on a volume of 200 IOPS", []finding.Code{"PL906"}, "backup"},
	{"writeback-as-short-queue", "a backup wrote into memory, which is being written back", []finding.Code{"PL906", "PL309"}, "backup"},
}

func TestKeptFactsOfARealHost(t *testing.T) {
	files, err := filepath.Glob("testdata/host/*.json")
	if err != nil || len(files) != len(kept) {
		t.Fatalf("%d files, %d truths: %v", len(files), len(kept), err)
	}
	for _, k := range kept {
		t.Run(k.name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/host/" + k.name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			f, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			a := Judge(f)
			first := ""
			if len(a.Causes) > 0 {
				first = a.Causes[0].Message
			}
			if !slices.Contains(k.right, a.First) || !strings.Contains(first, k.says) {
				t.Errorf("%s: %s %v %q", k.truth, a.First, codes(a), first)
			}
			storage := k.right[0] != "" && k.right[0] != "PL911"
			if (a.Answer == Found) != storage {
				t.Errorf("%s: %s", k.truth, a.Answer)
			}
			t.Log(a.First, first)
		})
	}
}

// What iostat prints of a device gives the same first cause, and never surely; what is healthy is not accused.
func TestCountersOfOthers(t *testing.T) {
	for _, c := range []struct {
		file  string
		right finding.Code
		says  string
	}{
		{"flush-61ms.iostat", "PL909", "Flushes of sda"},
		{"cap-all-the-time.iostat", "PL912", "limit that plimsoll does not know"},
		{"20-seastar593.iostat", "PL912", "limit that plimsoll does not know"},
		{"iostat-12.6.txt", "", ""},
		{"sar-12.6.txt", "", ""},
	} {
		data, err := os.ReadFile("../../workload/testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := FromCounters(c.file, data)
		if err != nil {
			t.Fatal(c.file, err)
		}
		a := Judge(f)
		first := Cause{}
		if len(a.Causes) > 0 {
			first = a.Causes[0]
		}
		if a.First != c.right || !strings.Contains(first.Message, c.says) || first.Confidence == Certain || len(a.NotSeen) == 0 {
			t.Errorf("%s: %s %s (%s)", c.file, a.First, first.Message, first.Confidence)
		}
		// Who asked no such counters know, and what to do is to be done there.
		if a.WrittenBack > 0 || c.right == "PL912" && !strings.HasPrefix(first.Next[0], "on that machine, ") {
			t.Errorf("%s: %v written back, next: %q", c.file, a.WrittenBack, first.Next)
		}
	}
}
