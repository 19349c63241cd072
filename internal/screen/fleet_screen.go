package screen

import (
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"plimsoll/internal/fleet"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// FleetKinds are the ways to show a fleet run; the first is what is shown without a choice.
func FleetKinds() []string { return []string{"auto", "tty", "plain", None} }

// Fleet makes a fleet run show its progress: on a terminal a line a host, else plain lines. The
// returned function ends that.
func Fleet(out Out, kind string, r *fleet.Run) (end func()) {
	switch out.kind(kind) {
	case None:
		r.Note = func(string, string) {}
	case "tty":
		p := newPainter(out, &fleetModel{})
		r.Note = func(host, line string) { p.program.Send(fleetNote(noteLine(host, line))) }
		r.Show = func(all []fleet.Status) { p.program.Send(fleetStatus(all)) }
		return p.Close
	default:
		r.Note = FleetNotes(out)
	}
	return func() {}
}

// FleetNotes prints lines of hosts as they come.
func FleetNotes(out Out) func(host, line string) {
	var one sync.Mutex
	return func(host, line string) {
		one.Lock()
		defer one.Unlock()
		fmt.Fprintln(out, noteLine(host, line))
	}
}

func noteLine(host, line string) string {
	if host != "" {
		line = text.Clean(host, 64) + ": " + text.Clean(line, text.LongError)
	}
	return indented(line)
}

type (
	fleetNote   string
	fleetStatus []fleet.Status
)

// fleetModel is the picture of a fleet run: the last notes, a line a host, and the sum.
type fleetModel struct {
	notes []string
	hosts []fleet.Status
}

func (m *fleetModel) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case fleetNote:
		m.notes = append(m.notes, string(msg))
	case fleetStatus:
		m.hosts = msg
	}
}

// staleAge is from when on the age of a host's last word is marked.
const staleAge = 3 * time.Second

// lines are those of hosts before notes, and of more hosts than there are lines the first.
func (m *fleetModel) lines(width, height int) string {
	column := 4
	for _, h := range m.hosts {
		column = min(max(column, text.Width(h.Host)), 30)
	}
	var hosts []string
	var sum fleet.Status
	n := 0
	for _, h := range m.hosts {
		if h.IOPS > 0 {
			sum.IOPS, sum.BW, n = sum.IOPS+h.IOPS, sum.BW+h.BW, n+1
		}
		hosts = append(hosts, hostLine(h, column))
	}
	foot := styleDim.Render("waiting for the hosts")
	if n > 0 {
		foot = styleNow.Render(fmt.Sprintf("%s: %v IOPS, %v", text.Plural(n, "host"), sum.IOPS, sum.BW))
	} else if len(m.hosts) > 0 {
		foot = styleDim.Render("no host measures now")
	}
	if room := max(height-2, 1); len(hosts) > room {
		hosts = append(hosts[:room], styleDim.Render("and "+text.Plural(len(hosts)-room, "more host")))
	}
	var b strings.Builder
	for _, note := range m.notes[max(len(m.notes)-max(height-len(hosts)-1, 0), 0):] {
		b.WriteString(cutTo(width, styleDim.Render(note)))
	}
	for _, line := range append(hosts, foot) {
		b.WriteString(cutTo(width, line))
	}
	return b.String()
}

func hostLine(h fleet.Status, width int) string {
	name := text.PadRight(text.Clean(h.Host, width), width)
	what := text.Clean(h.What, text.LongError)
	switch {
	case h.Lost:
		return styleBad.Render("✗ " + name + "  " + what)
	case h.Done:
		return styleGood.Render("✓ "+name) + "  " + what
	}
	age := text.Either(h.Age < time.Second, "now", text.Duration(h.Age.Round(time.Second))+" ago")
	if h.Age >= staleAge {
		age = styleBad.Render(age)
	}
	figure := words.When(h.IOPS > 0, fmt.Sprintf("%v IOPS, %v", h.IOPS, h.BW))
	return "▸ " + name + "  " + text.PadRight(what, 34) + "  " + text.PadRight(figure, 26) + "  " + age
}
