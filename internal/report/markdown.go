package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
)

// markdown escapes text so that GitHub shows it as it is: no markup, no HTML, no links, no broken
// table cells.
var markdown = strings.NewReplacer(
	`\`,
	`\\`,
	"`",
	"\\`",
	"*",
	`\*`,
	"_",
	`\_`,
	"{",
	`\{`,
	"}",
	`\}`,
	"[",
	`\[`,
	"]",
	`\]`,
	"<",
	"&lt;",
	">",
	"&gt;",
	"&",
	"&amp;",
	"#",
	`\#`,
	"!",
	`\!`,
	"|",
	`\|`,
	"~",
	`\~`,
	"@",
	"@\u200b",
	"://",
	":\u200b//",
	"www.",
	"www\u200b.",
	"\n",
	" ",
)

func md(s string) string { return markdown.Replace(s) }

// fence quotes lines as code, whatever backticks they hold.
func fence(lines ...string) string {
	ticks := "```"
	for strings.Contains(strings.Join(lines, "\n"), ticks) {
		ticks += "`"
	}
	return ticks + "sh\n" + strings.Join(lines, "\n") + "\n" + ticks + "\n"
}

func writeMarkdown(out *bufio.Writer, v *view) {
	fmt.Fprintf(out, "# %s\n\n", md(v.Word))
	for _, r := range v.Reasons {
		fmt.Fprintf(out, "- %s\n", md(r.Text))
		if r.Next != "" {
			fmt.Fprintf(out, "  Next: %s\n", md(r.Next))
		}
	}
	about := slices.DeleteFunc(
		[]string{v.Suite, v.Host, v.Created, v.Tool, v.Fio},
		func(s string) bool { return s == "" },
	)
	fmt.Fprintf(out, "\n%s\n\n", md(strings.Join(about, ", ")))
	mdTiles(out, v.Tiles)
	mdOverview(out, v)
	if len(v.Findings) > 0 {
		fmt.Fprint(out, "\n## Findings\n")
	}
	for _, p := range v.Findings {
		mdProblem(out, p)
	}
	for _, s := range v.Sections {
		mdSection(out, s)
	}
	fmt.Fprint(out, "\n## Machine\n\n")
	mdFacts(out, v.Facts)
	mdTable(out, v.Storage)
	for _, n := range v.Notes {
		fmt.Fprintf(out, "- %s\n", md(n))
	}
}

// mdBar is ten cells for 100 %.
func mdBar(share float64) string {
	n := min(max(int(share*10+0.5), 0), 10)
	return strings.Repeat("█", n) + strings.Repeat("░", 10-n)
}

// mdTiles prints the key figures.
func mdTiles(out *bufio.Writer, tiles []tile) {
	for _, t := range tiles {
		fmt.Fprintf(out, "- %s: **%s** (%s)\n", md(t.What), md(t.Figure), md(t.Of))
	}
	if len(tiles) > 0 {
		fmt.Fprintln(out)
	}
}

func mdOverview(out *bufio.Writer, v *view) {
	t := table{
		Head: []string{
			"#",
			"scenario",
			"role",
			"measured",
			"ceiling",
			"%",
			"",
			"limited by",
			"p50",
			"p99",
			"verdict",
		},
		Text: []int{1, 2, 6, 7, 10},
	}
	if v.NoCeiling {
		t = table{Head: []string{"#", "scenario", "role", "measured", "p50", "p99", "verdict"}, Text: []int{1, 2, 6}}
		for _, r := range v.Rows {
			t.Rows = append(
				t.Rows,
				[]string{r.Num, r.Name, r.Role, join(" ", r.Measured, r.Doubt), r.P50, r.P99, r.Verdict},
			)
		}
		mdTable(out, t)
		fmt.Fprintf(out, "\n%s\n", md(noCeiling))
		return
	}
	for _, r := range v.Rows {
		measured, limit, bar := join(" ", r.Measured, r.Doubt), join(", ", r.LimitedBy, r.Burst), ""
		if r.Share > 0 {
			bar = mdBar(r.Share)
		}
		t.Rows = append(
			t.Rows,
			[]string{r.Num, r.Name, r.Role, measured, r.Ceiling, r.Percent, bar, limit, r.P50, r.P99, r.Verdict},
		)
	}
	mdTable(out, t)
}

