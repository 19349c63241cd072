package machine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Live is the document of what makes a machine's storage slow now: the answer on the first line,
// then the facts that one asks for next, what the answer rests on and what to do, 15 lines at most before they
// are wrapped.
func Live(f *live.Facts, a *live.Answer) *page.Document {
	lines := liveLines(f, a)
	d := page.New("answer", lines[0], "why", a)
	for _, seen := range a.Devices {
		if seen.Name == a.Device {
			d.Head.Main = page.NewFigure(seen.Name, "latency", seen.Wait, "ns")
		}
	}
	d.Add(page.Code{Free: true, Wraps: true, Fit: func(width int, _ bool) []string {
		var fit []string
		for _, line := range lines[1:] {
			if text.Width(line) <= width {
				fit = append(fit, line)
				continue
			}
			lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
			fit = append(fit, text.Wrap(line, width, lead, lead+"  ")...)
		}
		return fit
	}})
	causes := page.NewTable("code, confidence, message, next")
	for _, c := range a.Causes {
		causes.Add(c.Code, c.Confidence, c.Message, strings.Join(c.Next, "; "))
	}
	if len(a.Causes) == 0 {
		causes.Add("", "", lines[0], "")
	}
	d.Records = causes
	return d
}

// mostLiveLines is the most that an answer takes.
const mostLiveLines = 15

func liveLines(f *live.Facts, a *live.Answer) []string {
	var lines text.Lines
	switch {
	case a.Answer == live.CannotSee && a.Device == "":
		why := cmp.Or(f.Blind, "nothing could be examined")
		lines = []string{fmt.Sprintf("Cannot tell what makes %s slow: %s.", f.Path, why)}
		if r := f.Remote; r != nil {
			lines.Say("  %s requests per second; a round trip takes %s, or %s including the wait on this machine.",
				units.Number(r.IOPS), r.RTT, r.Exec)
		}
	case a.Answer == live.CannotSee:
		lines = []string{fmt.Sprintf("Tasks wait on %s, but what they wait for could not be seen: run plimsoll as "+
			"root.", f.Path)}
		lines = append(lines, liveBody(a)...)
	case len(a.Causes) == 0:
		lines = liveNothing(f, a)
	default:
		c := a.Causes[0]
		lines = []string{fmt.Sprintf("%s (%s, %s)", c.Message, c.Code, c.Confidence)}
		lines = append(lines, liveBody(a)...)
	}
	lines = append(lines, liveNext(a)...)
	if len(a.NotSeen) > 0 {
		lines = append(lines, "  Not seen: "+strings.Join(a.NotSeen, "; "))
	}
	return lines[:min(len(lines), mostLiveLines)]
}

// liveNothing is the answer that nothing is wrong with the storage.
func liveNothing(f *live.Facts, a *live.Answer) []string {
	d := a.Devices[0]
	does := text.Either(d.ReadIOPS+d.WriteIOPS == 0, "it is idle",
		fmt.Sprintf("%s per I/O, %s waiting on average", d.Wait, tenth(d.Waiting)))
	var lines text.Lines
	lines.Say("Nothing is wrong with the storage below %s%s: %s.", f.Path,
		words.When(!f.Root, " that can be seen without root"), does)
	lines = append(lines, flows(a)...)
	if len(a.Users) > 0 {
		lines.Say("  Processes using this path wait for a CPU %s of the time.", text.Percent(min(a.RunQueue, 1)))
	}
	return append(lines, liveAlso(a)...)
}

// liveBody is what a cause rests on.
func liveBody(a *live.Answer) []string {
	lines := append(flows(a), text.Present(whoLine(a), accountLine(a))...)
	if len(a.Causes) > 0 {
		seen := a.Causes[0].Evidence
		for _, e := range seen[:min(len(seen), 2)] {
			line := "  - " + e.What + ": " + e.Found
			if e.Expected != "" {
				line += "; expected: " + e.Expected
			}
			lines = append(lines, line)
		}
	}
	return append(lines, liveAlso(a)...)
}

