package runs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdpage "github.com/chromedp/cdproto/page"

	"plimsoll/internal/block"
	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/compare"
	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/script"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// kinds are a document of every kind of report, with names and figures as wide as they come.
func kinds(t *testing.T) map[string]*page.Document {
	t.Helper()
	all := map[string]*page.Document{
		"run": Run(synthetic(60)), "hostile run": Run(hostile()), "recorded run": Run(recorded(t)), "postgres": Run(aDatabase()),
		"fleet": Fleet(aFleet()), "history": History(someSeries(), []string{"one is left out"}), "sweep": Swept(someSweep()),
		"search": Most(synthetic(2), someMost()), "comparison": compared.Compare(twoSides()),
	}
	decl, err := topology.FromFlags("8xgp3", "raid10", "64KiB", "c8g.2xlarge")
	if err != nil {
		t.Fatal(err)
	}
	layout, err := topology.FromDeclaration(decl)
	if err != nil {
		t.Fatal(err)
	}
	db, err := suite.Select([]string{"db"}, suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var outlooks []plans.Outlook
	for _, c := range db.Scenarios {
		loads, err := c.Workloads()
		if err != nil {
			t.Fatal(err)
		}
		o := plans.Outlook{ID: c.ID, Name: c.Name, Role: c.Role, Loads: loads}
		o.SetCeiling(ceiling.Of(layout, c.Role, loads))
		outlooks = append(outlooks, o)
	}
	all["ceilings"] = plans.Ceilings(layout, "db", outlooks, false)
	all["ceiling"] = plans.Ceilings(layout, "db", outlooks[7:8], false)
	c := lint.NewCase(lint.Case{Scripts: []*script.File{script.Parse("bad.fio", []byte("[a]\nrw=randread\niodpeth=32\nsize=1g\niodepth=32\n"), script.Options{})}})
	found := lint.Judge(c).Found
	all["lint"] = plans.Lint(plans.Linted{Files: c.Scripts, Findings: found})
	all["check"] = machine.Check(found, []finding.Passed{{Code: "PL201", Subject: "md0", Message: "md0 is whole"}}, []string{"no root"}, found)
	all["catalogue"], _ = plans.CatalogEntry("", time.Now())
	archive, err := os.ReadFile("../../block/testdata/ec2-16xgp3-raid10.txtar")
	if err != nil {
		t.Fatal(err)
	}
	m := &sys.Machine{Root: block.Captured(archive), Run: func(_ context.Context, _ io.Writer, argv ...string) error {
		return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
	}}
	top, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: "/data", topology.WAL: "/wal"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all["topology"] = machine.Inspect(top)
	all["fleet check"] = machine.FleetCheck(&bundle.FleetCheck{Via: "ssh", Tool: "plimsoll", Hosts: []bundle.FleetChecked{
		{FleetHost: bundle.FleetHost{Name: "db1", State: bundle.HostDone}, Findings: found},
		{FleetHost: bundle.FleetHost{Name: "db2", State: bundle.HostRefused, Why: "no such directory"}},
	}})
	for _, add := range []func(*testing.T, map[string]*page.Document){importKinds, adviceKinds, arrayKinds, liveKinds, listKinds} {
		add(t, all)
	}
	if os.Getenv("PLIMSOLL_SHOTS") == "" {
		for _, name := range looksLikeOthers() {
			if all[name] == nil {
				t.Errorf("no kind is called %s", name)
			}
			delete(all, name)
		}
	}
	return all
}

// looksLikeOthers are kinds that are made of the same parts as others, so that only who takes pictures
// has them opened.
func looksLikeOthers() []string {
	return []string{
		"library", "summary", "demand not met", "demand", "advice elsewhere", "advice without a choice",
		"teardown", "verify", "probe", "why neighbour-buffered", "why healthy-idle", "suites", "instances", "against a baseline",
		"volume type", "instance", "machine of Azure", "drives", "some instances", "explained", "nothing to lint", "limits",
		"large library", "large summary", "import of many results", "advice beside own volumes", "lint of a guide",
	}
}

// twoSides is a comparison with a struck figure and a ceiling.
func twoSides() *compare.Table {
	est := func(c float64) stats.Estimate { return stats.Estimate{Center: c, Lo: .98 * c, Hi: 1.02 * c, N: 5} }
	return &compare.Table{
		Sides: []compare.Column{{Name: "before the change of the kernel", Rounds: 5}, {Name: "after", Rounds: 5}}, Margin: .03,
		Rows: []compare.Row{{
			Name: "rand-write", Work: compare.Work{Direction: "write", Order: "random", BS: 8192},
			Figure: compare.Figure{Name: "IOPS", Unit: compare.PerSecond},
			Cells: []compare.Cell{
				{Figure: est(11800), Rounds: []float64{1, 2, 3, 4, 5}, Ceiling: 12000, Share: .98},
				{
					Figure: est(9400), Rounds: []float64{1, 2, 3, 4, 5}, Ceiling: 12000, Share: .78, Sustained: 6000,
					Change: &compare.Change{
						Comparison: stats.Comparison{Ratio: stats.Estimate{Center: .8, Lo: .78, Hi: .82, N: 5}, Method: stats.WelchT, P: .001},
						PHolm:      .001, Word: compare.Slower,
					},
					Invalid: []compare.Struck{{Round: 3, Figure: 2000, Why: "PL425: other processes used the CPU during the run"}},
				},
			},
		}},
		Notes: []string{"kernel differs"},
	}
}

// wide names elements that are wider than their box or leave the page.
const wide = `(() => {
	const out = []
	const page = document.documentElement.clientWidth
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('.plot, svg, .skip, .sr, thead, pre, .scroll, [hidden]')) continue
		const box = e.getBoundingClientRect()
		if (!box.width || getComputedStyle(e).visibility === 'hidden') continue
		const panel = e.closest('section')?.getBoundingClientRect()
		if (box.right > page + 1 || panel && box.right > panel.right + 1) {
			out.push(e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30))
		}
	}
	return out.slice(0, 5).join(' | ')
})()`

// faint names text whose contrast with what is behind it is below 4.5.
const faint = `(() => {
	const rgba = (s) => {
		const n = (s.match(/[\d.]+/g) ?? []).map(Number)
		return s.startsWith('color(') ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]
	}
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1)
	const behind = (e) => {
		const layers = []
		for (let q = e; q; q = q.parentElement) layers.push(rgba(getComputedStyle(q).backgroundColor))
		return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255, 1])
	}
	const light = (c) => {
		const [r, g, b] = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 })
		return .2126 * r + .7152 * g + .0722 * b
	}
	const out = new Set()
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('svg, .skip, .sr, thead, script, [hidden]')) continue
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue
		if (!e.getBoundingClientRect().width) continue
		const back = behind(e), front = over(rgba(getComputedStyle(e).color), back)
		const [a, b] = [light(front), light(back)].sort((x, y) => y - x)
		const ratio = (a + .05) / (b + .05)
		if (ratio < 4.5) out.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2))
	}
	return [...out].slice(0, 6).join(' | ')
})()`

// plain names pills without a colour of their own, and a heading that is said again below it.
const plain = `(() => {
	const out = [...document.querySelectorAll('.chip')].filter((e) => getComputedStyle(e).backgroundColor === 'rgba(0, 0, 0, 0)')
		.map((e) => 'a pill without a colour: ' + e.textContent)
	const title = document.querySelector('h1').textContent.trim()
	if (title.length > 48 && document.querySelector('main').textContent.includes(title)) out.push('the heading is said twice')
	return out.slice(0, 5).join(' | ')
})()`

// pictures leaves pictures of a phone, a laptop and a large screen where PLIMSOLL_SHOTS asks for them.
func (p *tab) pictures(name string) {
	p.t.Helper()
	if os.Getenv("PLIMSOLL_SHOTS") == "" {
		return
	}
	for _, width := range []int64{400, 1280, 1920} {
		send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
		p.drawAll()
		p.shoot(fmt.Sprintf("%s-%d", name, width))
	}
}

var pdfPage = regexp.MustCompile(`/Type\s*/Page\b`)

// Every kind of report on a phone, a laptop and a large screen, light and dark, and on paper: no
// element is wider than its box or leaves the page, contrast is 4.5 at least, nothing is complained
// about, and a run of ten scenarios has ten pages at most. With PLIMSOLL_SHOTS there are pictures.
func TestBrowserEveryKind(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	ctx := browser(t)
	for name, d := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := page.Write(&out, page.HTML, d, page.Options{Details: true}); err != nil {
				t.Fatal(err)
			}
			p := openPage(ctx, t, out.String())
			for _, width := range []int64{400, 1280, 1920} {
				send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
				if got := eval[string](p, wide); got != "" {
					t.Errorf("at %d px wider than its box: %s", width, got)
				}
				if got := eval[int64](p, `document.documentElement.scrollWidth`); got > width {
					t.Errorf("at %d px the page is %d wide", width, got)
				}
			}
			for _, theme := range []string{"light", "dark"} {
				eval[bool](p, `(document.documentElement.dataset.theme = '`+theme+`', true)`)
				if got := eval[string](p, faint); got != "" {
					t.Errorf("%s text has too little contrast: %s", theme, got)
				}
				p.pictures(strings.ReplaceAll(name, " ", "-") + "-" + theme)
			}
			if got := eval[string](p, plain); got != "" {
				t.Error(got)
			}
			pdf := send(p, cdpage.PrintToPDF, cdpage.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69}).Data
			pages := len(pdfPage.FindAll(pdf, -1))
			if dir := os.Getenv("PLIMSOLL_SHOTS"); dir != "" {
				_ = os.WriteFile(dir+"/"+strings.ReplaceAll(name, " ", "-")+".pdf", pdf, 0o600)
			}
			if pages == 0 || name == "run" && pages > 10 {
				t.Errorf("%d pages as PDF, want 10 at most", pages)
			}
			t.Run("pages are full", func(t *testing.T) {
				full := filled(t, pdf)
				t.Logf("%d pages, printed on down to %.2f", pages, full)
				if len(full) != pages || pages > 1 && slices.Min(full[:pages-1]) < 0.6 {
					t.Error("pages of the PDF are left half empty")
				}
			})
		})
	}
}

