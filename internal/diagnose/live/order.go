package live

import (
	"cmp"
	"slices"

	"plimsoll/internal/finding"
)

// row is a cause in the order of causes.
type row struct {
	name string
	code finding.Code
	look func(*view) *Cause
	// alone is asked only where no cause within the storage was found above.
	alone bool
	// explains are causes that may come of this one: it stands before them, however sure they are.
	explains []finding.Code
	whose    Whose
	why      string // it stands before the row below
}

// limits are causes that say how much is done, and not who does it.
func limits() []finding.Code { return []finding.Code{"PL505", "PL604", "PL901", "PL603", "PL602"} }

// order is the order of causes: what fails, what waits for something that no counter of a device shows,
// who takes the device's time, which limit that meets, where in the stack it waits, and at last what is
// only slow. Of causes found together the surer stands first, and of equally sure ones the upper; one that
// explains another is as sure as that. A test holds each neighbouring pair.
func order() []row {
	return []row{
		{
			name: "errors", code: "PL316", look: (*view).errors, whose: Theirs, explains: []finding.Code{"PL913", "PL902"},
			why: "a filesystem turns read-only since its device failed, not the other way round",
		},
		{
			name: "read-only", code: "PL913", look: (*view).readOnly, whose: Here,
			why: "no space helps where nothing may be written",
		},
		{
			name: "full", code: "PL317", look: (*view).full, whose: Yours,
			why: "a write that has no block fails, one that waits does not yet",
		},
		{
			name: "no answer", code: "PL902", look: (*view).noAnswer, whose: Theirs,
			why: "who freezes a filesystem waits himself for a device that does not answer",
		},
		{
			name: "frozen", code: "PL903", look: (*view).frozen, whose: Here,
			why: "a frozen filesystem asks its groups for nothing",
		},
		{
			name: "group", code: "PL904", look: (*view).groupLimit, whose: Here,
			why: "what waits before the device is in none of the figures below",
		},
		{
			name: "resync", code: "PL202", look: (*view).resync, whose: Here, explains: append(limits(), "PL204", "PL905"),
			why: "md's copying reaches the members' limits, and slows discards as it does all",
		},
		{
			name: "discards", code: "PL914", look: (*view).discards, whose: Here,
			why: "a flush waits for the discards before it",
		},
		{
			name: "slow flushes", code: "PL909", look: (*view).slowFlush, whose: Unknown, explains: []finding.Code{"PL907"},
			why: "the log is waited for since its flushes are slow",
		},
		{
			name: "synced writes", code: "PL907", look: (*view).syncedWrites, whose: Yours, explains: limits(),
			why: "they wait for each other in the log, whoever else uses the disk",
		},
		{
			name: "beside", code: "PL906", look: (*view).beside, whose: Here, explains: limits(),
			why: "most of the whole disk is more than most of one partition",
		},
		{
			name: "another program", code: "PL906", look: (*view).otherProgram, whose: Here, explains: append(limits(),
				"PL309"),
			why: "what is written back is of a program that can be named",
		},
		{
			name: "write-back", code: "PL309", look: (*view).writeBack, whose: Here, explains: limits(),
			why: "what is written back may reach a limit",
		},
		{
			name: "instance", code: "PL505", look: (*view).instanceLimit, whose: Yours,
			why: "a larger volume gives nothing where the instance's limit is reached, too",
		},
		{
			name: "volume", code: "PL901", look: (*view).volumeLimit, whose: Yours,
			why: "a baseline that is reached is a limit, whatever burst was before",
		},
		{
			name: "burst", code: "PL602", look: (*view).burstSpent, whose: Yours,
			why: "at a limit the queue gathers on one of equal volumes",
		},
		{
			name: "slow member", code: "PL204", look: (*view).slowMember, whose: Unknown,
			why: "one that is slow by itself needs no more I/Os for it",
		},
		{
			name: "hot member", code: "PL905", look: (*view).hotMember, whose: Here,
			why: "what waits in one volume does not wait above it",
		},
		{
			name: "layer", code: "PL908", look: (*view).layer, whose: Here,
			why: "a scheduler is below the layers that were found to wait",
		},
		{
			name: "scheduler", code: "PL302", look: (*view).scheduler, whose: Here,
			why: "what a scheduler holds back has a place in the queue",
		},
		{
			name: "places", code: "PL303", look: (*view).places, whose: Here, alone: true,
			why: "a queue that is full is seen, a slow volume is what remains",
		},
		{
			name: "slow volume", code: "PL909", look: (*view).slowVolume, whose: Unknown, alone: true,
			why: "with few I/Os in it a volume is slow by itself",
		},
		{
			name: "unknown limit", code: "PL912", look: (*view).unknownLimit, whose: Unknown, alone: true,
			why: "slow storage is its own cause, memory one of programs",
		},
		{
			name: "memory", code: "PL911", look: (*view).memory, whose: Fine, alone: true,
			why: "who waits for memory cannot use a processor",
		},
		{
			name: "nearly full", code: "PL317", look: (*view).nearlyFull, whose: Fine, alone: true,
			why: "what is nearly full will be full, busy processors may be meant to be",
		},
		{name: "processors", code: "PL910", look: (*view).processor, whose: Fine, alone: true},
	}
}

// look finds the causes and puts them in their order.
func (v *view) look() {
	for _, r := range order() {
		if r.alone && slices.ContainsFunc(v.causes, func(c Cause) bool { return !c.Elsewhere }) {
			continue
		}
		if c := r.look(v); c != nil {
			c.Code, c.row, c.Elsewhere = cmp.Or(c.Code, r.code), r, r.whose == Fine
			c.Title = cmp.Or(c.Title, titleOf(c.Code))
			if v.f.Counters != "" && c.Confidence == Certain { // means of a second or more prove nothing
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
	if j := i + 1; i >= 0 && j < len(v.causes) && v.causes[j].row.name == "volume" && v.volumeUse() > v.instanceUse() {
		v.causes[i], v.causes[j] = v.causes[j], v.causes[i]
	}
}
