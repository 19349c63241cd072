package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/units"
)

// settle turns what was printed into figures: it works out what KB means, takes counts and rates
// from the lines that have most digits, and notes where lines contradict each other.
func (r *textRun) settle() {
	r.asked = commandOptions(r.out.Command)
	for _, j := range r.jobs {
		r.settleJob(j)
		if j.all {
			r.out.AllClients = &j.Job
			continue
		}
		r.out.Jobs, r.settled = append(r.out.Jobs, j.Job), append(r.settled, j)
	}
	if slices.ContainsFunc(r.jobs, (*textJob).si) {
		for _, g := range r.out.Groups {
			for name, d := range g.Directions {
				if !strings.Contains(d.Printed["bw"], "i") {
					g.Directions[name] = siGroup(d)
				}
			}
		}
	}
	// fio prints the heading of a group whose jobs all failed, and nothing below it.
	r.out.Groups = slices.DeleteFunc(r.out.Groups, func(g fio.Group) bool { return len(g.Directions) == 0 })
	slices.SortStableFunc(r.out.Unread, func(a, b fio.Unread) int { return cmp.Compare(a.Line, b.Line) })
	MarkMembers(r.out.Disks)
	r.markIndented()
	ownCPU(r.out.Jobs)
	r.out.Missing = r.lacks()
}

// oneCore is the most of a core that a thread can use, with the error of its clocks.
const oneCore = 1.01

// ownCPU divides CPU times that are the whole process's: fio 2.0 asks for those of the process (RUSAGE_SELF) and says
// them of each of its threads, so that eight threads in a row "use" 309 % of a core each.
func ownCPU(jobs []fio.Job) {
	if !slices.ContainsFunc(jobs, func(j fio.Job) bool { return j.Count > 1 && j.CPU.User+j.CPU.System > oneCore }) {
		return
	}
	for i := range jobs {
		n := float64(max(jobs[i].Count, 1))
		jobs[i].CPU.User, jobs[i].CPU.System = jobs[i].CPU.User/n, jobs[i].CPU.System/n
	}
}

// markIndented finds members by their indentation where the means did not tell.
func (r *textRun) markIndented() {
	for i, d := range r.out.Disks {
		if d.Aggregate == nil || i+1 >= len(r.out.Disks) || r.out.Disks[i+1].Member {
			continue
		}
		for k := i + 1; k < len(r.out.Disks) && r.out.Disks[k].Aggregate == nil && r.indents[k] < r.indents[i]; k++ {
			r.out.Disks[k].Member = true
		}
	}
}

// siGroup reads fio 2's status line again with KB as 1000 bytes.
func siGroup(d fio.GroupRate) fio.GroupRate {
	again := func(key string) float64 {
		n := ParseNum(d.Printed[key])
		factor, _ := n.bytes(1000)
		return n.Times(factor)
	}
	d.Bytes, d.BW = units.Bytes(math.Round(again("io"))), units.Rate(again("bw"))
	return d
}

func (j *textJob) si() bool {
	return slices.ContainsFunc(j.dirs[:], func(d textDirection) bool { return d.seen && d.Printed["kb"] == "1000" })
}

// blockSizes returns the block size of each direction where it is one and known, else 0.
func (j *textJob) blockSizes() (bs [3]float64) {
	text := j.Options["bs"]
	_, ranged := j.Options["bsrange"]
	if _, split := j.Options["bssplit"]; ranged || split || text == "" {
		return bs
	}
	for i, part := range strings.Split(text, ",") {
		v, err := units.ParseBytes(part)
		if err != nil || i > 2 {
			return [3]float64{}
		}
		for k := i; k < 3; k++ { // fio: what is left out is as the one before
			bs[k] = float64(v)
		}
	}
	return bs
}

// commandOptions are the options that the command line above the output gave each job, the first of
// a name.
func commandOptions(line string) map[string]fio.Options {
	words, err := shell.Split(line)
	at := command.At(words)
	if err != nil || at < 0 {
		return nil
	}
	file, err := command.Parse(words[at:])
	if err != nil {
		return nil
	}
	asked := map[string]fio.Options{}
	for _, s := range file.EachJob() {
		if asked[s.Name] != nil {
			continue
		}
		o := fio.Options{}
		for _, opt := range s.Options {
			if opt.Name != "name" {
				o[fio.BuiltinOptions().Main(opt.Name)] = opt.Value
			}
		}
		asked[s.Name] = o
	}
	return asked
}

