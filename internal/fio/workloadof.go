package fio

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// DefaultEngine is what fio on Linux uses when ioengine is not given.
const DefaultEngine = "psync"

// defaultBS is fio's bs when not given.
const defaultBS = 4 * units.KiB

// WorkloadOf works out what a job asks of the storage. The section is effective
// (JobFile.Effective): global options are in it. name becomes the workload's. Options that it does
// not know are passed over; a value that fio would not take, or that is not known yet
// (${NUM_JOBS}), is an error naming the option.
func WorkloadOf(name string, s Section) (Workload, error) {
	r := newOptionReader(s)
	w := Workload{
		Name:       name,
		Engine:     DefaultEngine,
		Jobs:       int(r.number("numjobs", 1)),
		Runtime:    r.time("runtime", time.Second, ""),
		Ramp:       r.time("ramp_time", time.Second, ""),
		StartDelay: r.time("startdelay", time.Second, "-"), // of a range the later: nothing may start after it
		ThinkTime:  r.time("thinktime", time.Microsecond, ""),
		TimeBased:  r.flag("time_based"),
		Stonewall:  r.flag("stonewall"),
		NewGroup:   r.flag("new_group"),
		Filename:   s.Filename(),
		Directory:  r.text("directory"),
		Direct:     r.direct(),
		VerifyOn:   !slices.Contains([]string{"", "0"}, r.text("verify")),
		PreRead:    r.flag("pre_read"),
		KeepCache:  r.text("invalidate") == "0",
		EndSync:    r.flag("end_fsync") || r.flag("fsync_on_close"),
	}
	w.Buffered = !w.Direct
	w.SharedFile = w.Filename != ""
	if engine := r.text("ioengine"); engine != "" {
		engine, _, _ = strings.Cut(engine, ":") // external:/path
		w.Engine = engineAlias(engine)
	}
	w.Depth = int(r.number("iodepth", 1))
	if Synchronous(w.Engine) {
		if w.Depth > 1 {
			w.DepthAsked = w.Depth
		}
		w.Depth = 1
	}
	w.Polls = r.flag("hipri") || r.number("hipri_percentage", 0) > 0 || r.flag("sqthread_poll")
	r.direction(&w)
	r.blocks(&w)
	r.syncs(&w)
	w.Size = r.size("size")
	if w.Size == 0 {
		w.Size = r.size("filesize")
	}
	w.OffsetIncrement = r.size("offset_increment")
	if w.OffsetIncrement == 0 && strings.HasSuffix(r.text("offset_increment"), "%") {
		w.OffsetIncrement = 1 // apart, by a share of a file whose size is not known
	}
	rate, iops := r.sizesByDirection("rate"), r.sizesByDirection("rate_iops")
	w.ReadRate, w.WriteRate = units.Rate(rate[0]), units.Rate(rate[1])
	w.ReadIOPS, w.WriteIOPS = units.IOPS(iops[0]), units.IOPS(iops[1])
	if r.err != nil {
		r.err.Job = name
		return w, r.err
	}
	return w, nil
}

// BadOption is an option whose value fio would not take, or would take for something else.
type BadOption struct {
	Job, Option string // the option by fio's main name
	Err         error
}

func (e *BadOption) Error() string {
	return fmt.Sprintf("[%s] %s: %v", Clip(e.Job), e.Option, e.Err)
}

func (e *BadOption) Unwrap() error { return e.Err }

// optionReader reads values by fio's main name of each option; the last one given wins, by
// whichever alias. The first mistake stays in err.
type optionReader struct {
	last   map[string]Option
	order  map[string]int // from 1
	kbBase int
	err    *BadOption
}

func newOptionReader(s Section) *optionReader {
	r := &optionReader{
		last:   make(map[string]Option, len(s.Options)),
		order:  make(map[string]int, len(s.Options)),
		kbBase: 1024,
	}
	t := BuiltinOptions()
	for i, o := range s.Options {
		name := t.Main(o.Name)
		r.last[name], r.order[name] = o, i+1
	}
	if r.text("kb_base") == "1000" {
		r.kbBase = 1000
	}
	return r
}

func (r *optionReader) fail(name string, err error) {
	if r.err == nil {
		r.err = &BadOption{Option: name, Err: err}
	}
}

func (r *optionReader) value(name string) (string, bool) {
	o, ok := r.last[name]
	return strings.TrimSpace(o.Value), ok && !o.Bare
}

func (r *optionReader) text(name string) string { return strings.TrimSpace(r.last[name].Value) }

func (r *optionReader) number(name string, otherwise uint64) uint64 {
	v := r.text(name)
	first := numberParts(v)[0] // the others have no place
	if first == "" {
		return otherwise
	}
	n, err := partSize(first, r.kbBase) // fio takes suffixes in any integer
	if err == nil && uint64(n) > math.MaxInt32 {
		err = fmt.Errorf("%s is too large", Clip(v))
	}
	if err != nil {
		r.fail(name, err)
	}
	return uint64(n)
}

