package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

func (y *streamYAML) into(d *Demand) error {
	s := Stream{Name: cmp.Or(y.Name.text, fmt.Sprintf("stream-%d", len(d.Streams)+1))}
	here := scalar{s.Name, y.at}
	if !plainName(s.Name) {
		return y.Name.wrong("name %.40q: want up to 64 letters, digits, hyphens and underscores", s.Name)
	}
	if slices.ContainsFunc(d.Streams, func(o Stream) bool { return o.Name == s.Name }) {
		return y.Name.wrong("name %s: another stream has it", s.Name)
	}
	for _, f := range []func(*Stream, *Demand, scalar) error{
		y.does, y.blocks, y.counts, y.rates, y.times, y.latencies, y.syncs,
	} {
		if err := f(&s, d, here); err != nil {
			return err
		}
	}
	d.Streams = append(d.Streams, s)
	return nil
}

func (y *streamYAML) does(s *Stream, _ *Demand, here scalar) (err error) {
	words := strings.Fields(y.Does.text)
	unclear := cmp.Or(y.Does, here).wrong("does %.60q: want sequential or random, then read, write or readwrite",
		y.Does.text)
	if len(words) != 2 || words[0] != "random" && words[0] != "sequential" {
		return unclear
	}
	s.Random = words[0] == "random"
	switch words[1] {
	case "read":
		s.ReadShare = 1
	case "write":
	case "readwrite":
		if !y.Reads.given() {
			return y.Does.wrong("readwrite needs reads:, the share of the I/Os that read, such as 70%%")
		}
		if s.ReadShare, err = percent(y.Reads, "reads"); err != nil {
			return err
		}
	default:
		return unclear
	}
	if y.Reads.given() && words[1] != "readwrite" {
		return y.Reads.wrong("reads: goes with does: %s readwrite", words[0])
	}
	return nil
}

// MaxBlock is the largest block of a demand.
const MaxBlock = units.GiB

func (y *streamYAML) blocks(s *Stream, d *Demand, here scalar) error {
	add := func(at scalar, share float64) error {
		b, err := sizeOf(at, "block")
		if err != nil {
			return err
		}
		if b%512 != 0 || b == 0 || b > MaxBlock {
			return at.wrong("block %s: %d bytes is not a whole number of sectors of 512, up to 1GiB; 64KiB is 65,536 bytes, "+
				"64KB 64,000", at.text, uint64(b))
		}
		if decimal(at.text) {
			d.note("%s: a block of %s is %v", s.Name, at.text, b)
		}
		s.Blocks = append(s.Blocks, Block{b, share})
		return nil
	}
	if y.Block.single.given() {
		return add(y.Block.single, 1)
	}
	sum := 0.0
	for _, e := range y.Block.list {
		share, err := percent(e.value, "block "+e.key.text)
		if err != nil {
			return err
		}
		if err := add(e.key, share); err != nil {
			return err
		}
		sum += share
	}
	if len(s.Blocks) == 0 {
		return here.wrong("%s: block is missing; give one such as 64KiB or {8KiB: 60%%, 32KiB: 40%%}", s.Name)
	}
	if math.Abs(sum-1) > 0.0001 {
		return y.Block.list[0].key.wrong("block: the shares add up to %s, not to 100 %%", text.Share(sum))
	}
	return nil
}

func (y *streamYAML) counts(s *Stream, _ *Demand, _ scalar) (err error) {
	if s.Threads, err = count(y.Threads, "threads", 0); err != nil {
		return err
	}
	if s.Depth, err = count(y.Depth, "depth", 0); err != nil {
		return err
	}
	if y.Apart.given() {
		if s.Apart, err = strconv.ParseBool(y.Apart.text); err != nil {
			return y.Apart.wrong("apart %.40q: want true or false", y.Apart.text)
		}
	}
	return nil
}