func (r *textRun) settleJob(j *textJob) {
	// Of its own it has the description.
	if given := fio.Merged(r.asked[j.Name], r.echoOf(j), j.Options); len(given) > 0 {
		j.Options = given
	}
	// Of fio 3.1 to 3.5, and of 3.33, what should be the syncs' total stands as reads' short I/Os: the count of
	// fdatasyncs overran its array.
	if reads := &j.dirs[0]; j.Sync.Lat.Measured() && j.Sync.Lat.N == 0 {
		j.Sync.Lat.N, reads.Short = reads.Short, 0
	}
	slices.SortStableFunc(j.Buckets, func(a, b fio.Bucket) int { return cmp.Compare(uint64(a.Upto)-1, uint64(b.Upto)-1) })
	r.placeLoose(j)
	for key, options := range r.echoes {
		if j.Count > 1 && key.group == j.Group && key.name != j.Name && r.onlyRow(j) {
			if j.Others == nil {
				j.Others = map[string]fio.Options{}
			}
			j.Others[key.name] = options
		}
	}
	bs := j.blockSizes()
	if all := &j.dirs[3]; all.seen && !j.dirs[0].seen && !j.dirs[1].seen { // fio counts all as reads then
		reads := &j.dirs[0]
		all.issued, all.Short, all.Dropped = reads.issued, reads.Short, reads.Dropped
		reads.issued, reads.Short, reads.Dropped = 0, 0, 0
	} else if all.seen { // unified_rw_reporting=both, where fio 3.33 prints no rates
		all.issued = j.dirs[0].issued + j.dirs[1].issued + j.dirs[2].issued
	}
	for i := range j.dirs {
		d := &j.dirs[i]
		size := 0.0
		switch {
		case i < 3:
			size = bs[i]
		case bs[0] == bs[1]: // mixed
			size = bs[0]
		}
		if d.seen {
			d.settle(size, j.issued, func(format string, args ...any) {
				r.out.Doubt("%s: %s: %s", j.Name, fio.DirectionNames[i], fmt.Sprintf(format, args...))
			})
		} else {
			d.N = d.issued
			r.rateOfGroup(j, i, size)
		}
		j.Runtime = max(j.Runtime, d.Runtime)
	}
	if g := r.groupOf(j); g != nil {
		j.Group = g.ID
	}
	for i, d := range j.Directions() {
		*d = j.dirs[i].Direction
	}
	if j.dirs[3].seen {
		j.Mixed = &j.dirs[3].Direction
	}
}

// echoOf are the options that fio repeated of a row's job, by its name, or by the only name that ends in it: what
// somebody wrote, or a program before, stands in the same line.
func (r *textRun) echoOf(j *textJob) (o fio.Options) {
	if own, ok := r.echoes[textKey{j.Name, j.Group}]; ok || j.Name == "" {
		return own
	}
	for key, options := range r.echoes {
		if key.group == j.Group && strings.HasSuffix(key.name, " "+j.Name) {
			if o != nil {
				return nil
			}
			o = options
		}
	}
	return o
}

// placeLoose finds the direction of lines that were quoted without the line that names it: the only
// one that issued I/Os, or that the job's options or its status group name.
func (r *textRun) placeLoose(j *textJob) {
	if j.looseAt.Text == "" {
		return
	}
	var can []int
	for i := range 3 {
		if j.dirs[i].issued > 0 {
			can = append(can, i)
		}
	}
	if len(can) != 1 && j.Options["rw"] != "" {
		can = can[:0]
		if i := slices.Index(fio.DirectionNames[:3], strings.TrimPrefix(j.Options["rw"], "rand")); i >= 0 {
			can = append(can, i)
		}
	}
	if g := r.groupOf(j); len(can) != 1 && g != nil && len(g.Directions) == 1 {
		for i := range 3 {
			if _, ok := g.Of(i); ok {
				can = append(can[:0], i)
			}
		}
	}
	if len(can) != 1 || j.dirs[can[0]].seen {
		r.out.Unread = append(r.out.Unread, j.looseAt)
		return
	}
	d := &j.dirs[can[0]]
	l := j.loose
	l.issued, l.Short, l.Dropped = d.issued, d.Short, d.Dropped
	*d = l
}

