package cli

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"plimsoll/internal/bench"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
)

// screen is the live view on a terminal: the suite as a list, the running scenario in detail.
type screen struct {
	program *tea.Program
	done    chan struct{}
}

func newScreen(env *Env) *screen {
	// Without input the terminal stays as it is, and Ctrl-C reaches plimsoll as a signal, like everywhere else.
	s := &screen{
		program: tea.NewProgram(&screenModel{width: 80}, tea.WithInput(nil), tea.WithOutput(env.Err), tea.WithoutSignalHandler()),
		done:    make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		_, _ = s.program.Run() // a screen that cannot be drawn must not end the measurement
	}()
	return s
}

func (s *screen) Event(e bench.Event) { s.program.Send(e) }

func (s *screen) Close() {
	s.program.Quit()
	<-s.done
}

// screenModel has no logic of its own: events in, picture out.
type screenModel struct {
	progressState
	width int
	quit  bool
}

func (*screenModel) Init() tea.Cmd { return nil }

func (m *screenModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = msg.Width
	case tea.QuitMsg:
		m.quit = true
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
	var b strings.Builder
	for _, note := range m.notes {
		b.WriteString(m.line(styleDim.Render(clean(note))))
	}
	for _, s := range m.started.Scenarios {
		b.WriteString(m.scenario(s))
	}
	switch {
	case m.laying != nil:
		l := m.laying
		share := float64(l.Written) / float64(max(l.Size, 1))
		b.WriteString(m.line(fmt.Sprintf("laying out %s  %s  %s of %s", l.Role, bar(share, 20), l.Written, l.Size)))
	case m.running == nil && m.cooling > 0 && m.left() > 0:
		b.WriteString(m.line(styleDim.Render(fmt.Sprintf("cooling down %s", m.cooling))))
	}
	if len(m.started.Scenarios) > 0 {
		b.WriteString(m.line(styleDim.Render(fmt.Sprintf("%s left   %s", m.left(), m.started.Dir))))
	}
	return tea.NewView(b.String())
}

// line ends a line, cut to the width of the terminal.
func (m *screenModel) line(text string) string {
	return lipgloss.NewStyle().MaxWidth(max(m.width, 20)).Render(text) + "\n"
}

func (m *screenModel) scenario(s suite.Scenario) string {
	name := fmt.Sprintf("%3d %-18.18s", s.ID, clean(s.Name))
	r := m.results[s.ID]
	switch {
	case m.running != nil && m.running.Scenario.ID == s.ID:
		return m.runningLines(name)
	case r != nil && r.State == result.Invalid:
		return m.line(styleBad.Render("✗ "+name) + " " + clean(outcome(r)))
	case r != nil:
		return m.line(styleGood.Render("✓ "+name) + " " + outcome(r))
	case m.status[s.ID] == result.Done:
		return m.line(styleGood.Render("✓ "+name) + styleDim.Render(" measured before"))
	}
	return m.line(styleDim.Render("· " + name))
}

func (m *screenModel) runningLines(name string) string {
	bound := m.bound(m.running.Scenario.ID)
	head := "▸ " + name + " " + live(m.last.Second, bound)
	if m.last.ID == 0 {
		head = "▸ " + name + " starting"
	}
	text := m.line(styleNow.Render(head))
	detail := "    " + sparkLine(m.spark, 30)
	if m.running.Expected > 0 {
		detail += fmt.Sprintf("  %s left", max(m.running.Expected-m.elapsed, 0).Round(time.Second))
	}
	switch {
	case len(m.spark) == 0:
		return text + m.line(detail)
	case bound != nil:
		detail += fmt.Sprintf("  %.0f %% of ceiling (%s)", 100*float64(m.last.Second.IOPS())/float64(max(bound.IOPS, 1)), bound.Label())
	default:
		detail += "  ceiling unknown"
	}
	detail += fmt.Sprintf("  dirty %s", m.last.Sample.Dirty)
	return text + m.line(detail)
}

// sparkLine draws the last n values as block characters, scaled to the largest.
func sparkLine(values []float64, n int) string {
	values = values[max(len(values)-n, 0):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	line := make([]rune, 0, n)
	for _, v := range values {
		i := 0
		if top > 0 {
			i = min(int(v/top*float64(len(levels))), len(levels)-1)
		}
		line = append(line, levels[i])
	}
	return string(line) + strings.Repeat(" ", n-len(line))
}

func bar(share float64, n int) string {
	full := min(max(int(share*float64(n)+0.5), 0), n)
	return strings.Repeat("█", full) + strings.Repeat("░", n-full)
}

// clean makes text from job files and hosts safe for a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '�'
		}
		return r
	}, s)
}
