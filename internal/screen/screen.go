package screen

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"plimsoll/internal/bench"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// picture is what a painter paints: messages in, at most height lines out.
type picture interface {
	take(msg tea.Msg)
	lines(width, height int) string
}

// painter paints a picture on a terminal until it is closed, and leaves the last one behind. It uses the terminal's
// alternate screen, which survives resizing.
type painter struct {
	picture

	out           Out
	width, height int
	program       *tea.Program
	done          chan struct{}
	restore       func()
}

func newPainter(out Out, of picture) *painter {
	p := &painter{picture: of, out: out, width: 80, height: 24, done: make(chan struct{}), restore: func() {}}
	if out.File != nil {
		p.restore = silence(out.File)
	}
	// The program reads no keys: they are dropped by silence, and Ctrl-C reaches plimsoll as a
	// signal, as everywhere.
	environ := slices.Clone(out.Environ)
	if out.Plain {
		environ = append(environ, "NO_COLOR=1")
	}
	p.program = tea.NewProgram(p, tea.WithInput(nil), tea.WithOutput(out.canvas()), tea.WithoutSignalHandler(),
		tea.WithEnvironment(environ))
	go func() {
		defer close(p.done)
		_, _ = p.program.Run() // a screen that cannot be drawn must not end the measurement
	}()
	return p
}

// Close leaves the last picture behind, all of it.
func (p *painter) Close() {
	p.program.Quit()
	<-p.done
	p.restore()
	last := p.lines(p.width, 1<<16)
	if p.out.Plain {
		last = ansi.Strip(last)
	}
	fmt.Fprint(p.out, last)
}

// Event is one of a run.
func (p *painter) Event(e bench.Event) { p.program.Send(e) }

// Init implements tea.Model, as do the next two.
func (*painter) Init() tea.Cmd { return nil }

// Update hands messages on.
func (p *painter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		p.width, p.height = size.Width, size.Height
	}
	p.take(msg)
	return p, nil
}

// View draws.
func (p *painter) View() tea.View {
	v := tea.NewView(text.HarmlessScreen(p.lines(p.width, p.height)))
	v.AltScreen = true
	return v
}

// screenModel is the live picture of a run: the suite as a list, the running scenario in detail.
type screenModel struct {
	progressState
	width int
}

func (m *screenModel) take(msg tea.Msg) {
	if e, ok := msg.(bench.Event); ok {
		m.apply(e)
	}
}

var (
	styleDim  = lipgloss.NewStyle().Faint(true)
	styleGood = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleBad  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	styleNow  = lipgloss.NewStyle().Bold(true)
)

// lines are, of a longer list, the part around the running scenario.
func (m *screenModel) lines(width, height int) string {
	m.width = width
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
	if room := max(height-len(foot), 1); len(list) > room {
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
		lines = append(lines,
			m.line(fmt.Sprintf("prefilling %s  %s  %v of %v", l.Role, text.Bar(share, 20), l.Written, l.Size)))
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
	head := text.Either(m.last.ID == 0, "▸ "+name+" starting", "▸ "+name+" "+m.live(m.last, bound))
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