// flag reads an option that may stand bare.
func (r *optionReader) flag(name string) bool {
	o, ok := r.last[name]
	return ok && (o.Bare || strings.TrimSpace(o.Value) != "0")
}

func (r *optionReader) direct() bool {
	direct := r.flag("direct")
	if r.order["buffered"] > r.order["direct"] {
		direct = !r.flag("buffered")
	}
	return direct || r.flag("atomic")
}

// time reads a time, or the last of those of a range whose ends are parted by between.
func (r *optionReader) time(name string, unit time.Duration, between string) (most time.Duration) {
	v, ok := r.value(name)
	if !ok {
		return 0
	}
	parts := []string{v}
	if between != "" {
		parts = strings.Split(v, between)
	}
	for _, part := range parts {
		d, err := ParseTime(part, unit)
		if err != nil {
			r.fail(name, err)
		}
		most = max(most, d)
	}
	return most
}

// size reads a size; a percentage is 0, that is not known. Of several the last counts, and of a range, which
// only filesize has, the least.
func (r *optionReader) size(name string) units.Bytes {
	v, ok := r.value(name)
	if !ok {
		return 0
	}
	parts := text.Present(numberParts(v)...)
	if len(parts) == 0 {
		parts = []string{v}
	}
	counts := parts[len(parts)-1]
	if name == "filesize" {
		counts = parts[0]
	}
	b, err := partSize(counts, r.kbBase)
	if err != nil && !errors.Is(err, ErrPercent) {
		r.fail(name, err)
	}
	return b
}

// direction reads rw, whose value may end in :NR or :offset, and the shares of a mix.
func (r *optionReader) direction(w *Workload) {
	v, given := r.value("rw")
	v, _, _ = strings.Cut(v, ":")
	if !given {
		v = "read"
	}
	w.Sequential = !strings.HasPrefix(v, "rand")
	switch v {
	case "read", "randread":
		w.ReadShare = 1
	case "write", "randwrite":
	case "rw", "readwrite", "randrw":
		w.ReadShare, w.Mixed = float64(min(r.mix(), 100))/100, true
	case "trim", "randtrim":
		w.TrimShare = 1
	case "trimwrite", "randtrimwrite":
		w.TrimShare = 0.5 // each write behind a trim of its blocks
	default:
		r.fail("rw", fmt.Errorf("%q is not an I/O direction that fio knows", Clip(v)))
	}
}

// mix is the percentage of reads: rwmixread or 100 - rwmixwrite, the later of the two.
func (r *optionReader) mix() uint64 {
	for _, name := range []string{"rwmixread", "rwmixwrite"} {
		if v, given := r.value(name); given && len(numberParts(v)) > 1 { // 100:50 writes every other I/O
			r.fail(name, fmt.Errorf("%s: want one number", Clip(v)))
		}
	}
	read, write := r.number("rwmixread", 50), min(r.number("rwmixwrite", 50), 100)
	if r.order["rwmixwrite"] > r.order["rwmixread"] {
		return 100 - write
	}
	return read
}

// blocks reads bs, bsrange or bssplit, the last given of them, as sizes by direction.
func (r *optionReader) blocks(w *Workload) {
	from := slices.MaxFunc([]string{"bs", "bsrange", "bssplit"}, func(a, b string) int {
		return cmp.Compare(r.order[a], r.order[b])
	})
	v := r.text(from)
	parts := strings.Split(v, ",") // as fio's own code splits bssplit
	if from == "bs" {
		parts = numberParts(v)
	}
	blocks := make([]Sizes, 3)
	byDirection(r, from, parts, blocks, Sizes{{defaultBS, 1}}, func(part string) (Sizes, error) {
		sizes, err := r.sizes(from, part)
		if err == nil && sizes.Mean() == 0 {
			err = errors.New("a block has no bytes")
		}
		return sizes, err
	})
	if w.TrimShare > 0 {
		w.TrimBS = blocks[2].Mean()
	}
	align := []units.Bytes{0, 0}
	if !w.Sequential { // blockalign holds for random offsets only (init.c, fixup_options)
		align = r.sizesByDirection("ba")
	}
	if read := blocks[0]; w.Reads() {
		w.ReadBS, w.ReadLeast, w.ReadSizes, w.ReadAlign = read.Mean(), read.leastOfSeveral(), read.several(), align[0]
	}
	if write := blocks[1]; w.Writes() {
		w.WriteBS, w.WriteLeast, w.WriteSizes = write.Mean(), write.leastOfSeveral(), write.several()
		w.WriteAlign = align[1]
	}
}

