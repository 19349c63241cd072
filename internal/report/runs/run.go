package runs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// mostReasons is how many reasons of the verdict the head has.
const mostReasons = 3

// Run is the document of a run: verdict and reasons, the overview, the findings, each scenario in
// detail, the machine.
func Run(b *bundle.Bundle) *page.Document {
	r := &b.Run
	rows := make([]row, len(b.Scenarios))
	for i, s := range b.Scenarios {
		rows[i] = newRow(&s, i)
		rows[i].Limited = limitedBy(b, &s, rows[i])
	}
	d := page.New("run", "", "report", document(b))
	d.Tool, d.Records, d.Data.Dense = r.Tool, records(b), true
	var said []string
	d.Head, said = runHead(b, rows)
	d.Add(overview(rows, r))
	if len(r.Imported) > 0 {
		d.Add(doubted(b, len(d.Head.Says)))
	}
	found, anchors := findings(b, rows, said)
	d.Add(found)
	for i := range b.Scenarios {
		d.Add(scenario(b, i, rows[i], anchors))
	}
	d.Add(machineSection(b))
	if unrelated(b) {
		asLibrary(d, b)
	}
	d.Tests = runTests(b, rows)
	damaged(d, b.Damaged)
	d.Foot = []page.Note{{Title: "Terms", Lines: terms()}, {Lines: []string{
		r.ID,
		"Latencies are completion latencies (clat) in fio's own bins, at most 1.6 % wide. KiB, MiB " +
			"and GiB are powers of 1024. ± is half the width of the 95 % interval from batch means.",
	}}}
	return d
}

// damaged shows files that are missing or changed in the forms that machines read.
func damaged(d *page.Document, files []string) {
	for _, file := range files {
		d.Gated = append(d.Gated,
			page.Finding{Code: "damaged", Severity: "invalid", Title: "the run's files are damaged", Message: file})
	}
	if len(files) > 0 {
		d.Tests = append(d.Tests, page.FindingTests("files", d.Gated))
	}
}

// readInPart says in one line what the outputs of an import lack.
func readInPart(b *bundle.Bundle) string {
	var lacks []string
	n := 0
	for _, s := range measured(b) {
		if m := s.Result.Missing; m != nil {
			n++
			lacks = text.Once(lacks, m.String())
		}
	}
	line := text.Some(lacks, 2)
	if n > 0 && n < len(b.Scenarios) {
		line = fmt.Sprintf("%d of %d results: %s", n, len(b.Scenarios), line)
	}
	return line
}

func terms() []string {
	return []string{
		"role: what the storage is for: data (random I/O) or WAL (the write-ahead log: sequential, synced writes)",
		"ceiling: the most that the hardware allows this workload, computed from the limits of volumes and instance",
		"ceiling set by: the resource with the lowest limit",
		"run limited by: what kept this run from doing more, if that is known",
		"sustained: the rate that remains when burst credits are used up", "p99: 99 of 100 I/Os took at most this long",
		"completion latency (clat): from submitting an I/O to its completion",
	}
}

// pasted says that the run is an import of one result, whose first screen is that of one paste.
func pasted(b *bundle.Bundle) bool { return len(b.Run.Imported) > 0 && len(b.Scenarios) == 1 }

// runHead is the verdict with its first reasons, and the rules that these name.
func runHead(b *bundle.Bundle, rows []row) (h page.Headline, said []string) {
	r := &b.Run
	h = page.Headline{Word: strings.ToUpper(r.Outcome()), Tone: string(r.Verdict), Tiles: tiles(b, rows)}
	if len(h.Tiles) > 0 {
		h.Main = h.Tiles[0].Main
	}
	if r.State != bundle.Finished && r.State != "" {
		h.Tone = ""
	}
	most := mostReasons
	if pasted(b) {
		most = mostDoubts
	}
	for _, s := range r.Reasons[:min(len(r.Reasons), most)] {
		h.Says = append(h.Says, page.Say{Text: s, Next: nextStep(s, b)})
		if code := reasonCode.FindStringSubmatch(s); code != nil {
			said = append(said, code[1])
		}
	}
	h.About = about(b)
	return h, said
}

// about is what was run where, when and by which versions. Of an import the days of its results count.
func about(b *bundle.Bundle) string {
	r := &b.Run
	var days []string
	for _, s := range measured(b) {
		if day := s.Result.Start; len(r.Imported) > 0 && !day.IsZero() {
			days = append(days, day.Format(time.DateOnly))
		}
	}
	when, tool := moment(r.Created), r.Tool
	if len(days) > 0 {
		when, tool = "measured "+strings.Join(slices.Compact([]string{slices.Min(days), slices.Max(days)}), " to "), ""
	}
	return text.Join(", ", r.Suite.Name, host(&r.Topology), when, tool, r.Fio)
}

