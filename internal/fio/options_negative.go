package fio

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A minus in front of an option's number. fio before 3.43 parts a value at its dashes, and one good part is
// enough: of iodepth=-8 the -8 is out of range, the 8 is good and has no place, and the job runs with
// iodepth=1. An option without a least value keeps the bits: rwmixread=-1 is 4294967295.

var minus = regexp.MustCompile(`^[ \t]*-\d`)

// signed are options that take numbers below 0, or of which -1 is a plain way to say none, any or without end.
var signed = strings.Fields(
	"flow randseed uid gid gtod_cpu cpumask loops log_alternate_epoch_clock_id job_start_clock_id")

// negativeNumber is the row's view of such a value.
type negativeNumber struct {
	refused bool
	fault   string // why it is left out, by which the option is as if it were not there
	reads   uint64 // neither refused nor left out
}

// positive is a value without the minus of its numbers.
func positive(value string) string {
	parts := strings.Split(strings.TrimSpace(value), ",")
	for i, part := range parts {
		if minus.MatchString(part) {
			parts[i] = strings.TrimLeft(part, " \t-")
		}
	}
	return strings.Join(parts, ",")
}

// negative says what the table's versions make of a number below 0, by the rest of a build.
func (t *OptionTable) negative(o Option, b build) *Misreading {
	var newest *optionRow
	var taken []negativeNumber
	refused := false
	for at := t.to; at >= t.from; at-- {
		row := t.row(o.Name, at, "", true)
		if row == nil {
			continue
		}
		b.version = optionVersions[at]
		n, is := row.negative(o.raw(), b)
		if !is {
			return nil
		}
		newest = cmp.Or(newest, row)
		if refused = refused || n.refused; !n.refused && !slices.Contains(taken, n) {
			taken = append(taken, n)
		}
	}
	m := &Misreading{Hint: positive(o.Value)}
	switch {
	case len(taken) == 0: // Refusals has it
		return nil
	case taken[0].fault != "" && refused:
		m.Says = taken[0].fault + ": fio before 3.43 runs the job without it, and newer ones refuse it"
	case taken[0].fault != "":
		m.Says = taken[0].fault + ": fio runs the job without it"
	case len(taken) > 1:
		m.Says = "is below 0, which fio takes for another number"
	default:
		m.Says = fmt.Sprintf("is read as %s: fio has no number below 0 here", newest.print(taken[0].reads))
	}
	return m
}

// negative is the first part of a value that is below 0; false where there is none, or where it may be meant.
func (r *optionRow) negative(value string, b build) (negativeNumber, bool) {
	bounded := r.least > 0 || r.most > 0 && r.most < 1<<31
	if !r.counts() || r.least < 0 || r.profile != "" || slices.Contains(signed, r.name) || len(r.engines) > 0 && !bounded {
		return negativeNumber{}, false
	}
	for i, part := range strings.Split(value, ",") {
		if !minus.MatchString(part) {
			continue
		}
		switch read, ok := r.number(part, b); {
		case r.fault(value, false, b) != faultNone:
			return negativeNumber{refused: true}, true
		case !ok:
			return negativeNumber{}, false
		case r.partFault(part, b) != faultNone:
			why, _ := r.says(r.partFault(part, b), Option{Value: part})
			return negativeNumber{fault: why}, true
		case r.kind == typeZones && i == 0 && b.version.Before(signedNumbers): // of several the last counts
			read, _ = r.number(strings.TrimLeft(part, " \t-"), b)
			return negativeNumber{reads: read.value}, true
		case r.kind == typeNumber:
			return negativeNumber{reads: uint64(uint32(read.value))}, true
		default:
			return negativeNumber{reads: read.value}, true
		}
	}
	return negativeNumber{}, false
}