// join joins what is not empty.
func join(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), between)
}

func mdTable(out *bufio.Writer, t table) {
	if len(t.Rows) == 0 {
		return
	}
	if t.Caption != "" {
		fmt.Fprintf(out, "\n%s:\n\n", md(t.Caption))
	}
	var rule strings.Builder
	for i, h := range t.Head {
		fmt.Fprintf(out, "| %s ", md(h))
		if slices.Contains(t.Text, i) || i == 0 && len(t.Text) == 0 {
			rule.WriteString(" --- |")
		} else {
			rule.WriteString(" ---: |")
		}
	}
	fmt.Fprintf(out, "|\n|%s\n", rule.String())
	for _, r := range t.Rows {
		for _, c := range r {
			fmt.Fprintf(out, "| %s ", md(c))
		}
		fmt.Fprint(out, "|\n")
	}
}

func mdFacts(out *bufio.Writer, all []fact) {
	for _, f := range all {
		fmt.Fprintf(out, "- %s: %s\n", md(f.Name), md(f.Value))
	}
}

func mdProblem(out *bufio.Writer, p problem) {
	fmt.Fprintf(out, "\n### %s\n\n", md(p.heading()))
	if len(p.Cases) == 0 {
		fmt.Fprintln(out, md(p.Message))
	}
	if of := scenarioNames(p); of != "" && len(p.Cases) == 0 {
		fmt.Fprintf(out, "\nScenarios: %s\n", md(of))
	}
	for _, c := range p.Cases {
		fmt.Fprintf(out, "- %s\n", md(c.Text))
	}
	mdTable(out, p.Evidence)
	for _, a := range p.Accounts {
		mdTable(out, a)
	}
	for _, part := range [][2]string{{"Why it matters", p.Why}, {"What to do", p.Fix}} {
		if part[1] != "" {
			fmt.Fprintf(out, "\n%s: %s\n", part[0], md(part[1]))
		}
	}
	if len(p.Commands) > 0 {
		fmt.Fprint(out, "\n", fence(p.Commands...))
	}
}

func mdSection(out *bufio.Writer, s section) {
	fmt.Fprintf(out, "\n## %s %s\n\n", md(s.Num), md(s.Name))
	if phrase := join(". ", s.Title, s.Why); phrase != "" {
		fmt.Fprintf(out, "%s\n\n", md(phrase))
	}
	fmt.Fprintf(
		out,
		"Verdict: %s. Measured %s",
		md(s.Verdict),
		md(join(", ", join(" ", s.Measured, s.Doubt), s.Also, s.Sync)),
	)
	if s.Ceiling != unknown {
		fmt.Fprintf(out, ", %s", md(s.Of()))
	}
	if s.LimitedBy != unknown {
		fmt.Fprintf(out, ", limited by %s", md(join(", ", s.LimitedBy, s.Burst)))
	}
	fmt.Fprint(out, ".\n")
	for _, why := range s.Invalid {
		fmt.Fprintf(out, "\n**Invalid**: %s\n", md(why))
	}
	mdTable(out, s.Raw)
	for _, p := range s.Postgres {
		mdTable(out, p)
	}
	mdTable(out, s.Targets)
	mdTable(out, s.Bounds)
	if len(s.Depth) > 0 {
		t := table{Caption: "Queue depth", Head: []string{"measured", "", ""}, Text: []int{0, 2}}
		for _, d := range s.Depth {
			t.Rows = append(t.Rows, []string{d.How, d.Value, mdBar(d.Share)})
		}
		mdTable(out, t)
	}
	if s.Note != "" {
		fmt.Fprintf(out, "\n%s\n", md(s.Note))
	}
	mdTable(out, s.Devices)
	if len(s.Facts) > 0 {
		fmt.Fprintln(out)
		mdFacts(out, s.Facts)
	}
	for _, d := range s.Doubts {
		fmt.Fprintf(out, "- Caveat: %s\n", md(d))
	}
	if s.Command != "" {
		fmt.Fprint(out, "\n", fence(s.Command))
	}
}
