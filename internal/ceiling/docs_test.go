package ceiling

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The split factors of docs/ceiling.md and the worked table of its evidence are recomputed.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/ceiling.md")
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := os.ReadFile("../../docs/evidence/ceiling.md")
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (\w+) \| (\d+) KiB \| (\d+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$`).FindAllStringSubmatch(string(evidence), -1)
	if len(rows) != 5 {
		t.Fatalf("%d worked rows", len(rows))
	}
	for _, r := range rows {
		chunk := 64 * k
		if r[1] == "5" || r[1] == "6" {
			chunk = 256 * k
		}
		w := load(r[2], units.Bytes(number(r[3]))*k, int(number(r[4])), 1)
		c := Of(machine(t, 8, gp3, topology.RAID10, chunk, "c8g.2xlarge"), topology.Data, []fio.Workload{w})
		if got := math.Round(float64(c.Binding().IOPS)); got != number(r[5]) {
			t.Errorf("scenario %s: a test sees %v, the page says %s", r[1], got, r[5])
		}
		if got := math.Round(float64(c.Sustained().IOPS)); got != number(r[6]) {
			t.Errorf("scenario %s: %v last, the page says %s", r[1], got, r[6])
		}
		if near := number(r[7]) / number(r[5]); math.Abs(near-1) > 0.02 {
			t.Errorf("scenario %s: measured %.3f of the ceiling", r[1], near)
		}
	}
	pieces := regexp.MustCompile(`(?m)^\| (\d+) (KiB|MiB) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$`).FindAllStringSubmatch(string(text), -1)
	if len(pieces) != 3 {
		t.Fatalf("%d rows of pieces", len(pieces))
	}
	for _, r := range pieces {
		bs, _ := units.ParseBytes(r[1] + r[2])
		for i, chunk := range []units.Bytes{64 * k, 128 * k, 512 * k} {
			if got := topology.Pieces(bs, chunk); got != number(r[3+i]) {
				t.Errorf("%v on %v: %v, the page says %s", bs, chunk, got, r[3+i])
			}
		}
	}
}