// onlyRow says that a row is the only one of its group.
func (r *textRun) onlyRow(j *textJob) bool {
	if r.rows == nil {
		r.rows = map[int]int{}
		for _, each := range r.jobs {
			if !each.all {
				r.rows[each.Group]++
			}
		}
	}
	return r.rows[j.Group] == 1
}

// groupOf is the status group of a job, when that is the only row in it. A row whose heading was cut off is of that of
// several groups which alone has as many bytes.
func (r *textRun) groupOf(j *textJob) *fio.Group {
	groups := r.out.Groups
	at := slices.IndexFunc(groups, func(g fio.Group) bool { return g.ID == j.Group })
	if j.Name == "" && len(groups) > 1 {
		fits := func(g fio.Group) bool { return !slices.Contains(j.movedAll(&g), false) }
		if at = slices.IndexFunc(groups, fits); at >= 0 && slices.ContainsFunc(groups[at+1:], fits) {
			return nil
		}
	}
	if at < 0 || !r.onlyRow(j) {
		return nil
	}
	return &groups[at]
}

// movedAll says of each direction in which a row did I/O whether they were all of a group's: then they have one size.
func (j *textJob) movedAll(g *fio.Group) (all []bool) {
	bs := j.blockSizes()
	for i := range 3 {
		if n := j.dirs[i].issued; n > 0 {
			rate, ok := g.Of(i)
			all = append(all, ok && oneSize(float64(rate.Bytes)/float64(n), bs[i]))
		}
	}
	return all
}

// rateOfGroup fills in a direction whose line was not quoted from the status group that holds this
// job alone.
func (r *textRun) rateOfGroup(j *textJob, i int, bs float64) {
	d := &j.dirs[i]
	d.SettleCounts()
	g := r.groupOf(j)
	if i > 2 || d.N == 0 || g == nil {
		return
	}
	rate, _ := g.Of(i)
	if rate.MaxRun == 0 {
		return
	}
	d.Bytes, d.BW, d.Runtime = rate.Bytes, rate.BW, rate.MaxRun
	doubt := fmt.Sprintf("%s: its %s line is missing; the rates are those of its status group",
		cmp.Or(j.Name, "the row"), fio.DirectionNames[i])
	if rate.Most > 0 && rate.Most < aloneInGroup*rate.BW || !slices.Contains(j.movedAll(g), true) {
		r.out.Doubt("%s, and the %d I/Os are not all of the group's", doubt, d.N)
		d.N = 0
		return
	}
	d.IOPS = units.IOPS(float64(d.N) / rate.MaxRun.Seconds())
	if exact := units.Bytes(float64(d.N) * bs); exact > 0 && math.Abs(float64(exact-d.Bytes)) <= 0.01*float64(d.Bytes) {
		d.Bytes = exact
	}
	r.out.Doubt("%s", doubt)
}

// aloneInGroup is the share of a group's rate that its fastest job has at least where it is the only one.
const aloneInGroup = 0.9

// oneSize says that I/Os have the block size, or where none is known that of a power of two, within what fio rounds.
func oneSize(each, bs float64) bool {
	const rounded = 0.02
	return math.Abs(each/cmp.Or(bs, math.Exp2(math.Round(math.Log2(each))))-1) <= rounded
}

// settle refines a direction. bs is its block size, 0 when not known or not one.
func (d *textDirection) settle(bs float64, issued bool, doubt func(format string, args ...any)) {
	sec := d.Runtime.Seconds()
	k, _ := d.iops.kilo()
	d.IOPS = units.IOPS(d.iops.Times(k))
	// fio prints (issued total × 1000) / runtime, cut off to a whole number before it is rounded to
	// four digits.
	d.N = d.issued
	if exact := float64(d.issued) / sec; issued && sec > 0 && d.issued > 0 {
		if math.Abs(exact-float64(d.IOPS)) <= d.iops.step(k)+1 || d.Printed["iops"] == "" {
			d.IOPS = units.IOPS(d.iops.clamp(exact, k, 1))
		} else {
			doubt("%d issued in %v are %v IOPS, but %s is printed", d.issued, d.Runtime, units.IOPS(exact), d.Printed["iops"])
		}
	}
	if !issued && sec > 0 {
		d.N = uint64(math.Round(float64(d.IOPS) * sec))
		if factor, ok := d.io.bytes(1024); ok && bs > 0 && d.io.step(factor) <= bs { // the bytes count them better
			d.N = uint64(math.Round(d.io.Times(factor) / bs))
		}
	}
	d.SettleCounts()
	d.settleBytes(bs, sec, doubt)
}

