package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/text"
)

// Metric is a metric with all its samples, for OpenMetrics wants them together.
type Metric struct {
	name, about string
	samples     strings.Builder
}

// NewMetric is a gauge or a counter. What it is about and the unit that its name ends with may be "".
func NewMetric(kind, name, help, unit string) *Metric {
	m := &Metric{name: name}
	for _, line := range [][2]string{{"HELP", help}, {"TYPE", kind}, {"UNIT", unit}} {
		if line[1] != "" {
			m.about += fmt.Sprintf("# %s %s %s\n", line[0], name, line[1])
		}
	}
	if kind == "counter" {
		m.name += "_total"
	}
	return m
}

// Add adds a sample with its labels, a name and a value each. One that is no number is none.
func (m *Metric) Add(value float64, labels ...string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	var pairs []string
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, labels[i]+`="`+
			strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text.Clean(labels[i+1], mostCell))+`"`)
	}
	fmt.Fprintf(&m.samples, "%s{%s} %s\n", m.name, strings.Join(pairs, ","), strconv.FormatFloat(value, 'g', -1, 64))
}

// Metrics are those that have samples as OpenMetrics text, which the textfile collector of the node exporter reads,
// too.
func Metrics(all ...*Metric) string {
	var b strings.Builder
	for _, m := range all {
		if m.samples.Len() > 0 {
			b.WriteString(m.about + m.samples.String())
		}
	}
	return b.String() + "# EOF\n"
}
