package telemetry

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxCells bounds what a series holds: 256 MiB of counters, 2.5 hours of 24 devices at 10 Hz.
const maxCells = 1 << 25

// timeColumn comes before the row's: the wall clock, so that a file can be laid beside others.
const timeColumn = "time_us"

// Write writes s as zstd-compressed CSV: a header whose names end in the unit (at_us,
// nvme0n1.read_bytes), then a line a sample. Counters are cumulative; a cell is empty where the
// device was gone; columns in s.Absent are left out. DuckDB reads it as
// read_csv('samples.csv.zst'), pandas as read_csv("samples.csv.zst").
func Write(w io.Writer, s *Series) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	if err := writeCSV(z, s); err != nil {
		_ = z.Close() // the first error tells more
		return err
	}
	return z.Close()
}

func writeCSV(w io.Writer, s *Series) error {
	for _, d := range s.Devices {
		if d == "" || strings.ContainsFunc(d, func(r rune) bool { return r < ' ' || r == '"' }) {
			return fmt.Errorf("device %q: not a name that the kernel gives", d)
		}
	}
	header, skip := []string{timeColumn}, make([]bool, rowWidth(len(s.Devices)))
	for i := range skip {
		name := columnName(i)
		if skip[i] = slices.Contains(s.Absent, name); skip[i] {
			continue
		}
		if i >= hostWidth {
			name = s.Devices[(i-hostWidth)/deviceWidth] + "." + name
		}
		header = append(header, name)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	cw := csv.NewWriter(out)
	if err := cw.Write(header); err != nil {
		return err
	}
	cw.Flush()
	row := make([]uint64, len(skip))
	start := s.Start.UnixMicro()
	var line []byte
	for i := range s.Samples {
		sample := &s.Samples[i]
		if len(sample.Devices) != len(s.Devices) {
			return fmt.Errorf("sample %d has %d devices, its series %d", i, len(sample.Devices), len(s.Devices))
		}
		encodeRow(sample, s.CPUs, row)
		line = strconv.AppendInt(line[:0], start+sample.At.Microseconds(), 10)
		for i, v := range row {
			if skip[i] {
				continue
			}
			line = append(line, ',')
			if v != absent {
				line = strconv.AppendUint(line, v, 10)
			}
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// columnName is the name of a row's place, without the device.
func columnName(i int) string {
	if i < hostWidth {
		return hostColumns[i]
	}
	return deviceColumns[(i-hostWidth)%deviceWidth]
}
