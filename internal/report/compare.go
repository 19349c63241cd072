package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/units"
)

// Compare writes a comparison as text: a line a figure, the ratio with its interval, and what else differs. Changes that the
// intervals do not cover are marked.
func Compare(w io.Writer, c bundle.Comparison) error {
	var out strings.Builder
	fmt.Fprintf(&out, "before  %s\nafter   %s\n", clean(c.Before, 100), clean(c.After, 100))
	scenario := ""
	for _, r := range c.Rows {
		if r.Scenario != scenario {
			scenario = r.Scenario
			fmt.Fprintf(&out, "\n%s\n", clean(scenario, 64))
		}
		fmt.Fprintf(&out, "  %-10s %12s -> %12s  %s\n", r.Metric, amount(r.Before, r.Unit), amount(r.After, r.Unit), ratioText(r))
	}
	if len(c.Rows) == 0 {
		out.WriteString("\nno scenario is in both runs\n")
	}
	out.WriteString("\n")
	for _, d := range c.Doubts {
		fmt.Fprintf(&out, "note: %s\n", clean(d, 300))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func amount(v float64, u bundle.Unit) string {
	switch u {
	case bundle.BytesPerSec:
		return units.Rate(v).String()
	case bundle.Nanoseconds:
		return span(v)
	case bundle.PerSecond:
	}
	return units.IOPS(v).String()
}

// ratioText is "x1.08 ±0.02  more", or "x1.01 ±0.03  within the noise".
func ratioText(c bundle.Change) string {
	text := fmt.Sprintf("x%.3g", c.Ratio.Center)
	if c.Ratio.N < 2 {
		return text
	}
	text += fmt.Sprintf(" ±%.2g", (c.Ratio.Hi-c.Ratio.Lo)/2)
	switch {
	case !c.Clear():
		return text + "  within the noise"
	case c.Ratio.Center > 1:
		return text + "  more"
	}
	return text + "  less"
}
