package report

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
)

// Summary writes a line a result of fio's: where it was read, the job, and its figures, reads and writes together.
func Summary(w io.Writer, outputs []*fio.Output) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "file\tjob\tIOPS\tbandwidth\tmean\tp50\tp99\t\n")
	for _, o := range bundle.JoinFragments(outputs) {
		if len(o.Jobs) == 0 {
			fmt.Fprintf(t, "%s\tno job's result\t\t\t\t\t\t\n", clean(filepath.Base(o.Source), 40))
			continue
		}
		total := o.Jobs[0]
		if len(o.Jobs) > 1 {
			total = fio.MergeJobs(o.Jobs)
		}
		n, bw := Rates(total)
		l := latencyOf(total)
		mean := ""
		if l.Mean > 0 {
			mean = span(l.Mean)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", clean(filepath.Base(o.Source), 40), clean(o.Jobs[0].Name, 24),
			known("", n), known("", bw), mean, at(l, 50), at(l, 99))
	}
	return t.Flush()
}
