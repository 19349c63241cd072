package text

import (
	"strings"
	"time"

	"plimsoll/internal/fio"
)

// rowLine reads the lines of a row that begin with a fixed word.
func (t *Reader) rowLine(body string) bool {
	j := t.job
	name, rest, ok := strings.Cut(body, ":")
	if !ok {
		return false
	}
	rest = strings.TrimSpace(rest)
	good := true
	switch name = strings.TrimSpace(name); {
	case strings.HasPrefix(name, "bw ("):
		m := textBWStat.FindStringSubmatch(body)
		t.needDirection(body)
		good = m != nil && t.samples(&j.cur.BWSamples, m[2], m[1])
	case name == "iops":
		t.needDirection(body)
		good = t.samples(&j.cur.IOPSSamples, rest, "")
	case name == "cpu":
		if j.CPU != (fio.CPU{}) {
			t.tangle()
		}
		good = j.cpu(rest)
	case name == "IO depths":
		if len(j.Depths) > 0 {
			t.tangle()
		}
		j.Depths, good = shareList(rest)
	case name == "submit":
		j.Submit, good = shareList(rest)
	case name == "complete":
		j.Complete, good = shareList(rest)
	case strings.HasPrefix(name, "issued"): // "issued r/w/d" before 2.0.8
		if j.issued {
			t.tangle()
		}
		good = j.issuedLine(rest)
	case name == "errors":
		good = j.errorsLine(rest)
	case name == "latency":
		good = j.target(rest)
	case name == "Description":
		if j.Options == nil {
			j.Options = fio.Options{}
		}
		j.Options["description"] = strings.TrimSuffix(strings.TrimPrefix(rest, "["), "]")
	case name == "steadystate" || strings.HasPrefix(name, "zone resets"):
	case strings.HasPrefix(name, "fsync/fdatasync"):
		j.sync, j.Sync.Kind = true, name
	default:
		return false
	}
	if !good {
		t.unread(body, "")
	}
	return true
}

// samples reads "min= 3374, max= 4034, per=100.00%, avg=3739.65, stdev=15.30, samples=952"; unit is
// that of bandwidths.
func (t *Reader) samples(s *fio.Samples, rest, unit string) bool {
	factor, known := 1.0, true
	if unit != "" {
		one := Num{Unit: strings.ReplaceAll(unit, " ", ""), OK: true}
		factor, known = one.bytes(1024)
		t.job.cur.Printed["bw_samples.unit"] = one.Unit
		t.job.cur.bwUnit = one.Unit
	}
	return eachField(rest, func(name, value string) bool {
		n := ParseNum(value)
		k, ok := n.kilo()
		v := n.Times(k * factor)
		switch name {
		case "min":
			s.Min = v
		case "max":
			s.Max = v
		case "avg":
			s.Mean = v
		case "stdev", "dev":
			s.StdDev = v
		case "samples":
			s.N = n.Mant
		case "per":
			share, negative := strings.CutPrefix(value, "-") // fio's own overflow (3.25): the share is not known then
			if s.Share, ok = ParseShare(share); negative {
				s.Share = 0
			}
		default:
			return false
		}
		return ok
	}) && known
}

func (j *textJob) cpu(rest string) bool {
	return eachField(rest, func(name, value string) bool {
		n, ok := ParseNum(value), true
		switch name {
		case "usr":
			j.CPU.User, ok = ParseShare(value)
		case "sys":
			j.CPU.System, ok = ParseShare(value)
		case "ctx":
			j.CPU.ContextSwitches = n.Mant
		case "majf":
			j.CPU.MajorFaults = n.Mant
		case "minf":
			j.CPU.MinorFaults = n.Mant
		default:
			return false
		}
		return ok && n.OK
	})
}

func shareList(rest string) (list []fio.Share, good bool) {
	good = eachField(rest, func(label, value string) bool {
		v, ok := ParseShare(value)
		list = append(list, fio.Share{Label: label, Value: v})
		return ok && label != ""
	})
	return list, good && len(list) > 0
}

// issuedLine reads "total=0,7211815,0,0 short=0,0,0,0 dropped=0,0,0,0" or "total=r=0/w=6508565/d=0,
// short=…, drop=…".
func (j *textJob) issuedLine(rest string) bool {
	good := true
	fields := map[string]string{}
	for word := range strings.FieldsSeq(rest) {
		name, list, ok := strings.Cut(strings.TrimSuffix(word, ","), "=")
		good = good && ok
		fields[name] = list
	}
	counts := func(list string) (c [4]uint64) {
		for i, s := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '/' }) {
			if _, v, ok := strings.Cut(s, "="); ok {
				s = v
			}
			n := ParseNum(s)
			if i < len(c) {
				c[i] = n.Mant
			}
			good = good && n.OK && n.Unit == "" && i < len(c)
		}
		return c
	}
	total, short, drop := counts(fields["total"]), counts(fields["short"]), counts(fields["drop"]+fields["dropped"])
	for i := range 3 {
		j.dirs[i].issued, j.dirs[i].Short, j.dirs[i].Dropped = total[i], short[i], drop[i]
	}
	if j.Sync.Lat.Measured() {
		j.Sync.Lat.N = total[3]
	}
	j.issued = true
	delete(fields, "total")
	delete(fields, "short")
	delete(fields, "drop")
	delete(fields, "dropped")
	return good && len(fields) == 0
}

func (j *textJob) errorsLine(rest string) bool {
	return eachField(rest, func(name, value string) bool {
		num, _, _ := strings.Cut(value, "/")
		n := ParseNum(num)
		switch name {
		case "total":
			j.TotalErrors = n.Mant
		case "first_error":
			j.FirstError = atoi(num)
		default:
			return false
		}
		return n.OK
	})
}

func (j *textJob) target(rest string) bool {
	unit := time.Nanosecond
	if j.old {
		unit = time.Microsecond
	}
	j.Target = &fio.Target{}
	return eachField(rest, func(name, value string) bool {
		n := ParseNum(strings.TrimSuffix(value, "%"))
		v := n.Times(1)
		switch name {
		case "target":
			j.Target.Target = fio.Duration(v, unit)
		case "window":
			j.Target.Window = fio.Duration(v, time.Microsecond)
		case "percentile":
			j.Target.Percentile = v
		case "depth":
			j.Target.Depth = atoi(value)
		default:
			return false
		}
		return n.OK
	})
}
