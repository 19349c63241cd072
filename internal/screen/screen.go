package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"plimsoll/internal/bench"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// painter paints a model on a terminal until it is closed. It uses the terminal's alternate screen,
// which survives resizing.
type painter struct {
	program *tea.Program
	done    chan struct{}
	restore func()
}

func newPainter(out Out, m tea.Model) *painter {
	p := &painter{done: make(chan struct{}), restore: func() {}}
	if out.File != nil {
		p.restore = silence(out.File)
	}
	// The program reads no keys: they are dropped by silence, and Ctrl-C reaches plimsoll as a
	// signal, as everywhere.
	environ := slices.Clone(out.Environ)
	if out.Plain {
		environ = append(environ, "NO_COLOR=1")
	}
	p.program = tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(out.canvas()), tea.WithoutSignalHandler(),
		tea.WithEnvironment(environ))
	go func() {
		defer close(p.done)
		_, _ = p.program.Run() // a screen that cannot be drawn must not end the measurement
	}()
	return p
}

func (p *painter) close() {
	p.program.Quit()
	<-p.done
	p.restore()
}

// terminal is the live view on a terminal: the suite as a list, the running scenario in detail. It
// leaves its last picture behind.
type terminal struct {
	out     Out
	model   *screenModel
	painter *painter
}

func newTerminal(out Out) *terminal {
	m := &screenModel{width: 80, height: 24}
	return &terminal{out: out, model: m, painter: newPainter(out, m)}
}

func (s *terminal) Event(e bench.Event) { s.painter.program.Send(e) }

func (s *terminal) Close() {
	s.painter.close()
	s.model.height = 1 << 16
	s.out.last(s.model.picture())
}

// screenModel has no logic of its own: events in, picture out.
type screenModel struct {
	progressState
	width, height int
}

func (*screenModel) Init() tea.Cmd { return nil }

func (m *screenModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case bench.Event:
		m.apply(msg)
	}
	return m, nil
}

var (
	styleDim  = lipgloss.NewStyle().Faint(true)
	styleGood = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleBad  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	styleNow  = lipgloss.NewStyle().Bold(true)
)

func (m *screenModel) View() tea.View {
	v := tea.NewView(text.HarmlessScreen(m.picture()))
	v.AltScreen = true
	return v
}

// picture is at most height lines: of a longer list the part around the running scenario.
func (m *screenModel) picture() string {
	var list []string
	at := 0
	for _, note := range m.notes {
		list = append(list, m.line(styleDim.Render(text.Clean(note, 0))))
	}
	for _, s := range m.started.Scenarios {
		if m.running != nil && m.running.Scenario.ID == s.ID || m.results[s.ID] != nil {
			at = len(list)
		}
		list = append(list, m.scenario(s)...)
	}
	foot := m.foot()
	if room := max(m.height-len(foot), 1); len(list) > room {
		first := min(max(at-room/2, 0), len(list)-room)
		list = list[first : first+room]
	}
	return strings.Join(append(list, foot...), "")
}

// foot is what happens between scenarios, and the time left.
func (m *screenModel) foot() []string {
	var lines []string
	switch {
	case m.laying != nil:
		l := m.laying
		share := float64(l.Written) / float64(max(l.Size, 1))
		lines = append(lines, m.line(fmt.Sprintf("prefilling %s  %s  %v of %v", l.Role, bar(share, 20), l.Written, l.Size)))
	case m.running == nil && m.cooling > 0 && m.left() > 0:
		lines = append(lines, m.line(styleDim.Render("cooling down for "+text.Duration(m.cooling))))
	}
	if len(m.started.Scenarios) > 0 {
		lines = append(lines,
			m.line(styleDim.Render(fmt.Sprintf("%s left   %s", text.Duration(m.left()), text.Clean(m.started.Dir, 0)))))
	}
	return lines
}

// line ends a line, cut to the width of the terminal.
func (m *screenModel) line(s string) string { return cutTo(m.width, s) }

func cutTo(width int, s string) string {
	return lipgloss.NewStyle().MaxWidth(max(width, 20)).Render(s) + "\n"
}

func (m *screenModel) scenario(s suite.Scenario) []string {
	name := fmt.Sprintf("%3d %s", s.ID, text.PadRight(text.Clean(s.Name, 18), 18))
	r := m.results[s.ID]
	switch {
	case m.running != nil && m.running.Scenario.ID == s.ID:
		return m.runningLines(name)
	case r != nil && r.State == result.Invalid:
		return []string{m.line(styleBad.Render("✗ "+name) + " " + text.Clean(outcome(r), 0))}
	case r != nil:
		return []string{m.line(styleGood.Render("✓ "+name) + " " + outcome(r))}
	case m.status[s.ID] == result.Done:
		return []string{m.line(styleGood.Render("✓ "+name) + styleDim.Render(" measured before"))}
	}
	return []string{m.line(styleDim.Render("· " + name))}
}

func (m *screenModel) runningLines(name string) []string {
	bound, known := m.bound(m.running.Scenario.ID)
	head := "▸ " + name + " " + m.live(m.last, bound)
	if m.last.ID == 0 {
		head = "▸ " + name + " starting"
	}
	first := m.line(styleNow.Render(head))
	detail := "    " + sparkLine(m.spark, 30)
	if m.running.Expected > 0 {
		detail += fmt.Sprintf("  %s left", text.Duration(max(m.running.Expected-m.elapsed, 0).Round(time.Second)))
	}
	switch {
	case len(m.spark) == 0:
		return []string{first, m.line(detail)}
	case bound != nil:
		share := float64(m.last.Second.IOPS()) / float64(max(bound.IOPS, 1))
		detail += fmt.Sprintf("  %s of ceiling (%s)", text.Percent(share), bound.Label())
	case !known:
		detail += "  ceiling " + words.Unknown
	}
	detail += fmt.Sprintf("  dirty %v", m.last.Sample.Dirty)
	return []string{first, m.line(detail)}
}

// sparkLine draws the last n values as block characters, scaled to the largest.
func sparkLine(values []float64, n int) string {
	values = values[max(len(values)-n, 0):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	steps := []rune("▁▂▃▄▅▆▇█")
	line := make([]rune, 0, n)
	for _, v := range values {
		i := 0
		if top > 0 {
			i = min(int(v/top*float64(len(steps))), len(steps)-1)
		}
		line = append(line, steps[i])
	}
	return string(line) + strings.Repeat(" ", n-len(line))
}

func bar(share float64, n int) string {
	full := min(max(int(share*float64(n)+0.5), 0), n)
	return strings.Repeat("█", full) + strings.Repeat("░", n-full)
}
