package plans

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Limited is how a share of a device is kept for one control group.
type Limited struct {
	Path    string
	Device  *block.Device
	Keep    string
	Share   float64
	Rates   []ceiling.Rate    // what the storage sustains
	Allowed []ceiling.Allowed // of each of the others
	Wait    time.Duration     // for the others, of one I/O of the group that is kept
	Groups  []LimitedGroup    `json:"others"`
	V1      bool              `json:"version_1,omitempty"`
	Cost    time.Duration     `json:"cost_latency_ns,omitempty"`
}

// LimitedGroup is one of the others, and what it is set to.
type LimitedGroup struct {
	Name, Dir string
	Set       topology.Limits
}

// Differences are the limits that are not set as they should be.
func (l *Limited) Differences() []string {
	var all text.Lines
	for _, g := range l.Groups {
		set := map[string]float64{
			"riops": float64(g.Set.ReadIOPS), "wiops": float64(g.Set.WriteIOPS),
			"rbps": float64(g.Set.ReadRate), "wbps": float64(g.Set.WriteRate),
		}
		for _, a := range l.Allowed {
			if uint64(set[a.Key]) != a.Value {
				all.Say("%s: %s is %s, want %d", g.Name, a.Key,
					cmp.Or(strings.TrimPrefix(fmt.Sprint(uint64(set[a.Key])), "0"), "max"), a.Value)
			}
		}
	}
	return all
}

// Limits is the document of limits to set: the numbers with their sources, then the lines in each form.
func Limits(l *Limited, check bool) *page.Document {
	d := page.New("limits", "", "limits", l)
	numbers, values := page.NewTable("<limit, per second, <share of what is sustained"), map[string]string{}
	var sources []string
	for _, a := range l.Allowed {
		values[a.Key], sources = fmt.Sprint(a.Value), text.Once(sources, words.Origin(a.Of.Origin))
		numbers.Add(a.Key, page.Cell{Text: text.Count(a.Value), Raw: values[a.Key]}, a.Of.Label()+": "+a.Of.How)
	}
	d.Records = numbers
	d.Head.Word = fmt.Sprintf("To keep %s of %s for %s, limit each of the others to %s reads and %s writes per second",
		text.Percent(l.Share), l.Path, l.Keep, values["riops"], values["wiops"])
	if diffs := l.Differences(); check {
		d.Head.Word, d.Head.Tone = "set as it should be", "pass"
		if len(diffs) > 0 {
			d.Head.Word = text.Several(diffs, "limit is", "limits are") + " not set as they should be"
			d.Head.Tone = "fail"
			d.Add(page.Sentences(diffs...))
		}
	}
	d.Add(numbers)
	left := func(key string) string {
		for _, r := range l.Rates {
			if r.Key == key {
				return text.Count(int(r.Per() * l.Share))
			}
		}
		return words.None
	}
	d.Head.Say(fmt.Sprintf("%s keeps %s random reads or %s writes per second.", l.Keep, left("rrandiops"),
		left("wrandiops")))
	d.Add(page.Lead("wait", fmt.Sprintf("within its share, its I/Os may wait up to %v behind the others'",
		text.Duration(l.Wait))).Detailed(), page.Lead("source", sources...).Detailed())
	device := fmt.Sprintf("%d:%d", l.Device.Major, l.Device.Minor)
	named := map[string]struct{ systemd, v1 string }{
		"riops": {"ReadIOPS", "read_iops"}, "wiops": {"WriteIOPS", "write_iops"},
		"rbps": {"ReadBandwidth", "read_bps"}, "wbps": {"WriteBandwidth", "write_bps"},
	}
	var v2, unit, v1, docker text.Lines
	for _, g := range l.Groups {
		parts, set := text.Lines{device}, text.Lines{"systemctl", "set-property", g.Name}
		for _, a := range l.Allowed {
			name := named[a.Key]
			parts.Say("%s=%d", a.Key, a.Value)
			set.Say("IO%sMax=%s %d", name.systemd, l.Device.Path, a.Value)
			v1.Say("echo '%s %d' > %s", device, a.Value, text.ShellQuote(g.Dir+"/blkio.throttle."+name.v1+"_device"))
			docker.Say("--device-%s %s", strings.ReplaceAll(name.v1, "_", "-"),
				text.ShellQuote(fmt.Sprintf("%s:%d", l.Device.Path, a.Value)))
		}
		v2.Say("echo %s > %s", text.ShellQuote(strings.Join(parts, " ")), text.ShellQuote(g.Dir+"/io.max"))
		unit = append(unit, text.ShellLine(set))
	}
	if l.V1 {
		d.Add(page.Lead("note", "version 1 control groups, which this machine uses, do not limit buffered writes; "+
			"use version 2"),
			page.Code{Title: "version 1", Lines: v1})
	} else {
		d.Add(page.Code{Title: "io.max (until the next boot)", Lines: v2})
	}
	d.Add(page.Code{Title: "systemd (permanent)", Level: page.Detail, Lines: unit})
	if l.Cost > 0 {
		model := text.Lines{device, "ctrl=user model=linear"}
		for _, r := range l.Rates {
			model.Say("%s=%d", r.Key, uint64(r.Per()))
		}
		cost := page.Code{Title: "io.cost, in the outermost group, with weights instead of limits"}
		cost.Say("echo '%s' > /sys/fs/cgroup/io.cost.model", strings.Join(model, " "))
		cost.Say("echo '%s enable=1 ctrl=user rpct=95.00 rlat=%d wpct=95.00 wlat=%[2]d min=50.00 max=150.00' > "+
			"/sys/fs/cgroup/io.cost.qos", device, l.Cost.Microseconds())
		d.Add(cost)
	}
	d.Add(page.Code{Title: "docker run", Level: page.Detail, Lines: docker})
	if len(l.Device.Slaves) > 0 {
		d.Add(page.Lead("note", "the limits belong on "+l.Device.Path+", where an I/O counts once; on its "+
			"members each piece and copy counts, and md writes copies and parity outside any group"))
	}
	return d
}
