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
	p := &together{OptionTable: t, JobText: j}
	p.waits()
	if n, o, given, known := p.number("numjobs"); given && known && uint32(n) == 0 {
		p.refuse(o, "starts no job at all")
	} else if given && known && uint32(n) > 4095 {
		p.refuse(o, "is more jobs than fio starts")
	}
	for _, pair := range [][2]string{{"rate_min", "rate"}, {"ratemin", "rate"}, {"rate_iops_min", "rate_iops"}} {
		least, most := pair[0], pair[1]
		n, o, given, known := p.number(least)
		if _, limited := j.last(most); given && known && n > 0 && !limited && optionVersions[t.to].Before(sumsKnown) {
			p.refuse(o, "is more than "+most+", which is not set")
		}
	}
	p.steadiness()
	p.zones()
	p.tooSmall()
	return p.refused
}

// together judges the options of a job together.
type together struct {
	*OptionTable
	JobText
	refused []Refusal
}

func (p *together) refuse(o Option, says string) {
	p.refused = append(p.refused, Refusal{Option: o, Kind: RefusedBetween, Says: says, InRun: true})
}

func (p *together) number(name string) (value uint64, o Option, given, known bool) {
	o, given = p.last(name)
	row := p.row(name, p.to, "", true)
	if !given || row == nil {
		return 0, o, given, !given
	}
	if p.open(o) || o.Bare || strings.ContainsAny(o.Value, "($,:-") {
		return 0, o, true, false
	}
	r, ok := row.number(o.raw(), p.newest(p.JobText))
	return r.value, o, true, ok
}

// waits is a job that waits for one that fio has not seen before it.
func (p *together) waits() {
	o, ok := p.last("wait_for")
	if ok && p.Before != nil && !p.open(o) && !slices.Contains(p.Before, o.Value) && p.byName["wait_for"] != nil {
		p.refuse(o, "names no job before this one")
	}
}

// steadiness is a span of a steady state that is no multiple of the interval of its samples, which
// is a second where nothing else is said.
func (p *together) steadiness() {
	const second = 1e6 // microseconds
	n, o, given, known := p.number("steadystate_duration")
	_, other := p.last("steadystate_check_interval")
	if given && known && !other && n%second != 0 && !optionVersions[p.to].Before(signedNumbers) {
		p.refuse(o, "is not a multiple of the interval in which the state is looked at")
	}
}

func (p *together) zones() {
	if p.byName["zonemode"] == nil || optionVersions[p.from].Before(digitsNeeded) {
		return
	}
	mode, hasMode := p.last("zonemode")
	size, o, given, known := p.number("zonesize")
	switch word, _, _ := text.CutAny(strings.TrimSpace(mode.Value), ":,"); {
	case hasMode && p.open(mode):
	case given && known && size > 0 && (!hasMode || word == "none"):
		p.refuse(o, "does nothing without zonemode=strided or zbd")
	case word == "strided" && !given:
		p.refuse(mode, "needs zonesize")
	}
}

// tooSmall is a size below one block.
func (p *together) tooSmall() {
	for other := range strings.FieldsSeq("bsrange bssplit filesize bs_unaligned min_bs nrfiles zonemode") {
		if _, given := p.last(other); given {
			return
		}
	}
	bs, o, given, known := p.number("bs")
	if !given {
		bs, known = uint64(defaultBS), true
	}
	if strings.ContainsAny(o.Value, ",:-") {
		return
	}
	size, so, hasSize, sizeKnown := p.number("size")
	text := strings.TrimSpace(so.Value)
	share := strings.Contains(text, "%") || strings.HasSuffix(text, "z")
	if known && hasSize && sizeKnown && !share && size > 0 && size < bs {
		p.refuse(so, "is less than one block")
	}
}
