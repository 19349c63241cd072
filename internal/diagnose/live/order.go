package live

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"plimsoll/internal/finding"
)

// row is a cause in the order of causes.
type row struct {
	name  string
	code  finding.Code
	title string // of its own; empty for the page's
	// alone is asked only where no cause within the storage was found above.
	alone bool
	// explains are causes that may come of this one: it stands before them, however sure they are.
	explains []finding.Code
	whose    Whose
	why      string // it stands before the row below
}

// order is the order of causes (order.tsv): what fails, what waits for something that no counter of a device shows,
// who takes the device's time, which limit that meets, where in the stack it waits, and at last what is
// only slow. Of causes found together the surer stands first, and of equally sure ones the upper; one that
// explains another is as sure as that. A test holds each neighbouring pair.
func order() (all []row) {
	for line := range strings.Lines(orderFile) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		one := row{name: f[0], code: finding.Code(f[1]), title: f[2], whose: Whose(f[3]), alone: f[4] != "", why: f[6]}
		for code := range strings.FieldsSeq(f[5]) {
			one.explains = append(one.explains, finding.Code(code))
		}
		all = append(all, one)
	}
	return all[1:] // the first are the heads
}

//go:embed order.tsv
var orderFile string

// look finds the causes and puts them in their order.
func (v *view) look() {
	looks := map[string]func() *Cause{
		"errors":          v.errors,
		"read-only":       v.readOnly,
		"full":            v.full,
		"no answer":       v.noAnswer,
		"frozen":          v.frozen,
		"group":           v.groupLimit,
		"resync":          v.resync,
		"discards":        v.discards,
		"slow flushes":    v.slowFlush,
		"synced writes":   v.syncedWrites,
		"beside":          v.beside,
		"another program": v.otherProgram,
		"write-back":      v.writeBack,
		"instance":        v.instanceLimit,
		"volume":          v.volumeLimit,
		"burst":           v.burstSpent,
		"slow member":     v.slowMember,
		"hot member":      v.hotMember,
		"layer":           v.layer,
		"scheduler":       v.scheduler,
		"places":          v.places,
		"slow volume":     v.slowVolume,
		"unknown limit":   v.unknownLimit,
		"memory":          v.memory,
		"nearly full":     v.nearlyFull,
		"processors":      v.processor,
	}
	for _, r := range order() {
		if r.alone && slices.ContainsFunc(v.causes, func(c Cause) bool { return !c.Elsewhere }) {
			continue
		}
		if c := looks[r.name](); c != nil {
			c.Code, c.row, c.Elsewhere = cmp.Or(c.Code, r.code), r, r.whose == Fine
			c.Title = cmp.Or(c.Title, r.title, titleOf(c.Code))
			if v.Counters != "" && c.Confidence == Certain { // means of a second or more prove nothing
				c.Confidence = Likely
			}
			v.causes = append(v.causes, *c)
		}
	}
	sure := make(map[string]int, len(v.causes))
	for i := len(v.causes) - 1; i >= 0; i-- {
		c := &v.causes[i]
		sure[c.row.name] = slices.Index([]Confidence{Certain, Likely, Possible}, c.Confidence)
		for _, below := range v.causes[i+1:] {
			if slices.Contains(c.row.explains, below.Code) {
				sure[c.row.name] = min(sure[c.row.name], sure[below.row.name])
			}
		}
	}
	slices.SortStableFunc(v.causes, func(a, b Cause) int {
		return cmp.Compare(sure[a.row.name], sure[b.row.name])
	})
	// Of the instance's and the volumes' limit the one of which more is used.
	i := slices.IndexFunc(v.causes, func(c Cause) bool { return c.row.name == "instance" })
	if j := i + 1; i >= 0 && j < len(v.causes) && v.causes[j].row.name == "volume" &&
		v.volumeUse() > v.instanceShare().of {
		v.causes[i], v.causes[j] = v.causes[j], v.causes[i]
	}
}
