package plans

import (
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Foreseen is what the model says of a layout that need not be built.
type Foreseen struct {
	Name      string
	Topology  *topology.Topology
	Scenarios []Outlook
	Month     cloud.USD `json:"usd_micro_month,omitempty"` // of the volumes; absent: no price is known
}

// Foresee is a layout with its ceilings.
func Foresee(name string, t *topology.Topology, all []Outlook) Foreseen {
	f := Foreseen{Name: name, Topology: t, Scenarios: all}
	for _, a := range t.Arrays {
		for _, v := range a.Volumes {
			typ, _ := cloud.TypeNamed(v.Type)
			each, ok := pricesOf(typ.Provider).Volume(
				cloud.VolumeSpec{Type: v.Type, Size: v.Size, IOPS: v.Sustained.IOPS, Rate: v.Sustained.Rate},
			)
			if !ok {
				f.Month = 0
				return f
			}
			f.Month += each
		}
	}
	return f
}

// idle is how long a read takes of a volume with nothing else to do, as the catalogue has it.
func (f Foreseen) idle() string {
	for _, a := range f.Topology.Arrays {
		for _, v := range a.Volumes {
			if typ, _ := cloud.TypeNamed(v.Type); typ.Typical != nil {
				return units.LatencyOf(time.Duration(typ.Typical.Read) * time.Microsecond).String()
			}
		}
	}
	return words.None
}

// Layouts is the document of what the model says of layouts before any is built: their ceilings beside each
// other, the first being the base, and which of them cannot differ.
func Layouts(all []Foreseen) *page.Document {
	d := page.New("layouts", best(all), "layouts", all)
	d.Records = layoutRecords(all)
	d.Head.About, _ = layout(all[0].Topology)
	t := page.NewTable("#, <scenario, <bound by?")
	for i, f := range all {
		t.Columns = append(t.Columns, page.Column{Name: text.Clean(f.Name, 20), Priority: max(0, i-4)})
	}
	spent := page.Table{Caption: "Sustained, once bursts are spent", Columns: t.Columns}
	if len(all[0].Scenarios) > 3 {
		spent.Level = page.Detail
	}
	for i, one := range all[0].Scenarios {
		kind, name, then := words.None, text.Clean(one.Name, 20), ""
		if one.Binding != nil {
			kind, then = string(one.Binding.Kind), one.lasting().Label()
		}
		row, lasts, bursts := page.Cells(one.ID, name, kind), page.Cells(one.ID, name, then), false
		for _, f := range all {
			o := f.Scenarios[i]
			cell := page.T(o.figure(o.Binding))
			if o.Ceiling.Unpaced() {
				cell.Text = "1/latency"
			} else if b := o.Binding; b != nil && one.Binding != nil && b.Kind != one.Binding.Kind {
				cell.Also = string(b.Kind)
			}
			row, lasts = append(row, cell), append(lasts, page.T(o.figure(o.lasting())))
			bursts = bursts || o.Ceiling.Held().Then != nil && !o.Ceiling.Unpaced()
		}
		if t.Add(row); bursts {
			spent.Add(lasts)
		}
	}
	idle, price := page.Cells("", "idle read, typical", ""), page.Cells("", "price a month", "")
	for _, f := range all {
		idle, price = append(idle, page.T(f.idle())), append(price, page.T(month(f.Month)))
	}
	if slices.ContainsFunc(idle[3:], func(c page.Cell) bool { return c.Text != idle[3].Text }) {
		t.Add(idle)
	}
	if slices.ContainsFunc(all, func(f Foreseen) bool { return f.Month > 0 }) {
		t.Add(price)
	}
	d.Add(t, spent, page.Sentences(sameByModel(all)...))
	return d
}

// logsOf are the logarithms of what a layout allows over what the first does, of the scenarios where both are known.
func logsOf(all []Foreseen, k int) (logs []float64) {
	for i, o := range all[k].Scenarios {
		if ratio, ok := o.Ceiling.Against(all[0].Scenarios[i].Ceiling); ok {
			logs = append(logs, math.Log(ratio))
		}
	}
	return logs
}

// best says which layout the model prefers over all scenarios.
func best(all []Foreseen) string {
	most, at, known := 1.0, 0, false
	for k := range all[1:] {
		logs, sum := logsOf(all, k+1), 0.0
		for _, v := range logs {
			sum += v
		}
		known = known || len(logs) > 0
		if mean := math.Exp(sum / float64(max(len(logs), 1))); mean > most*(1+ceiling.Alike) {
			most, at = mean, k+1
		}
	}
	base := all[0].Name
	switch {
	case !known:
		return "The model cannot tell these layouts apart: " + unknownHint(all[0].Topology)
	case at == 0:
		return "According to the model, no other layout is better than " + base
	}
	return fmt.Sprintf("According to the model, %s is best: %s times %s (geometric mean of the scenarios)", all[at].Name,
		text.Ratio(most)[1:], base)
}

// sameByModel names the layouts that nobody needs to build to compare them.
func sameByModel(all []Foreseen) []string {
	var lines text.Lines
	for k, f := range all[1:] {
		logs := logsOf(all, k+1)
		differs := func(v float64) bool { return math.Abs(v) >= ceiling.Alike }
		if len(logs) > 0 && !slices.ContainsFunc(logs, differs) {
			lines.Say("according to the model, %s performs the same as %s in %s of %d", f.Name, all[0].Name,
				text.Several(logs, "scenario"), len(f.Scenarios))
		}
	}
	return lines
}

func layoutRecords(all []Foreseen) page.Table {
	t := page.NewTable("layout, scenario, iops, bandwidth_bytes_per_s, bound_by, ratio, usd_month")
	for _, f := range all {
		for i, o := range f.Scenarios {
			if o.Binding == nil {
				continue
			}
			ratio, _ := o.Ceiling.Against(all[0].Scenarios[i].Ceiling)
			t.Add(f.Name, o.Name, words.Decimal(o.Binding.IOPS, 2), words.Decimal(o.Binding.BW, 0),
				o.Binding.Label(), words.Decimal(ratio, 4), words.Decimal(float64(f.Month)/1e6, 2))
		}
	}
	return t
}
