package telemetry

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Bounds on a file that someone else may have made.
const (
	maxLine    = 1 << 20
	maxDevices = 4096
)

// Read reads what Write wrote; columns may be missing, unknown or in another order. Memory is
// bounded whatever the input. When the file is cut off or spoilt, the samples before that come with
// the error.
func Read(r io.Reader) (*Series, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20),
		zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return readCSV(z)
}

func readCSV(r io.Reader) (*Series, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	lines.Split(wholeLines)
	if !lines.Scan() {
		return nil, fmt.Errorf("samples: no header: %w", orEOF(lines.Err()))
	}
	names, err := csv.NewReader(bytes.NewReader(lines.Bytes())).Read()
	if err != nil {
		return nil, fmt.Errorf("samples line 1: %w", err)
	}
	devices, place, err := columns(names)
	if err != nil {
		return nil, err
	}
	if len(devices) > maxDevices {
		return nil, fmt.Errorf("samples line 1: %d devices: want at most %d", len(devices), maxDevices)
	}
	b := newSeries(time.Time{}, devices)
	row := make([]uint64, rowWidth(len(devices)))
	var wall int64
	for n := 2; lines.Scan(); n++ {
		if (n-4)*len(row) > maxCells { // a sampler keeps up to two rows more than the bound
			return nil, fmt.Errorf("samples line %d: more than %d numbers", n, maxCells)
		}
		if wall, err = parseLine(lines.Bytes(), place, row); err != nil {
			b.finish()
			return &b.Series, fmt.Errorf("samples line %d: %w", n, err)
		}
		if b.add(row); n == 2 {
			b.Start = time.UnixMicro(wall).Add(-b.Samples[0].At)
		} else if b.Samples[n-2].At < b.Samples[n-3].At {
			return nil, fmt.Errorf("samples line %d: %s goes back in time", n, hostColumns[colAt])
		}
	}
	b.finish()
	if err := lines.Err(); err != nil {
		return &b.Series, fmt.Errorf("samples: %w", err)
	}
	return &b.Series, nil
}

// wholeLines splits lines; one without its end is cut off, and its last number may be wrong.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

func orEOF(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// The places of columns that are not in a row.
const (
	placeNone = -1
	placeTime = -2
)

// columns finds the devices in a header, in order, and each column's place in a row.
func columns(names []string) (devices []string, place []int, err error) {
	host := map[string]int{timeColumn: placeTime}
	for i, c := range hostColumns {
		host[c] = i
	}
	device := map[string]int{}
	for i, c := range deviceColumns {
		device[c] = i
	}
	at := map[string]int{}
	seen := map[int]bool{}
	for _, name := range names {
		p, ok := host[name]
		if dot := strings.LastIndexByte(name, '.'); !ok && dot > 0 {
			var c int
			if c, ok = device[name[dot+1:]]; ok {
				i, known := at[name[:dot]]
				if !known {
					i = len(devices)
					at[name[:dot]] = i
					devices = append(devices, name[:dot])
				}
				p = hostWidth + i*deviceWidth + c
			}
		}
		if !ok {
			p = placeNone // a later version's
		} else if seen[p] {
			return nil, nil, fmt.Errorf("samples line 1: column %.60q twice", name)
		}
		seen[p] = true
		place = append(place, p)
	}
	if !seen[placeTime] || !seen[colAt] {
		return nil, nil, fmt.Errorf("samples line 1: no %s and %s columns: not a file of samples", timeColumn,
			hostColumns[colAt])
	}
	return devices, place, nil
}

var errCells = errors.New("want as many cells as the header has")

func parseLine(line []byte, place []int, row []uint64) (wall int64, err error) {
	for i := range row {
		row[i] = absent
	}
	for i, p := range place {
		cell, rest, more := bytes.Cut(line, []byte{','})
		line = rest
		if more != (i < len(place)-1) {
			return 0, errCells
		}
		if p == placeTime {
			if wall, err = strconv.ParseInt(string(cell), 10, 64); err != nil || wall < 0 || wall > 1<<53 {
				return 0, fmt.Errorf("%s %.30q: want microseconds since 1970", timeColumn, cell)
			}
			continue
		}
		if p == placeNone || len(cell) == 0 {
			continue
		}
		v, tail, ok := nextNumber(cell)
		if !ok || len(tail) > 0 {
			return 0, fmt.Errorf("column %d: %.30q: want a whole number", i+1, cell)
		}
		if p == colAt && v > 1<<53 {
			return 0, fmt.Errorf("column %d: %.30q: beyond any run", i+1, cell)
		}
		row[p] = v
	}
	if row[colAt] == absent {
		return 0, fmt.Errorf("%s is empty", hostColumns[colAt])
	}
	return wall, nil
}