// moment is when something began, "" where that is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// overview gives each scenario a line: what was measured, of which ceiling, and two different
// things: the resource that sets the ceiling, and what limited the run. What holds for several rows
// stands once below.
func overview(rows []row, r *bundle.Run) page.Section {
	t := page.NewTable("<scenario, result, ±?, p50??, p99?, <of ceiling, ceiling??, <ceiling set by????, sustained, " +
		"<run limited by???, <verdict")
	known := false
	for _, r := range rows {
		cells := page.Cells(r.label(), r.Measured, r.Margin, r.P50, r.P99, r.Percent, r.Ceiling, r.From,
			r.Sustained, r.Limited, r.Verdict)
		cells[0].Link, cells[0].Also = r.Anchor, words.Known("role", r.Role)
		cells[1].Also = text.Join("; ", r.Also, r.Sync)
		cells[8].Also = words.Known("then limited by", r.Then)
		cells[10].Tone = r.Verdict
		if r.Share > 0 {
			cells[5].Gauge, cells[5].Low, cells[5].Tone = r.Share, r.LastingShare, r.Verdict
		}
		if r.Ceiling == words.Unknown {
			cells[5].Text, cells[6].Text, cells[7].Text = words.None, words.None, words.None
		} else {
			known = true
		}
		t.Add(cells)
	}
	below := notes(rows)
	if !known && len(rows) > 0 && len(r.Imported) == 0 { // of an import the first lines say what is missing
		below = append(below, "ceiling unknown: declare the limits of this storage with --volumes "+
			r.Topology.Instance.Example()+" or plimsoll.yaml")
	}
	return page.Part("Overview", "overview", "", t, page.Sentences(below...))
}

// notes are what holds for several rows of the overview, each once, with the rows that it holds for.
func notes(rows []row) []string {
	var all []string
	var nums text.Groups
	for _, r := range rows {
		for _, note := range text.Present(r.NoMargin, r.Burst, r.Syncs) {
			nums.Add(note, r.Num)
		}
	}
	for _, note := range nums.Heads {
		if of := nums.Of[note]; len(of) < len(rows) {
			note = text.Some(of, mostNums) + ": " + note
		}
		all = append(all, note)
	}
	return all
}

// mostNums is how many rows a note names.
const mostNums = 8

// mostDoubts is how many caveats of an import are no details; of one result, how many reasons and caveats together.
const mostDoubts = 2

// doubted are what an import lacks and the caveats of all its results, each once, those of most results first.
func doubted(b *bundle.Bundle, reasons int) page.Section {
	most := mostDoubts
	if pasted(b) {
		most -= reasons
	}
	var doubts text.Groups
	for _, s := range measured(b) {
		for _, d := range s.Result.Doubts {
			doubts.Add(d, s.Name)
		}
	}
	of := func(doubt string) int { return len(doubts.Of[doubt]) }
	slices.SortStableFunc(doubts.Heads, func(a, b string) int { return of(b) - of(a) })
	var s page.Section
	s.Add(page.Lead("incomplete output", readInPart(b)))
	for i, d := range doubts.Heads {
		if n := of(d); n > 1 {
			d += " " + words.Parens(text.Plural(n, "result"))
		}
		note := page.Lead("caveat", d)
		if note.Of = "caveats"; i >= most {
			note = note.Detailed()
		}
		s.Add(note)
	}
	return s
}

// tiles are the few figures that people ask for first: the most random I/O, the most in either
// direction, the time of a sync. A peak is one over all rows: where a row that is left out, for it
// must not be trusted, has more, there is no tile.
func tiles(b *bundle.Bundle, rows []row) []page.Tile {
	type best struct {
		value, out float64 // of the rows that count, of those that are left out
		tile       page.Tile
	}
	var all [6]best
	for i, s := range b.Scenarios {
		r := rows[i]
		for _, o := range viewOf(&s).offers(&s, r) {
			a := &all[o.slot]
			if s.Result.State != result.Done || s.Verdict == "invalid" {
				a.out = max(a.out, o.value)
				continue
			}
			if o.value > a.value {
				of := r.Name
				if r.Share > 0 {
					of = o.of + ", " + of
				}
				if lasts, _, burst := strings.Cut(r.Burst, ";"); burst { // never without how long
					of = lasts + ", " + of
				}
				a.value, a.tile = o.value, page.Tile{What: o.what, Figure: o.figure, Of: of, Anchor: r.Anchor}
				if o.name != "" {
					a.tile.Main = page.NewFigure(s.Name, o.name, o.value, o.unit)
				}
			}
		}
	}
	var tiles []page.Tile
	for _, a := range all {
		if a.value > 0 && a.value >= a.out {
			tiles = append(tiles, a.tile)
		}
	}
	return tiles
}

// offer is a scenario's figure for one of the tiles.
type offer struct {
	slot             int
	what, figure, of string
	value            float64
	name, unit       string // to programs; "" where value is not what figure says
}

// ofCeiling is a share in the words of a tile.
func (r row) ofCeiling() string { return r.Percent + " of ceiling" }

