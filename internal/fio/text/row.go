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
	factor, good := 1.0, true
	if unit != "" {
		one := Num{Unit: strings.ReplaceAll(unit, " ", ""), OK: true}
		factor, good = one.bytes(1024)
		t.job.cur.Printed["bw_samples.unit"] = one.Unit
		t.job.cur.bwUnit = one.Unit
	}
	for _, f := range textFields(rest) {
		n := ParseNum(f[1])
		k, ok := n.kilo()
		switch f[0] {
		case "min":
			s.Min = n.Times(k * factor)
		case "max":
			s.Max = n.Times(k * factor)
		case "avg":
			s.Mean = n.Times(k * factor)
		case "stdev", "dev":
			s.StdDev = n.Times(k * factor)
		case "samples":
			s.N = n.Mant
		case "per":
			share, negative := strings.CutPrefix(f[1], "-") // fio's own overflow (3.25): the share is not known then
			if s.Share, ok = ParseShare(share); negative {
				s.Share = 0
			}
		default:
			ok = false
		}
		good = good && ok
	}
	return good
}

func (j *textJob) cpu(rest string) bool {
	good := true
	for _, f := range textFields(rest) {
		n, ok := ParseNum(f[1]), true
		switch f[0] {
		case "usr":
			j.CPU.User, ok = ParseShare(f[1])
		case "sys":
			j.CPU.System, ok = ParseShare(f[1])
		case "ctx":
			j.CPU.ContextSwitches = n.Mant
		case "majf":
			j.CPU.MajorFaults = n.Mant
		case "minf":
			j.CPU.MinorFaults = n.Mant
		default:
			ok = false
		}
		good = good && ok && n.OK
	}
	return good
}

func shareList(rest string) ([]fio.Share, bool) {
	var list []fio.Share
	good := true
	for _, f := range textFields(rest) {
		v, ok := ParseShare(f[1])
		good = good && ok && f[0] != ""
		list = append(list, fio.Share{Label: f[0], Value: v})
	}
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
	good := true
	for _, f := range textFields(rest) {
		num, _, _ := strings.Cut(f[1], "/")
		n := ParseNum(num)
		switch f[0] {
		case "total":
			j.TotalErrors = n.Mant
		case "first_error":
			j.FirstError = atoi(num)
		default:
			good = false
		}
		good = good && n.OK
	}
	return good
}

func (j *textJob) target(rest string) bool {
	unit, good := time.Nanosecond, true
	if j.old {
		unit = time.Microsecond
	}
	tgt := &fio.Target{}
	for _, f := range textFields(rest) {
		n := ParseNum(strings.TrimSuffix(f[1], "%"))
		switch f[0] {
		case "target":
			tgt.Target = fio.Duration(n.Times(1), unit)
		case "window":
			tgt.Window = fio.Duration(n.Times(1), time.Microsecond)
		case "percentile":
			tgt.Percentile = n.Times(1)
		case "depth":
			tgt.Depth = atoi(f[1])
		default:
			good = false
		}
		good = good && n.OK
	}
	j.Target = tgt
	return good
}