// settleBytes finds bytes and bandwidth: from N × bs where that agrees with what is printed, else
// from the printed figure that has more digits.
func (d *textDirection) settleBytes(bs, sec float64, doubt func(format string, args ...any)) {
	kb := 1024.0
	if d.ambiguous() {
		if kb = d.kiloOf(bs); kb == 1000 {
			d.Printed["kb"] = "1000"
			doubt("KB is 1000 bytes here (kb_base=1000), as I/Os × block size shows")
		}
	} else if strings.Contains(d.bw.Unit, "B/s") && !strings.Contains(d.bw.Unit, "i") {
		kb = 1000 // fio 3 names IEC units as such
	}
	ioFactor, _ := d.io.bytes(kb)
	bwFactor, _ := d.bw.bytes(kb)
	bytes, bw := d.io.Times(ioFactor), d.bw.Times(bwFactor)
	ioStep, bwStep := d.io.step(ioFactor), d.bw.step(bwFactor)
	if sec > 0 && bw > 0 && math.Abs(bw*sec-bytes) > ioStep+bwStep*sec+0.02*bytes {
		doubt("%s for %v is not %s", d.Printed["bw"], d.Runtime, d.Printed["io"])
	}
	exact := float64(d.N) * bs
	switch {
	case bs > 0 && d.N > 0 && math.Abs(exact-bytes) <= ioStep+bs*64:
		bytes = d.io.clamp(exact, ioFactor, 0)
		d.Bytes = units.Bytes(math.Round(bytes))
	case bw > 0 && sec > 0 && bwStep*sec < ioStep && math.Abs(bw*sec-bytes) <= ioStep:
		d.Bytes = units.Bytes(math.Round(d.io.clamp(bw*sec, ioFactor, 0)))
	default:
		d.Bytes = units.Bytes(math.Round(bytes))
	}
	if bs > 0 && d.N > 0 && math.Abs(exact-bytes) > ioStep+0.02*bytes {
		doubt("%d I/Os × %s are %s, but %s is printed", d.N, units.Bytes(bs), units.Bytes(exact), d.Printed["io"])
	}
	d.BW = units.Rate(bw)
	if better := float64(d.Bytes) / sec; sec > 0 && bytes > 0 && math.Abs(better-bw) <= bwStep {
		d.BW = units.Rate(d.bw.clamp(better, bwFactor, 0))
	}
	unit := Num{Unit: d.bwUnit, OK: true}
	if factor, ok := unit.bytes(kb); ok && unit.Unit != "" && kb == 1000 && !strings.Contains(unit.Unit, "i") {
		was, _ := unit.bytes(1024)
		for _, v := range []*float64{&d.BWSamples.Min, &d.BWSamples.Max, &d.BWSamples.Mean, &d.BWSamples.StdDev} {
			*v *= factor / was
		}
	}
}

// ambiguous says whether the units are fio 2's, where KB is 1024 or 1000 bytes.
func (d *textDirection) ambiguous() bool {
	return d.Printed["bw_si"] == "" && !strings.Contains(d.bw.Unit, "i") && !strings.Contains(d.io.Unit, "i")
}

// kiloOf tells fio 2's two KBs apart: I/Os × block size is the bytes; without a block size, a whole
// number of sectors an I/O.
func (d *textDirection) kiloOf(bs float64) float64 {
	if d.N == 0 || d.io.Mant == 0 {
		return 1024
	}
	factor, _ := d.io.bytes(1024)
	si, _ := d.io.bytes(1000)
	n := float64(d.N)
	per, perSI, slack := d.io.Times(factor)/n, d.io.Times(si)/n, d.io.step(factor)/n
	miss := func(v float64) float64 {
		if bs > 0 {
			return math.Abs(v - bs)
		}
		return math.Abs(v - 4096*math.Round(v/4096))
	}
	if limit := slack + per*0.002; miss(per) > limit && miss(perSI) <= limit {
		return 1000
	}
	return 1024
}