// rates reads rate: and iops:, of which one is enough. Both must agree.
func (y *streamYAML) rates(s *Stream, d *Demand, here scalar) error {
	if !y.Rate.given() && !y.IOPS.given() {
		return here.wrong("%s: rate is missing; give one such as 80MiB/s, 1280 IOPS or 5MiB/s per thread", s.Name)
	}
	block := s.MeanBlock()
	for _, at := range []scalar{y.Rate, y.IOPS} {
		if !at.given() {
			continue
		}
		l, err := s.load(at, d)
		if err != nil {
			return err
		}
		if l.IOPS == 0 {
			l.IOPS = units.IOPS(float64(l.Rate) / block)
		} else {
			l.Rate = units.Rate(float64(l.IOPS) * block)
		}
		if s.IOPS > 0 && math.Abs(float64(l.IOPS/s.IOPS)-1) > 0.01 {
			return at.wrong("%s contradicts rate: %s, which at a mean block of %v is %v IOPS",
				at.text, y.Rate.text, units.Bytes(block+0.5), s.IOPS)
		}
		if s.IOPS == 0 {
			s.IOPS, s.Rate = l.IOPS, l.Rate
		}
	}
	return nil
}

// load reads one rate: its figure of all threads together.
func (s *Stream) load(at scalar, d *Demand) (Load, error) {
	word, each := strings.CutSuffix(strings.TrimSpace(at.text), "per thread")
	word = strings.TrimSpace(word)
	n := 1.0
	if each {
		if s.Threads == 0 {
			return Load{}, at.wrong("rate %s: per thread needs threads:", at.text)
		}
		n = float64(s.Threads)
	}
	var l Load
	if ops, ok := strings.CutSuffix(strings.ToLower(word), "iops"); ok {
		v, err := units.ParseIOPS(strings.TrimSpace(ops))
		if err != nil {
			return l, yamlfile.At(at.at, fmt.Errorf("rate: %w", err))
		}
		l.IOPS = v * units.IOPS(n)
	} else {
		v, err := units.ParseRate(word)
		unit := strings.TrimLeft(word, "0123456789., ")
		switch {
		case err != nil:
			return l, at.wrong("rate %.40q: want a number with its unit, such as 80MiB/s, 80MB/s or 1280 IOPS", at.text)
		case unit == "":
			return l, at.wrong("rate %s: %s of what? say %sMiB/s, %sMB/s or %s IOPS", at.text, word, word, word, word)
		case len(unit) == len("M/s") && unit[0] != 'B' && strings.HasSuffix(unit, "/s"):
			return l, at.wrong("rate %s: M is 1,048,576 to fio and 1,000,000 to others; say %siB/s or %sB/s",
				at.text, strings.TrimSuffix(word, "/s"), strings.TrimSuffix(word, "/s"))
		}
		l.Rate = v * units.Rate(n)
		if decimal(word) {
			d.note("%s: %s is %v; fio's rate= counts in powers of 1024, where the same number would be %s more",
				s.Name, word, v, text.Percent(binaryOf(word)-1))
		}
	}
	if l.IOPS <= 0 && l.Rate <= 0 {
		return l, at.wrong("rate %s: want more than 0: a stream that does nothing is not one", at.text)
	}
	return l, nil
}

// decimal says that a size or rate is written with a prefix of powers of 1000 (MB), which is easily
// taken for one of 1024.
func decimal(text string) bool {
	unit := strings.TrimSuffix(strings.TrimLeft(text, "0123456789., "), "/s")
	return len(unit) == 2 && unit[1] == 'B'
}

// binaryOf is how much larger the binary unit of the same letter is: 1.049 for MB.
func binaryOf(text string) float64 {
	unit := strings.ToLower(strings.TrimLeft(text, "0123456789., "))
	power := strings.IndexByte("kmgtpe", unit[0]) + 1
	return math.Pow(1.024, float64(power))
}

func (y *streamYAML) times(s *Stream, _ *Demand, _ scalar) error {
	switch y.Arrivals.text {
	case "", "paced":
	case "poisson":
		s.Poisson = true
	default:
		return y.Arrivals.wrong("arrivals %.40q: want paced or poisson", y.Arrivals.text)
	}
	given := y.Burst
	if given == nil {
		return nil
	}
	b := &Burst{}
	for _, f := range []struct {
		at   scalar
		key  string
		into *time.Duration
	}{{given.For, "for", &b.For}, {given.Every, "every", &b.Every}, {given.After, "after", &b.After}} {
		optional := f.key == "after"
		switch {
		case !f.at.given() && optional:
			continue
		case !f.at.given():
			at := cmp.Or(given.For, given.Every, y.Name)
			return at.wrong("burst: %s is missing; give one such as {for: 5s, every: 30s}", f.key)
		}
		var err error
		if *f.into, err = durationOf(f.at, "burst: "+f.key, optional); err != nil {
			return err
		}
	}
	if b.For > b.Every {
		return given.For.wrong("burst: %s is longer than its period of %s", given.For.text, given.Every.text)
	}
	if b.After >= b.Every {
		return given.After.wrong("burst: after %s is not within the period of %s", given.After.text, given.Every.text)
	}
	s.Burst = b
	return nil
}

