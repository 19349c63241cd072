package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/text"
)

// Probe prints what the members of each array gave alone and together, and what that says.
func Probe(
	w io.Writer,
	n int,
	array func(int) (name string, members []diagnose.Probed, answer string),
	width int,
) error {
	var b strings.Builder
	for i := range n {
		name, members, answer := array(i)
		fmt.Fprintf(&b, "%s, random reads of 8 KiB, 16 in flight\n", text.Clean(name, 60))
		fmt.Fprintf(&b, "  %-12s %-22s %12s %12s %12s\n", "volume", "serial", "IOPS alone", "latency", "together")
		for _, m := range members {
			together := "-"
			if len(members) > 1 {
				together = m.Together.String()
			}
			fmt.Fprintf(&b, "  %-12s %-22s %12s %12s %12s\n",
				text.Clean(m.Device, 20), text.Clean(m.Serial, 40), m.Alone, m.Latency, together)
		}
		for _, line := range text.Wrap(answer, width, "  ", "    ") {
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
