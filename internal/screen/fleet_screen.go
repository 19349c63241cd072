package screen

import (
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"plimsoll/internal/fleet"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// FleetKinds are the ways to show a fleet run; the first is what is shown without a choice.
func FleetKinds() []string { return []string{"auto", "tty", "plain", None} }

// Fleet makes a fleet run show its progress: on a terminal a line a host, else plain lines. The
// returned function ends that.
func Fleet(out Out, kind string, r *fleet.Run) (end func()) {
	if kind == "auto" {
		kind = "plain"
		if onTerminal(out) {
			kind = "tty"
		}
	}
	switch kind {
	case None:
		r.Note = func(string, string) {}
	case "tty":
		m := &fleetModel{width: 80, height: 24}
		p := newPainter(out, m)
		r.Note = func(host, line string) { p.program.Send(fleetNote(noteLine(host, line))) }
		r.Show = func(all []fleet.Status) { p.program.Send(fleetStatus(all)) }
		return func() {
			p.close()
			m.height = 1 << 16
			out.last(m.picture())
		}
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
	notes         []string
	hosts         []fleet.Status
	width, height int
}

func (*fleetModel) Init() tea.Cmd { return nil }

func (m *fleetModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case fleetNote:
		m.notes = append(m.notes, string(msg))
	case fleetStatus:
		m.hosts = msg
	}
	return m, nil
}

func (m *fleetModel) View() tea.View {
	v := tea.NewView(text.HarmlessScreen(m.picture()))
	v.AltScreen = true
	return v
}

// staleAge is from when on the age of a host's last word is marked.
const staleAge = 3 * time.Second

// picture is at most height lines: hosts come before notes, and of more hosts than there are lines
// the first are shown.
func (m *fleetModel) picture() string {
	width := 4
	for _, h := range m.hosts {
		width = min(max(width, text.Width(h.Host)), 30)
	}
	var hosts []string
	var sum fleet.Status
	n := 0
	for _, h := range m.hosts {
		if h.IOPS > 0 {
			sum.IOPS, sum.BW, n = sum.IOPS+h.IOPS, sum.BW+h.BW, n+1
		}
		hosts = append(hosts, m.hostLine(h, width))
	}
	foot := cutTo(m.width, styleDim.Render("waiting for the hosts"))
	if n > 0 {
		foot = cutTo(m.width, styleNow.Render(fmt.Sprintf("%s: %v IOPS, %v", text.Plural(n, "host"), sum.IOPS, sum.BW)))
	} else if len(m.hosts) > 0 {
		foot = cutTo(m.width, styleDim.Render("no host measures now"))
	}
	if room := max(m.height-2, 1); len(hosts) > room {
		more := "and " + text.Plural(len(hosts)-room, "more host")
		hosts = append(hosts[:room], cutTo(m.width, styleDim.Render(more)))
	}
	var notes []string
	for _, note := range m.notes[max(len(m.notes)-max(m.height-len(hosts)-1, 0), 0):] {
		notes = append(notes, cutTo(m.width, styleDim.Render(note)))
	}
	return strings.Join(append(append(notes, hosts...), foot), "")
}

func (m *fleetModel) hostLine(h fleet.Status, width int) string {
	name := text.PadRight(text.Clean(h.Host, width), width)
	what := text.Clean(h.What, text.LongError)
	switch {
	case h.Lost:
		return cutTo(m.width, styleBad.Render("✗ "+name+"  "+what))
	case h.Done:
		return cutTo(m.width, styleGood.Render("✓ "+name)+"  "+what)
	}
	age := text.Duration(h.Age.Round(time.Second)) + " ago"
	if h.Age < time.Second {
		age = "now"
	}
	if h.Age >= staleAge {
		age = styleBad.Render(age)
	}
	figure := ""
	if h.IOPS > 0 {
		figure = fmt.Sprintf("%v IOPS, %v", units.IOPS(h.IOPS), units.Rate(h.BW))
	}
	return cutTo(m.width, "▸ "+name+"  "+text.PadRight(what, 34)+"  "+text.PadRight(figure, 26)+"  "+age)
}
