package runs

import (
	"encoding/csv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/report/page"
)

// grouped is a number with separators, or with a unit: for people, not for a program.
var grouped = regexp.MustCompile(`^\$?\d{1,3}(,\d{3})+(\.\d+)?( \S+( \d.*)?)?$|^\$[\d.,]+$|^[\d.]+ ([KMGT]i?B(/s)?|%|IOPS|[mµn]?s)$`)

// Every kind of document has a CSV with rows, columns with a name of their own, and plain numbers.
func TestEveryKindHasRecords(t *testing.T) {
	t.Setenv("PLIMSOLL_SHOTS", "all kinds")
	all := kinds(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got := inFormat(t, page.CSV, all[name])
		rows, err := csv.NewReader(strings.NewReader(got)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
			continue
		}
		if len(rows) < 2 && name != "nothing to lint" { // a list that is empty
			t.Errorf("%s has a CSV without content: %s", name, got)
		}
		head := slices.Clone(rows[0])
		slices.Sort(head)
		if len(slices.Compact(head)) != len(rows[0]) || slices.Contains(head, "") {
			t.Errorf("%s: columns %q", name, rows[0])
		}
		for _, row := range rows[1:] {
			for i, cell := range row {
				if grouped.MatchString(cell) {
					t.Errorf("%s: %s is %q", name, rows[0][i], cell)
				}
			}
		}
	}
}

// What only the rule of CSV distinguishes: the one table, all that is said, the exact figures.
func TestRecordsOfKinds(t *testing.T) {
	t.Setenv("PLIMSOLL_SHOTS", "all kinds")
	all := kinds(t)
	for name, want := range map[string]string{
		"claim":           `(?m)^,,headline,"Yes, but only for 30 min `,
		"instance":        `(?s)^section,item,name,value,unit\n.*\n,sustained,bandwidth_bytes_per_s,312500000,\n.*\n,,price,`,
		"instances":       `^instance,vcpus,memory_bytes,iops,sustained_iops,bandwidth_bytes_per_s,.*\nc8g.2xlarge,8,17179869184,40000,12000,1250000000,312500000,`,
		"some instances":  `(?m)^c8g.2xlarge,12000,`,
		"volume type":     `(?m)^Limits,,,`,
		"drives":          `(?m)^"Intel SSD DC P4510, 4 TB .*,read,latency at depth 1,77,µs$`,
		"explained":       `^code,severity,title,when,why,fix\n`,
		"demand":          `(?m)^steady-write,seq write,65536,1280,83886080,100,1.28$`,
		"demand met":      `(?m)^c6a.xlarge-fio_test_file,met,random-write,bytes/s,104857600,656431781`,
		"probe":           `(?m)^md127,nvme7n1,vol0100000000ab00100,72.8,213000000,75$`,
		"nothing to lint": `^code,severity,title,subject,message,fix\n$`,
	} {
		if got := inFormat(t, page.CSV, all[name]); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s lacks %s:\n%.2000s", name, want, got)
		}
	}
}
