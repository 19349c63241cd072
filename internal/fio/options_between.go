package fio

import (
	"slices"
	"strings"

	"plimsoll/internal/text"
)

// between are refusals for options that do not go together, which fio finds when it sets a job up
// and --parse-only does not look for. Nothing is said where one of them is not known.
func (t *OptionTable) between(j JobText) []Refusal {
	if j.Global {
		return nil
	}
	at := t.to
	b := build{version: optionVersions[at], k: kbBase(j), noSums: t.noSums}
	number := func(name string) (value uint64, o Option, given, known bool) {
		o, given = j.last(name)
		row := t.row(name, at, "", true)
		if !given || row == nil {
			return 0, o, given, !given
		}
		if j.open(o) || o.Bare || strings.ContainsAny(o.Value, "($,:-") {
			return 0, o, true, false
		}
		r, ok := row.number(o.raw(), b)
		return r.value, o, true, ok
	}
	var refused []Refusal
	refuse := func(o Option, says string) {
		refused = append(refused, Refusal{Option: o, Kind: RefusedBetween, Says: says, InRun: true})
	}
	t.waits(j, refuse)
	if n, o, given, known := number("numjobs"); given && known && uint32(n) == 0 {
		refuse(o, "starts no job at all")
	} else if given && known && uint32(n) > 4095 {
		refuse(o, "is more jobs than fio starts")
	}
	for _, pair := range [][2]string{{"rate_min", "rate"}, {"ratemin", "rate"}, {"rate_iops_min", "rate_iops"}} {
		least, most := pair[0], pair[1]
		n, o, given, known := number(least)
		if _, limited := j.last(most); given && known && n > 0 && !limited && b.version.Before(sumsKnown) {
			refuse(o, "is more than "+most+", which is not set")
		}
	}
	t.steadiness(j, b, number, refuse)
	t.zones(j, number, refuse)
	t.tooSmall(j, number, refuse)
	return refused
}

type numberOf func(name string) (value uint64, o Option, given, known bool)

// waits is a job that waits for one that fio has not seen before it.
func (t *OptionTable) waits(j JobText, refuse func(Option, string)) {
	o, ok := j.last("wait_for")
	if ok && j.Before != nil && !j.open(o) && !slices.Contains(j.Before, o.Value) && t.byName["wait_for"] != nil {
		refuse(o, "names no job before this one")
	}
}

// steadiness is a span of a steady state that is no multiple of the interval of its samples, which
// is a second where nothing else is said.
func (t *OptionTable) steadiness(j JobText, b build, number numberOf, refuse func(Option, string)) {
	const second = 1e6 // microseconds
	n, o, given, known := number("steadystate_duration")
	_, other := j.last("steadystate_check_interval")
	if given && known && !other && n%second != 0 && !b.version.Before(signedNumbers) {
		refuse(o, "is not a multiple of the interval in which the state is looked at")
	}
}

func (t *OptionTable) zones(j JobText, number numberOf, refuse func(Option, string)) {
	if t.byName["zonemode"] == nil || optionVersions[t.from].Before(digitsNeeded) {
		return
	}
	mode, hasMode := j.last("zonemode")
	size, o, given, known := number("zonesize")
	switch word, _, _ := text.CutAny(strings.TrimSpace(mode.Value), ":,"); {
	case hasMode && j.open(mode):
	case given && known && size > 0 && (!hasMode || word == "none"):
		refuse(o, "does nothing without zonemode=strided or zbd")
	case word == "strided" && !given:
		refuse(mode, "needs zonesize")
	}
}

// tooSmall is a size below one block.
func (t *OptionTable) tooSmall(j JobText, number numberOf, refuse func(Option, string)) {
	for _, other := range []string{"bsrange", "bssplit", "filesize", "bs_unaligned", "min_bs", "nrfiles", "zonemode"} {
		if _, given := j.last(other); given {
			return
		}
	}
	bs, _, given, known := number("bs")
	if !given {
		bs, known = uint64(defaultBS), true
	}
	o, _ := j.last("bs")
	if strings.ContainsAny(o.Value, ",:-") {
		return
	}
	size, so, hasSize, sizeKnown := number("size")
	text := strings.TrimSpace(so.Value)
	share := strings.Contains(text, "%") || strings.HasSuffix(text, "z")
	if known && hasSize && sizeKnown && !share && size > 0 && size < bs {
		refuse(so, "is less than one block")
	}
}