func (y *streamYAML) latencies(s *Stream, _ *Demand, _ scalar) error {
	if y.Latency == nil {
		return nil
	}
	for _, e := range y.Latency.percentiles {
		name := e.key.text
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if !strings.HasPrefix(name, "p") || err != nil || !(p > 0 && p < 100) {
			return e.key.wrong("latency: %.40q: want p50, p99, p99.9 or over", name)
		}
		v, err := durationOf(e.value, "latency: "+name, false)
		if err != nil {
			return err
		}
		s.Latency.Percentiles = append(s.Latency.Percentiles, Percentile{p, v})
	}
	for _, e := range y.Latency.over.list {
		limit, err := durationOf(e.key, "latency: over", false)
		if err != nil {
			return err
		}
		share, err := percent(e.value, "latency: over "+e.key.text)
		if err != nil {
			return err
		}
		s.Latency.Over = append(s.Latency.Over, Over{limit, share})
	}
	return nil
}

func (y *streamYAML) syncs(s *Stream, _ *Demand, _ scalar) error {
	kind, each := y.Sync.single, scalar{}
	for _, e := range y.Sync.list { // {fdatasync: 1}
		if kind.given() {
			return e.key.wrong("sync: want one kind, such as fdatasync or {fdatasync: 1}")
		}
		kind, each = e.key, e.value
	}
	switch kind.text {
	case "", "none":
		return nil
	case "fdatasync", "fsync", "dsync":
	default:
		return kind.wrong("sync %.40q: want none, fdatasync, fsync or dsync", kind.text)
	}
	if !s.Writes() {
		return kind.wrong("sync %s: %s only reads", kind.text, s.Name)
	}
	n, err := count(each, "sync: "+kind.text, 1)
	if err != nil {
		return err
	}
	if kind.text == "dsync" && n != 1 {
		return each.wrong("sync: dsync holds for every write: want 1")
	}
	s.Sync = Sync{kind.text, n}
	return nil
}

func (d *Demand) note(format string, a ...any) {
	d.Notes = text.Once(d.Notes, fmt.Sprintf(format, a...))
}

// sizeOf reads a size, which needs a unit.
func sizeOf(s scalar, key string) (units.Bytes, error) {
	b, err := units.ParseBytes(s.text)
	if err != nil {
		return 0, yamlfile.At(s.at, fmt.Errorf("%s: %w", key, err))
	}
	if strings.Trim(s.text, "0123456789., ") == "" && b > 0 {
		return 0, s.wrong("%s %s: %s of what? give one such as %sKiB", key, s.text, s.text, s.text)
	}
	if b == 0 {
		return 0, s.wrong("%s %s: want more than 0", key, s.text)
	}
	return b, nil
}

func durationOf(s scalar, key string, zero bool) (time.Duration, error) {
	d, err := time.ParseDuration(s.text)
	if s.text == "0" {
		d, err = 0, nil
	}
	if err != nil || d < 0 || d == 0 && !zero || d > 366*24*time.Hour {
		return 0, s.wrong("%s %.40q: want a duration with its unit, such as 100ms or 5s", key, s.text)
	}
	return d, nil
}

// percent reads 70% as 0.7. A number without the sign is an error: 0.7 and 70 would be read alike.
func percent(s scalar, key string) (float64, error) {
	v, err := units.ParsePercent(s.text)
	if err != nil || v > 1 {
		return 0, s.wrong("%s %.40q: want a share from 0%% to 100%%, such as 70%%", key, s.text)
	}
	return v, nil
}

func count(s scalar, key string, otherwise int) (int, error) {
	if !s.given() {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.ReplaceAll(s.text, "_", ""))
	if err != nil || n < 1 || n > 1_000_000 {
		return 0, s.wrong("%s %.40q: want a whole number of 1 or more", key, s.text)
	}
	return n, nil
}
