package fio

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// MisreadKind is what of an option fio takes for something else.
type MisreadKind int

// The kinds: a value, which Hint is another of, and what another option sets, which Hint is.
const (
	MisreadValue MisreadKind = iota
	MisreadOption
)

// Misreading is a value that fio takes for something that the line plainly does not mean.
type Misreading struct {
	Option Option
	Kind   MisreadKind
	// Says is what fio does with it: "reads 10 µs: it does not know the unit min".
	Says string
	// Old is what of the value New repairs; both empty where no repair is certain.
	Old, New string
	// Hint is what to write where a repair is likely and not certain.
	Hint string
}

// Misreadings are the values of the section that fio takes and reads in another way than they look,
// in the order of the text.
func (t *OptionTable) Misreadings(j JobText) (all []Misreading) {
	j = t.indexed(j)
	b := t.newest(j)
	for _, o := range j.Own {
		row := t.row(o.Name, t.to, "", true)
		if row == nil || j.open(o) {
			continue
		}
		var m *Misreading
		switch {
		case row.profile != "":
			m = &Misreading{
				Says: "is an option of fio's profile " + row.profile + ", and does nothing without it",
				Kind: MisreadOption, Hint: profileMeant(o.Name),
			}
		case o.Bare:
		default:
			if m = t.negative(o, b); m == nil && row.fault(o.raw(), false, b) == faultNone {
				m = row.misread(o.raw(), b)
			}
		}
		if m != nil {
			m.Option = o
			all = append(all, *m)
		}
	}
	return all
}

// profileMeant is the option that people mean by a profile's.
func profileMeant(name string) string {
	return map[string]string{"threads": "thread", "block": "bs", "dir": "directory", "load": "numjobs"}[name]
}

// misread is what fio makes of a value that it takes; nil for what it looks like.
func (r *optionRow) misread(value string, b build) *Misreading {
	switch {
	case r.kind == typeRange:
		return r.eachLost(value, ",-:", b)
	case r.name == "bssplit":
		var all []string
		for _, part := range listed(value) {
			size, share, _ := strings.Cut(part, "/")
			all = append(all, size)
			if digits := strings.TrimLeft(share, " 0123456789"); digits != "" && strings.Trim(digits, " %") != "" {
				return &Misreading{
					Says: fmt.Sprintf("gives %s the share %q, of which fio reads the digits", size, Clip(share)),
				}
			}
		}
		return r.eachLost(strings.Join(all, ","), ",", b)
	case !r.counts() || strings.HasPrefix(value, "(") || r.kind == typeZones && strings.HasSuffix(value, "z"):
		return nil
	}
	if m := cmp.Or(r.splitByDash(value, b), r.severalValues(value, b)); m != nil {
		return m
	}
	separators := ","
	if !strings.Contains(value, ",") {
		separators = ":-"
	}
	if r.kind == typeTime && strings.Contains(value, "-") { // the first part is read with what follows
		separators = ","
	}
	return r.eachLost(value, separators, b)
}

// listed are the parts of a value at its commas and colons.
func listed(value string) []string {
	return strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ':' })
}

// splitByDash is 4k-8k where fio keeps a value for reads and one for writes.
func (r *optionRow) splitByDash(value string, b build) *Misreading {
	low, high, ok := strings.Cut(value, "-")
	first, one := r.number(low, b)
	second, two := r.number(high, b)
	if !ok || r.parts != 3 || strings.ContainsAny(value, ",:") || strings.TrimSpace(low) == "" || !one || !two {
		return nil
	}
	m := &Misreading{Says: fmt.Sprintf("is not a range: fio takes %s for reads and %s for writes",
		r.print(first.value), r.print(second.value))}
	if r.name == "bs" {
		m.Kind, m.Hint = MisreadOption, "bsrange="+strings.TrimSpace(value)
	}
	return m
}

// severalValues is a list of an option that has one place for its value. Seen with fio 3.33: of size,
// io_size and offset the last one counts, of iodepth, numjobs and loops the first one.
func (r *optionRow) severalValues(value string, b build) *Misreading {
	list := listed(value)
	if r.parts > 1 || len(list) < 2 {
		return nil
	}
	kept, which := list[0], "first"
	if r.kind == typeZones {
		kept, which = list[len(list)-1], "last"
	}
	for _, part := range list {
		if read, ok := r.number(part, b); !ok || read.lost != "" {
			return nil
		}
	}
	kept = strings.TrimSpace(kept)
	return &Misreading{Hint: kept, Says: fmt.Sprintf("holds %d values, and fio has room for one: the %s (%s) counts",
		len(list), which, kept)}
}

// eachLost is the first part of which fio drops something that looks like a part of the number.
func (r *optionRow) eachLost(value, separators string, b build) *Misreading {
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		if read, ok := r.number(part, b); ok && read.lost != "" {
			return r.lost(part, read)
		} else if ok && !hasDigit(part) {
			return &Misreading{Says: "is read as 0"}
		}
	}
	return nil
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func (r *optionRow) lost(part string, read numberRead) *Misreading {
	given := strings.TrimSpace(part)
	switch {
	case read.lost == "ib":
		says := "is read as " + text.Plural(int64(read.value), "byte") +
			": with kb_base=1024 the unit KiB is 1,000 and k is 1,024"
		return &Misreading{Says: says, Old: given, New: strings.ToLower(given[:len(given)-2])}
	case r.kind == typeTime || r.time:
		says := fmt.Sprintf("is read as %s: fio does not know %q", r.print(read.value), Clip(read.lost))
		return &Misreading{Says: says, Hint: timeMeant(given)}
	}
	m := &Misreading{Says: fmt.Sprintf("is read as %s: fio drops %q", r.print(read.value), Clip(read.lost))}
	if strings.HasPrefix(part, " ") || strings.HasPrefix(part, "\t") {
		m.Says = fmt.Sprintf("is read as %s: after a space fio does not see the unit", r.print(read.value))
		m.Old, m.New = part, given
	}
	return m
}

// timeMeant is a time in a unit that fio knows.
func timeMeant(given string) string {
	digits := given[:len(given)-len(strings.TrimLeft(given, "0123456789"))]
	unit := strings.ToLower(strings.TrimSpace(given[len(digits):]))
	for word := range strings.FieldsSeq("sec=s min=m hour=h hr=h day=d mic=us mil=ms s=s m=m h=h d=d") {
		if start, known, _ := strings.Cut(word, "="); strings.HasPrefix(unit, start) && !hasDigit(unit) {
			return digits + known
		}
	}
	return ""
}

// print is a number with the option's unit.
func (r *optionRow) print(n uint64) string {
	size := r.kind == typeSize || r.kind == typeZones || sizes[r.name]
	switch {
	case r.kind == typeTime || r.time:
		return text.Duration(time.Duration(n) * time.Microsecond)
	case size && n < uint64(units.KiB):
		return text.Plural(int64(n), "byte")
	case size:
		return units.Bytes(n).String()
	}
	return text.Count(int64(n))
}

// sizes are the options of a number's type whose number is one of bytes.
var sizes = map[string]bool{"bs": true, "ba": true, "bsrange": true, "bssplit": true, "rate": true, "rate_min": true}