// byDirection fills in the values of reads, writes and trims, as many as are asked for. A part that is not there
// is as the one before it, and an empty one as it was without the option.
func byDirection[T any](r *optionReader, name string, parts []string, values []T, otherwise T,
	read func(part string) (T, error),
) {
	before := otherwise
	for i := range values {
		if i < len(parts) && parts[i] == "" {
			before = otherwise
		} else if i < len(parts) {
			v, err := read(parts[i])
			if err != nil {
				r.fail(name, err)
			} else {
				before = v
			}
		}
		values[i] = before
	}
}

// sizesByDirection are the numbers of an option for reads and for writes, 0 where it says none.
func (r *optionReader) sizesByDirection(name string) []units.Bytes {
	values := make([]units.Bytes, 2)
	if v, given := r.value(name); given {
		byDirection(r, name, numberParts(v), values, 0, func(part string) (units.Bytes, error) {
			return partSize(part, r.kbBase)
		})
	}
	return values
}

// sizes are those of one direction, as the option from states them.
func (r *optionReader) sizes(from, s string) (Sizes, error) {
	switch from {
	case "bsrange":
		return r.rangeSizes(s)
	case "bssplit":
		return r.splitSizes(s)
	}
	b, err := partSize(s, r.kbBase)
	return Sizes{{b, 1}}, err
}

// mostSizes of a range are kept apart; a longer one is drawn in as many steps.
const mostSizes = 256

// rangeSizes of "4k-16k": fio draws u of 0..1 evenly and takes min + max × u, rounded down to a
// multiple of min and at most max (io_u.c, get_next_buflen): 4, 8, 12 and 16 KiB a quarter each.
func (r *optionReader) rangeSizes(s string) (Sizes, error) {
	least, most, err := r.rangeEnds(s)
	if err != nil {
		return nil, err
	}
	n := float64(most) / float64(least)
	step := math.Max(1, math.Floor(n/mostSizes))
	var out Sizes
	for at := 0.0; at < n; at += step {
		share := min(at+step, n) - at
		out = append(out, SizeShare{min(units.Bytes(at+1+(step-1)/2)*least, most), share / n})
	}
	return out, nil
}

// rangeEnds of "4k-16k", in whichever order: fio swaps them.
func (r *optionReader) rangeEnds(s string) (least, most units.Bytes, err error) {
	low, high, ok := strings.Cut(s, "-")
	if !ok {
		low, high, _ = strings.Cut(s, ":")
	}
	high, _, _ = text.CutAny(high, separators) // fio reads no third one
	one, err1 := ParseSize(low, r.kbBase)
	other, err2 := ParseSize(high, r.kbBase)
	if err1 != nil || err2 != nil || one == 0 || other == 0 {
		return 0, 0, fmt.Errorf("range %q: want one such as 4k-16k", Clip(s))
	}
	return min(one, other), max(one, other), nil
}

// splitSizes of "4k/60:64k/40", the percentages weighing the sizes. Sizes without one share what is
// left; where all have one, what is left falls to the last (io_u.c, get_next_buflen).
func (r *optionReader) splitSizes(s string) (Sizes, error) {
	var out Sizes
	var sum, open float64
	for part := range strings.SplitSeq(s, ":") {
		size, percent, _ := strings.Cut(part, "/")
		b, err := ParseSize(size, r.kbBase)
		if err != nil {
			return nil, err
		}
		p := -1.0
		if percent = strings.TrimSpace(percent); percent != "" {
			if p, err = strconv.ParseFloat(percent, 64); err != nil || p < 0 || p > 100 {
				return nil, fmt.Errorf("%q: want a percentage after the slash, such as 4k/60:64k/40", Clip(part))
			}
			sum += p
		} else {
			open++
		}
		out = append(out, SizeShare{b, p})
	}
	for i := range out {
		if out[i].Share < 0 {
			out[i].Share = max(100-sum, 0) / open
		}
		out[i].Share /= max(sum, 100)
	}
	out = slices.DeleteFunc(out, func(x SizeShare) bool { return x.Share == 0 })
	if len(out) == 0 {
		return nil, errors.New("no size has a share")
	}
	if open == 0 && sum < 100 {
		out[len(out)-1].Share += (100 - sum) / 100
	}
	return out, nil
}

// syncs reads how writes are made durable, by the tighter of fsync= and fdatasync=, which count writes.
func (r *optionReader) syncs(w *Workload) {
	for _, name := range []string{"fsync", "fdatasync"} {
		if n := int(r.number(name, 0)); n > 0 && (w.SyncEvery == 0 || n < w.SyncEvery) {
			w.SyncEvery, w.SyncCall = n, name
		}
	}
	w.SyncWrites = !slices.Contains([]string{"", "0", "none"}, r.text("sync"))
	if w.ReadShare+w.TrimShare >= 1 {
		w.SyncEvery, w.SyncCall, w.SyncWrites = 0, "", false
	}
}
