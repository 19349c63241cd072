package telemetry

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
)

// maxProc bounds what is read of one file of /proc: 4 MiB of diskstats are some 30,000 devices.
const maxProc = 4 << 20

// procFile is a file of /proc that is read again and again. The kernel generates the text for a
// read at offset 0, so an open file need not be opened again, which is half of the cost of a
// reading.
type procFile struct {
	root  fs.FS
	name  string
	file  fs.File
	at    io.ReaderAt // nil: the file must be opened for every reading
	buf   []byte
	whole bool // the end of the file matters too
}

func openProc(root fs.FS, name string, size int, whole bool) (*procFile, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	p := &procFile{root: root, name: name, file: f, buf: make([]byte, size), whole: whole}
	p.at, _ = f.(io.ReaderAt)
	return p, nil
}

func (p *procFile) close() {
	_ = p.file.Close() // opened for reading: nothing can be lost
}

// read returns the file's text (unless whole, its first len(buf) bytes), which is valid until the
// next read.
func (p *procFile) read() ([]byte, error) {
	for {
		n, err := p.readOnce()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("/%s: %w", p.name, err)
		}
		if n < len(p.buf) || !p.whole {
			return p.buf[:n], nil
		}
		if len(p.buf) >= maxProc {
			return nil, fmt.Errorf("/%s: longer than %d bytes", p.name, maxProc)
		}
		p.buf = make([]byte, 2*len(p.buf))
	}
}

func (p *procFile) readOnce() (int, error) {
	if p.at != nil {
		return p.at.ReadAt(p.buf, 0)
	}
	_ = p.file.Close()
	f, err := p.root.Open(p.name)
	if err != nil {
		return 0, err
	}
	p.file = f
	return io.ReadFull(f, p.buf)
}

// nextNumber reads the decimal number after any spaces at the start of b. A number beyond 64 bits
// counts as its greatest but one, which is not absent.
func nextNumber(b []byte) (v uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	start := i
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		d := uint64(b[i] - '0')
		if v > (math.MaxUint64-1-d)/10 {
			v = math.MaxUint64 - 1
			continue
		}
		v = v*10 + d
	}
	return v, b[i:], i > start
}

// sector is the unit of /proc/diskstats, whatever the device's own sector size is
// (Documentation/admin-guide/iostats.rst).
const sector = 512

// parseDiskstats fills the devices' parts of row from /proc/diskstats; index gives a name's place
// among the devices. A line has 3 names and 11 counters, 15 since Linux 4.18 (discards) and 17
// since 5.5 (flushes). A device that is not listed is marked absent, and so are flushes that are
// not counted.
func parseDiskstats(text []byte, index map[string]int, row []uint64) error {
	for i := hostWidth; i < len(row); i++ {
		row[i] = absent
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\n")
		name, counters, ok := diskLine(line)
		if !ok && len(bytes.TrimSpace(line)) > 0 {
			return fmt.Errorf("/proc/diskstats line %d: %.60q: want two numbers, a name and counters", n, line)
		}
		at, ours := index[string(name)]
		if !ok || !ours {
			continue
		}
		if err := parseCounters(counters, deviceRow(row, at)); err != nil {
			return fmt.Errorf("/proc/diskstats line %d: %.60q: %w", n, line, err)
		}
	}
	return nil
}

// diskLine divides a line of /proc/diskstats: two numbers, a name, and the counters.
func diskLine(line []byte) (name, counters []byte, ok bool) {
	_, b, ok := nextNumber(line)
	if ok {
		_, b, ok = nextNumber(b)
	}
	name, counters, space := bytes.Cut(bytes.TrimLeft(b, " "), []byte{' '})
	return name, counters, ok && space
}

var errCounters = errors.New("want at least 11 counters")

// parseCounters fills a device's part of a row, which has no discards; flushes stay as they are where none are
// counted.
func parseCounters(b []byte, r []uint64) error {
	c, n := parseLive(b)
	if n < leastCounters {
		return errCounters
	}
	copy(r[:leastCounters], c[:])
	r[devReadBytes] *= sector
	r[devWriteBytes] *= sector
	if n > atFlushes {
		r[devFlushes], r[devFlushTime] = c[atFlushes], c[atFlushMs]
	}
	return nil
}

// msPerTick: /proc/stat counts in USER_HZ, 100 a second on every architecture that Go compiles for
// (asm-generic/param.h).
const msPerTick = 1000 / 100

// parseStat fills the CPU times of row from the first line of /proc/stat.
func parseStat(text []byte, row []uint64) error {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	b, ok := bytes.CutPrefix(line, []byte("cpu "))
	if !ok {
		return fmt.Errorf("/proc/stat line 1: %.60q: want cpu and its times", line)
	}
	// user nice system idle iowait irq softirq steal; guest times are part of user and nice
	// already.
	into := [...]int{colUser, colUser, colSystem, colIdle, colIOWait, colIRQ, colSoftIRQ, colSteal}
	row[colUser] = 0
	for i, col := range into {
		v, rest, ok := nextNumber(b)
		if !ok {
			return fmt.Errorf("/proc/stat line 1: %.60q: want %d times, found %d", line, len(into), i)
		}
		b = rest
		if i == 1 {
			row[col] += v * msPerTick
			continue
		}
		row[col] = v * msPerTick
	}
	return nil
}

// countCPUs counts the lines of /proc/stat that are about one core.
func countCPUs(text []byte) uint64 {
	var n uint64
	for line := range bytes.Lines(text) {
		if b, ok := bytes.CutPrefix(line, []byte("cpu")); ok && len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
			n++
		}
	}
	return n
}

// parseMeminfo fills dirty and writeback pages from /proc/meminfo, whose kB are KiB.
func parseMeminfo(text []byte, row []uint64) error {
	row[colDirty], row[colWriteback] = absent, absent
	for line := range bytes.Lines(text) {
		col := colDirty
		b, ok := bytes.CutPrefix(line, []byte("Dirty:"))
		if !ok {
			col = colWriteback
			b, ok = bytes.CutPrefix(line, []byte("Writeback:"))
		}
		if !ok {
			continue
		}
		v, _, ok := nextNumber(b)
		if !ok {
			return fmt.Errorf("/proc/meminfo: %.60q: want a number", bytes.TrimSpace(line))
		}
		if row[col] = v * 1024; row[colDirty] != absent && row[colWriteback] != absent {
			return nil
		}
	}
	return errors.New("/proc/meminfo: no Dirty and Writeback lines")
}

// parsePressure fills the stalls from /proc/pressure/io: "some avg10=0.00 avg60=0.00 avg300=0.00
// total=4051566", in µs.
func parsePressure(text []byte, row []uint64) error {
	row[colIOSome], row[colIOFull] = absent, absent
	for line := range bytes.Lines(text) {
		col := colIOSome
		switch {
		case bytes.HasPrefix(line, []byte("some ")):
		case bytes.HasPrefix(line, []byte("full ")):
			col = colIOFull
		default:
			continue
		}
		_, b, ok := bytes.Cut(line, []byte(" total="))
		if ok {
			row[col], _, ok = nextNumber(b)
		}
		if !ok {
			return fmt.Errorf("/proc/pressure/io: %.60q: want total=", bytes.TrimSpace(line))
		}
	}
	return nil
}