// flows are what each direction of the path does, and what is in flight. Flushes are counted of whole disks: those
// of the leaf on which most wait.
func flows(a *live.Answer) []string {
	d := a.Devices[0]
	flushes := d.Flushes
	for _, leaf := range a.Devices {
		if leaf.Leaf && leaf.Flushes.Waiting > flushes.Waiting {
			flushes = leaf.Flushes
		}
	}
	var lines text.Lines
	for _, one := range []struct {
		name string
		flow live.Flow
		rate units.Rate
	}{{"Reads", d.Reads, d.ReadRate}, {"Writes", d.Writes, d.WriteRate}, {"Flushes", flushes, 0}} {
		if one.flow.IOPS == 0 {
			continue
		}
		line := fmt.Sprintf("  %s: %s per second", one.name, units.Number(float64(one.flow.IOPS)))
		if one.rate > 0 {
			line += ", " + one.rate.String()
		}
		line += "; " + one.flow.Wait.String() + " on average"
		if one.flow.Worst > one.flow.Wait {
			line += ", " + one.flow.Worst.String() + " at worst"
		}
		lines = append(lines, line)
	}
	lines.Say("  %s%s: %s in flight, %s busy; slow means over %s per I/O.", d.Name,
		words.When(d.Layer != "disk", ", "+d.Layer), tenth(d.Waiting), text.Percent(d.Busy), a.Slow)
	return lines
}

// tenth prints a mean number of waiting I/Os.
func tenth(v float64) string {
	step := 1.0
	if v < 9.95 {
		step = 10
	}
	return units.Number(math.Round(v*step) / step)
}

// accountLine divides the time of an I/O, the largest part first.
func accountLine(a *live.Answer) string {
	acc := a.Account
	if acc == nil || a.Answer != live.Found || float64(acc.Wait) <= float64(a.Usual) {
		return ""
	}
	type part struct {
		name  string
		share float64
	}
	parts := []part{
		{"slow member", acc.SlowMember},
		{"layers of this machine", acc.Machine},
		{"resync", acc.Resync},
		{"other programs", acc.Others},
		{"your own load above the limit", acc.Load},
		{"the volumes' own time", acc.Own},
		{"unexplained", acc.Rest},
	}
	slices.SortStableFunc(parts, func(x, y part) int { return cmp.Compare(y.share, x.share) })
	var said []string
	for _, p := range parts {
		if p.share >= 0.005 {
			said = append(said, p.name+" "+text.Percent(p.share))
		}
	}
	return fmt.Sprintf("  Of these %s: %s.", acc.Wait, strings.Join(said, ", "))
}

// liveAlso are the other causes and what else is worth knowing, three lines at most.
func liveAlso(a *live.Answer) []string {
	var lines text.Lines
	also := func(most int, message string, code finding.Code) {
		if len(lines) < most {
			lines.Say("  Also: %s (%s)", message, code)
		}
	}
	for _, c := range a.Causes[min(len(a.Causes), 1):] {
		also(2, c.Message, c.Code)
	}
	for _, o := range a.Also {
		also(3, o.Message, o.Code)
	}
	return lines
}

// mostUsers are the programs that are named.
const mostUsers = 3

func whoLine(a *live.Answer) string {
	var said text.Lines
	for _, u := range a.Users[:min(len(a.Users), mostUsers)] {
		name := u.Name
		if u.Unit != "" {
			name += " (" + u.Unit + ")"
		}
		if u.Processes > 1 {
			name += fmt.Sprintf(", %d processes,", u.Processes)
		}
		one := fmt.Sprintf("%s asks for %s", name, u.Read+u.Write)
		if u.Waiting >= 0.05 {
			one += fmt.Sprintf(", %s waiting%s", tenth(u.Waiting), waitingFor(u.For))
		}
		said = append(said, one)
	}
	if a.WrittenBack > 0 {
		said.Say("%s come from no running program (write-back or journal)", a.WrittenBack)
	}
	return words.When(len(said) > 0, "  Who: "+strings.Join(said, "; "))
}

// waitingFor names what most of a program's tasks wait for.
func waitingFor(what map[string]float64) string {
	best := ""
	for w, n := range what {
		if w != "other" && (best == "" || n > what[best] || n == what[best] && w < best) {
			best = w
		}
	}
	return words.When(best != "", fmt.Sprintf(" (%s %s)", best, tenth(what[best])))
}

func liveNext(a *live.Answer) []string {
	switch {
	case len(a.Causes) > 0:
		var lines []string
		next := a.Causes[0].Next
		for i, n := range next[:min(len(next), 2)] {
			lines = append(lines, []string{"  Next: ", "        "}[i]+n)
		}
		return lines
	case a.Answer == live.Nothing:
		return []string{"  Next: locks, network or the statements themselves; if it comes and goes: plimsoll why --watch " +
			text.ShellQuote(a.Path)}
	}
	return nil
}
