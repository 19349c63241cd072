// Package foreign reads what other programs than fio measured, as people paste it: sysbench's fileio,
// ioping, kubestr, and the summaries of dbench, kbench and yabs. Each is known by lines that nothing else
// prints, and becomes an output with what the program says and no more; what its figures leave open
// is a doubt.
package foreign

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/fio"
	fiotext "plimsoll/internal/fio/text"
	"plimsoll/internal/units"
)

// Limit is how much of a text is looked at, in bytes: these are summaries, not logs.
const Limit = 1 << 20

// most bounds the results of one text, and the jobs of each.
const most = 1 << 12

// Read reads the results of other programs in the start of a text. rest is the text with their lines
// emptied, so that all others keep their numbers. A text that has none comes back as it is.
func Read(data []byte) (outs []*fio.Output, rest []byte) {
	marks := []struct {
		mark string
		read func(*page) []*fio.Output
	}{
		{"total number of events:", sysbench},
		{"ioping statistics ---", ioping},
		{"JobName: ", kubestr},
		{"Read/Write", dbench},
		{"(Read/Write)", kbench},
		{"fio Disk Speed Tests", yabs},
	}
	var p *page
	for _, each := range marks {
		if !bytes.Contains(data, []byte(each.mark)) || bytes.IndexByte(data, 0) >= 0 {
			continue
		}
		if p == nil {
			p = newPage(data)
		}
		outs = append(outs, each.read(p)...)
	}
	if p == nil || len(outs) == 0 {
		return nil, data
	}
	return outs[:min(len(outs), most)], []byte(strings.Join(p.left, "\n"))
}

// page is a text line by line, and what is left of it when results were taken out.
type page struct{ lines, left []string }

func newPage(data []byte) *page {
	left := strings.Split(string(data), "\n")
	p := &page{left: left}
	for _, line := range left {
		line = strings.TrimLeft(strings.TrimRight(strings.ToValidUTF8(line, "\uFFFD"), " \t\r"), "> \t")
		p.lines = append(p.lines, line)
	}
	return p
}

// take empties the lines from one to another, counted from 0, both included.
func (p *page) take(from, to int) {
	for i := from; i <= min(to, len(p.left)-1); i++ {
		p.left[i] = ""
	}
}

// command is the arguments of a program's command that stands in at most so many lines above a line.
func (p *page) command(program string, above, within int) (args []string, found bool) {
	for i := above; i >= max(0, above-within); i-- {
		if strings.HasPrefix(p.lines[i], "---") { // of the run before
			break
		}
		words := strings.Fields(p.lines[i])
		for at, word := range words {
			if word == program || strings.HasSuffix(word, "/"+program) {
				return words[at+1:], true
			}
		}
	}
	return nil, false
}

// made is an output of another program: its jobs ran at the same time.
func made(program, title string, from, to int, jobs ...fio.Job) *fio.Output {
	return &fio.Output{
		Version: program, Program: program, Format: fio.Text, Title: title, Line: from + 1, End: to + 1, Jobs: jobs,
	}
}

// number reads a number with a decimal suffix; 0 for what is none.
func number(s string) float64 {
	v, ok := fiotext.ParseNum(strings.ReplaceAll(strings.ReplaceAll(s, ",", ""), " ", "")).Value()
	if !ok {
		return 0
	}
	return v
}

// rate reads a throughput with its unit, 0 for what is none.
func rate(s string) units.Rate {
	r, err := units.ParseRate(strings.ReplaceAll(s, " ", ""))
	if err != nil || r < 0 {
		return 0
	}
	return r
}

// took reads a time with its unit, such as "269.6 us"; 0 for what is none.
func took(s string) time.Duration {
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSuffix(s, "in"), " ", ""))
	if err != nil || d < 0 || d > longest {
		return 0
	}
	return d
}

// longest is what no run is above: a larger figure is none.
const longest = 366 * 24 * time.Hour

// size reads a number of bytes as these programs print it: in powers of 1024, whatever the unit is
// called ("16Kb", "16KiB").
func size(s string) units.Bytes {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "I")
	n, err := fio.ParseSize(strings.ToLower(s), 1024)
	if err != nil {
		return 0
	}
	return n
}

// direction is what is known of one direction's rate over a time. Counts follow from the rate.
func direction(n float64, bw units.Rate, ran time.Duration) fio.Direction {
	d := fio.Direction{IOPS: units.IOPS(n), BW: bw, Runtime: ran}
	if n <= 0 && bw <= 0 {
		return fio.Direction{}
	}
	if did := n * ran.Seconds(); did > 0 && did < 1<<53 {
		d.N = uint64(did + 0.5)
	}
	if moved := float64(bw) * ran.Seconds(); moved > 0 && moved < 1<<53 {
		d.Bytes = units.Bytes(moved)
	}
	return d
}

// silent says what a program does not print.
func silent(program, what string) string {
	return fmt.Sprintf("these are %s's figures, not fio's: it does not print %s", program, what)
}