// filled is how far down each page of a PDF is printed on, as shares of its height.
func filled(t *testing.T, pdf []byte) []float64 {
	t.Helper()
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		t.Skip("SKIPPED: pdftoppm is not installed, so no test has looked how full the pages are (apt-get install poppler-utils)")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/a.pdf", pdf, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "pdftoppm", "-r", "20", "-gray", dir+"/a.pdf", dir+"/p").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages, err := filepath.Glob(dir + "/p-*.pgm") // numbered with as many digits each
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	var full []float64
	for _, name := range pages {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var width, height, most int
		if _, err := fmt.Sscanf(string(data[:min(len(data), 32)]), "P5\n%d %d\n%d\n", &width, &height, &most); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		dots := data[len(data)-width*height:]
		last := len(dots) - 1
		for last > 0 && int(dots[last])*5 > most*4 { // lighter than ink
			last--
		}
		full = append(full, float64(last/width)/float64(height))
	}
	return full
}

// Without its script a page still has every figure as text, and each chart's place says where.
func TestChartsSayWhereTheirFiguresAre(t *testing.T) {
	for name, d := range kinds(t) {
		var out bytes.Buffer
		if err := page.Write(&out, page.HTML, d, page.Options{Details: true}); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		plots, says := strings.Count(got, `<div class="plot"`), strings.Count(got, `<p class="instead">A script draws this chart. Its figures are in `)
		if plots != says {
			t.Errorf("%s: %d places of charts, %d say where the figures stand", name, plots, says)
		}
		if plots > 0 && strings.Count(got, "<table") == 0 {
			t.Errorf("%s: charts and no table", name)
		}
	}
}