func (transactions) offers(s *bundle.Scenario, r row) []offer {
	peak := s.Result.Peak()
	if peak == nil {
		return nil
	}
	return []offer{
		{5, "Peak transactions", words.Transactions(peak.TPS), r.ofCeiling(), float64(peak.TPS), "tps", "per_s"},
	}
}

func (operations) offers(s *bundle.Scenario, r row) []offer {
	if s.Result == nil {
		return nil
	}
	t, key := s.Result.Total, result.KeyOf(s.Result)
	share := r.ofCeiling()
	each := share
	if t.Read.BW > 0 && t.Write.BW > 0 { // the ceiling is of both together
		each = "in a mix of reads and writes"
	}
	n, _ := t.Rates()
	var all []offer
	if key != result.ByBandwidth { // the rate of large I/Os is no answer to "how many IOPS"
		all = append(all, offer{0, "Peak IOPS", words.Operations(n), share, float64(n), "iops", "per_s"})
	}
	all = append(all,
		offer{1, "Peak read", t.Read.BW.String(), each, float64(t.Read.BW), "read_bw", "bytes_per_s"},
		offer{2, "Peak write", t.Write.BW.String(), each, float64(t.Write.BW), "write_bw", "bytes_per_s"})
	if key != result.ByLatency || n <= 0 || t.Read.N > 0 && t.Write.N > 0 { // of a mix it is the latency of neither
		return all
	}
	what, slot := "Read latency", 3
	if t.Write.N > 0 {
		what, slot = "Write latency", 4
	}
	if t.Sync.Lat.Measured() {
		what = "Durable-write latency"
	}
	if r.latency {
		share = "expected " + r.Ceiling
	}
	return append(all, offer{slot, what, r.Measured, share, float64(n), "", ""})
}

// atCeiling is from which share of the ceiling on its resource is what limited the run.
const atCeiling = 0.9

// limitedBy is what kept a run from more, "" where that is not known: the resource of the ceiling
// where the run reached it, else the largest cause in the account of the gap. A figure that must not
// be trusted has no such cause.
func limitedBy(b *bundle.Bundle, s *bundle.Scenario, r row) string {
	if s.Result == nil || s.Verdict == "invalid" {
		return ""
	}
	if r.Share >= atCeiling {
		return "its ceiling"
	}
	if a := accountOf(b, s); a != nil && len(a.Factors) > 0 {
		return words.Cause(slices.MaxFunc(a.Factors, func(a, b finding.Factor) int { return cmp.Compare(a.Share, b.Share) }))
	}
	return ""
}

// machineSection tells what the machine and its arrays are, each with its source.
func machineSection(b *bundle.Bundle) page.Section {
	t := &b.Run.Topology
	var all page.Facts
	h := t.Host
	all.Add("host", h.Name)
	all.Add("system", text.Join(", ", h.OS, h.Kernel, h.Virt))
	all.Add("CPU", text.Join(" ", h.CPU, words.Parens(words.Some(h.CPUs, "core"))))
	all.Add("memory", words.Known("", h.Memory))
	if i := t.Instance; i.Type != "" || i.Cloud != "" || i.Known() {
		all.Add("instance", text.Join("; ", append(words.Instance(i), words.Origin(i.Origin))...))
	}
	for _, g := range t.Targets {
		all.Add(string(g.Role)+" path", text.Join(" ", g.Path, words.Parens(words.Free(g))))
	}
	for _, k := range slices.Sorted(maps.Keys(b.Run.Labels)) {
		all.Add(k, b.Run.Labels[k])
	}
	all.Add("imported from", text.Some(b.Run.Imported, mostSources))
	storage := page.Captioned("Storage", "<array, <made of, chunk?, size?, <each volume, <source")
	for _, a := range t.Arrays {
		storage.Add(arrayCells(a))
	}
	s := page.Part("Machine", "machine", "Machine", all, storage, page.Lead("note", t.Notes...))
	s.Level = page.Detail
	return s
}

// mostSources is how many files the report of an import names.
const mostSources = 8

func arrayCells(a topology.Array) []string {
	made := cmp.Or(string(a.Level), "level unknown")
	each, source := words.Unknown, cmp.Or(words.Origin(a.Origin), words.Unknown)
	if n := len(a.Volumes); n > 0 {
		first := a.Volumes[0]
		made = fmt.Sprintf("%s of %d", made, n)
		made = text.Join(" ", made, cmp.Or(first.Type, first.Model))
		each = text.Join(", ", cmp.Or(words.Limits(first.Sustained, first.SI()), each),
			words.Known("burst", words.Limits(first.Burst, first.SI())))
		if o := words.Origin(first.Origin); o != "" && o != source {
			source += "; limits " + o
		}
		if slices.ContainsFunc(a.Volumes, func(v topology.Volume) bool { return !words.Alike(v, first) }) {
			each += " (the first; others differ)"
		}
	}
	return []string{a.Name, made, words.Figure(a.Chunk), words.Figure(a.Size), each, source}
}
