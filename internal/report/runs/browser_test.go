package runs

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
)

// browser is one headless Chromium for all tests of the page. With PLIMSOLL_SHOTS=DIR they leave
// pictures there.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: chromium is not installed, so no test has looked at the HTML report (apt-get install chromium)")
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true), // a container's /dev/shm is small, and a tab without room hangs
		chromedp.WindowSize(1280, 900))
	said := &said{}
	flags = append(flags, chromedp.CombinedOutput(said))
	ctx, stop := chromedp.NewExecAllocator(context.WithValue(t.Context(), saidKey{}, said), flags...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(stuck(ctx, "Chromium's start", err))
	}
	return ctx
}

// said is what Chromium prints, for the message of a tab that hangs.
type said struct {
	mu   sync.Mutex
	text []byte
}

type saidKey struct{}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	s.text = s.text[max(0, len(s.text)-4000):]
	return len(p), nil
}

// stuck says at which step a browser failed, what it printed, and what each of its processes is at: a tab that hangs
// says nothing itself.
func stuck(ctx context.Context, step string, err error) error {
	text := "nothing"
	if s, ok := ctx.Value(saidKey{}).(*said); ok {
		s.mu.Lock()
		text = string(s.text)
		s.mu.Unlock()
	}
	load, _ := os.ReadFile("/proc/loadavg")
	ps, _ := exec.Command("ps", "-eo", "pid,ppid,stat,time,wchan:20,args").Output()
	var all []string
	for line := range strings.Lines(string(ps)) {
		if strings.Contains(line, "chromium") {
			all = append(all, line[:min(len(line), 160)])
		}
	}
	return fmt.Errorf("%s: %w\nload %s\nChromium printed:\n%s\nprocesses (state, CPU time, where they wait):\n%s", step, err, load, text, strings.Join(all, "\n"))
}

// tab is one page of the browser with all that it complained about.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// open writes b's report and opens it from disk.
func open(browser context.Context, t *testing.T, b *bundle.Bundle) *tab {
	t.Helper()
	return openPage(browser, t, render(t, page.HTML, b, page.Options{Details: true}))
}

// openPage opens a page from disk.
func openPage(browser context.Context, t *testing.T, html string) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewContext(browser)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil { // before the timeout, which would else end the tab itself
		t.Fatal(stuck(ctx, "a new tab", err))
	}
	ctx, stop = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx}
	address := (&url.URL{Scheme: "file", Path: file}).String()
	err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.complaints = append(p.complaints, fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			p.complaints = append(p.complaints, fmt.Sprintf("console.%s: %+v", e.Type, e.Args[0]))
		case *log.EventEntryAdded: // what breaks the page's policy comes here
			p.complaints = append(p.complaints, "log: "+e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != address {
				p.complaints = append(p.complaints, "request: "+e.Request.URL)
			}
		case *cdpage.EventJavascriptDialogOpening:
			p.complaints = append(p.complaints, "dialog: "+e.Message)
		case *inspector.EventTargetCrashed: // no step would ever be answered
			p.complaints = append(p.complaints, "the tab crashed")
			stop()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	send(p, network.Enable, network.EnableParams{})
	send(p, log.Enable, cdp.Empty{})
	send(p, inspector.Enable, cdp.Empty{})
	p.do(chromedp.Navigate(address))
	// Charts of folded details draw once somebody has opened them.
	eval[bool](p, `document.querySelectorAll('details.fold, section.fold > details').forEach((d) => { d.open = true }) ?? true`)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		slices.Sort(p.complaints)
		for _, c := range slices.Compact(p.complaints) {
			t.Error("the page complains:", c)
		}
	})
	return p
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(stuck(p.ctx, "a step", err))
	}
}

// send gives a command of the DevTools protocol.
func send[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	r, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(stuck(p.ctx, fmt.Sprintf("%T", params), err))
	}
	return r
}

// eval returns the value of a JavaScript expression.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(stuck(p.ctx, expression, err))
	}
	return v
}

func (p *tab) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("PLIMSOLL_SHOTS")
	if dir == "" {
		return
	}
	eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 400))`) // a page of another width is drawn again after 120 ms
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// drawAll scrolls past every figure and waits until the last is drawn.
func (p *tab) drawAll() {
	p.t.Helper()
	// On a busy machine headless Chromium gives no frame for seconds, and no observer fires: so it
	// stays at a chart until that is drawn.
	all := eval[bool](p, `(async () => {
		for (const end = Date.now() + 120e3; Date.now() < end;) {
			const next = [...document.querySelectorAll('figure')].find((f) => f.querySelector('.plot:not([data-drawn])'))
			if (!next) {
				window.scrollTo({top: 0, behavior: 'instant'})
				return true
			}
			next.scrollIntoView({behavior: 'instant'})
			await new Promise((done) => setTimeout(done, 20))
		}
		return false
	})()`)
	if !all {
		p.t.Fatal("charts are not drawn after two minutes")
	}
}

// wait polls an expression until it is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(time.Minute))); err != nil {
		p.t.Fatal(stuck(p.ctx, expression, err))
	}
}

// phone makes the window as narrow as one.
func (p *tab) phone() {
	p.t.Helper()
	send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 390, Height: 844, DeviceScaleFactor: 2, Mobile: true})
}

// fits says whether the page can be read on a phone without scrolling sideways.
func (p *tab) fits() {
	p.t.Helper()
	if w := eval[int](p, `document.documentElement.scrollWidth`); w > 390 {
		p.t.Errorf("the page is %d px wide on a phone of 390: %s", w, eval[string](p, `[...document.querySelectorAll('body *')]
			.filter((e) => e.getBoundingClientRect().right > 391 && !e.closest('.scroll')).map((e) => e.tagName + '.' + e.className).slice(0, 9).join(' ')`))
	}
}

// dark has the system ask for dark pages, on a kind of medium.
func (p *tab) dark(medium string) {
	p.t.Helper()
	send(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
}

func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	ctx := browser(t)
	run := synthetic(60)
	few := synthetic(30) // what needs not all ten: a synced write, a mixed load, one without a ceiling
	few.Scenarios = []bundle.Scenario{few.Scenarios[0], few.Scenarios[6], few.Scenarios[8]}
	if os.Getenv("PLIMSOLL_SHOTS") != "" {
		few = run
	}

	t.Run("each chart draws", func(t *testing.T) {
		p := open(ctx, t, run)
		if n := eval[int](p, `document.querySelectorAll('.plot[data-drawn]').length`); n > 12 {
			t.Errorf("%d charts were drawn before anyone scrolled to them", n)
		}
		p.drawAll()
		if over := eval[int](p, `[...document.querySelectorAll('table')].filter((e) => !e.closest('.scroll') && e.scrollWidth > e.parentElement.clientWidth).length`); over > 0 {
			t.Errorf("%d tables are wider than their panel", over)
		}
		type figure struct {
			Kind, Caption, Label string
			Paths                int
		}
		all := eval[[]figure](p, `[...document.querySelectorAll('figure')].map((f) => ({
			Kind: f.dataset.chart, Caption: f.textContent.slice(0, 40), Label: f.querySelector('.plot').getAttribute('aria-label'),
			Paths: f.querySelectorAll('svg path, svg rect').length}))`)
		kinds := map[string]int{}
		for _, f := range all {
			kinds[f.Kind]++
			if f.Paths < 3 {
				t.Errorf("%s %q has %d shapes", f.Kind, f.Caption, f.Paths)
			}
			if f.Label == "" {
				t.Errorf("%s %q has nothing to say to a screen reader", f.Kind, f.Caption)
			}
		}
		// Of ten scenarios one is mixed, two are synced writes and one is both: 10 + 1 + 2 + 2
		// populations.
		for kind, want := range map[string]int{"iops": 10, "bw": 10, "latency": 10, "percentiles": 10, "members": 10, "heat": 15, "account": 1} {
			if kinds[kind] != want {
				t.Errorf("%d charts of kind %s, want %d", kinds[kind], kind, want)
			}
		}
		if curve := eval[string](p, `document.querySelector('figure[data-chart="percentiles"]').textContent`); !strings.Contains(curve, "p99.9") {
			t.Errorf("the axis of percentiles has no nines: %s", curve)
		}
		// A bandwidth has its unit, and the ticks of an axis are all of one kind: not 9,000 and
		// 12k.
		if phrase := eval[string](p, `document.querySelector('figure[data-chart="bw"]').textContent`); !strings.Contains(phrase, "MiB/s") {
			t.Errorf("the chart of bandwidth names no unit: %s", phrase)
		}
		mixed := eval[string](p, `[...document.querySelectorAll('figure[data-chart="iops"], figure[data-chart="bw"]')].map((f) =>
			[...f.querySelectorAll('svg text')].map((e) => e.textContent).filter((text) => /^[1-9][\d.,]*[kM]?$/.test(text)))
			.filter((ticks) => ticks.some((tick) => /[kM]$/.test(tick)) && ticks.some((tick) => /\d$/.test(tick))).join(' | ')`)
		if mixed != "" {
			t.Errorf("ticks of two kinds on one axis: %s", mixed)
		}
		p.shoot("light")
	})

	t.Run("dark and light", func(t *testing.T) {
		p := open(ctx, t, few)
		p.drawAll()
		color := `getComputedStyle(document.body).backgroundColor + ' ' + document.querySelector('.plot svg text').getAttribute('fill')`
		light := eval[string](p, color)
		p.dark("")
		p.wait(fmt.Sprintf(`(%s) !== %q`, color, light))
		dark := eval[string](p, color)
		if bg, lbg := strings.Split(dark, ") ")[0], strings.Split(light, ") ")[0]; bg == lbg || dark[len(bg):] == light[len(lbg):] {
			t.Errorf("page and charts do not both follow the system: %s, then %s", light, dark)
		}
		p.shoot("dark")
		if got := eval[string](p, `document.getElementById('theme').textContent`); got != "Light" {
			t.Errorf("on a dark page the button says %q", got)
		}
		p.do(chromedp.Click(chromedp.CSS("#theme")))
		if got := eval[string](p, color); got != light {
			t.Errorf("after the button the colours are %s, want %s", got, light)
		}
		if got := eval[string](p, `document.getElementById('theme').textContent`); got != "Dark" {
			t.Errorf("on a light page the button says %q", got)
		}
	})

	t.Run("on a phone", func(t *testing.T) {
		p := open(ctx, t, few)
		p.phone()
		p.drawAll()
		p.fits()
		if broken := eval[string](p, `(() => {
			const pen = document.createElement('canvas').getContext('2d')
			return [...document.querySelectorAll('.finding[open] td, .finding[open] th')].filter((cell) => cell.clientWidth).filter((cell) => {
				const style = getComputedStyle(cell)
				pen.font = style.font
				const room = cell.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
				return cell.textContent.split(/[\s-]+/).some((word) => word.length < 30 && pen.measureText(word).width > room + 1)
			}).map((cell) => cell.textContent).join(' | ')
		})()`); broken != "" {
			t.Errorf("words of the evidence are broken on a phone: %s", broken)
		}
		p.shoot("phone")
	})

	t.Run("on paper", func(t *testing.T) {
		p := open(ctx, t, few)
		pdf := send(p, cdpage.PrintToPDF, cdpage.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69}).Data
		if n := eval[int](p, `document.querySelectorAll('.plot:not([data-drawn])').length`); n > 0 {
			t.Errorf("%d charts were printed without having been drawn", n)
		}
		if len(pdf) < 50_000 {
			t.Errorf("the PDF has only %d bytes", len(pdf))
		}
		if dir := os.Getenv("PLIMSOLL_SHOTS"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, "report.pdf"), pdf, 0o600)
		}
		p.dark("print")
		send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 690, Height: 980, DeviceScaleFactor: 1})
		eval[bool](p, `dispatchEvent(new Event('beforeprint'))`)
		p.shoot("print")
		if w := eval[int](p, `document.documentElement.scrollWidth`); w > 690 {
			t.Errorf("a page of paper is 690 px wide and the report %d", w)
		}
		if got := eval[string](p, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector('nav')).display`); got != "rgb(255, 255, 255)none" {
			t.Errorf("paper is not white, or the navigation is printed: %s", got)
		}
	})

	t.Run("tables and commands by keyboard", func(t *testing.T) {
		p := open(ctx, t, few)
		p.do(chromedp.Focus(chromedp.CSS("details.series summary")), chromedp.KeyEvent("\r"))
		p.wait(`document.querySelectorAll('details.series table tbody tr').length > 30`)
		p.do(chromedp.Focus(chromedp.CSS("#s1 button.copy")), chromedp.KeyEvent("\r"))
		p.wait(`document.querySelector('#s1 button.copy').textContent === 'Copied'`)
		if anchors := eval[string](p, `[...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute('href')).filter((h) => !document.querySelector(h)).join(' ')`); anchors != "" {
			t.Error("links to nowhere:", anchors)
		}
		if ids := eval[int](p, `(() => { const all = [...document.querySelectorAll('[id]')].map((e) => e.id); return all.length - new Set(all).size })()`); ids > 0 {
			t.Errorf("%d ids are used twice", ids)
		}
	})

	t.Run("hostile names", func(t *testing.T) {
		p := open(ctx, t, hostile())
		p.drawAll()
		p.phone()
		p.fits()
		if n := eval[int](p, `document.scripts.length`); n != 2 {
			t.Errorf("the page has %d script elements, want 2", n)
		}
		p.shoot("hostile")
	})

	t.Run("a recorded run", func(t *testing.T) {
		p := open(ctx, t, recorded(t))
		p.drawAll()
		if n := eval[int](p, `[...document.querySelectorAll('figure')].filter((f) => f.querySelectorAll('svg path, svg rect').length < 3).length`); n > 0 {
			t.Errorf("%d charts of a real run are empty", n)
		}
		p.shoot("recorded")
	})

	t.Run("an hour merges into what can be seen", func(t *testing.T) {
		long := synthetic(60)
		long.Scenarios = long.Scenarios[:2]
		s := long.Scenarios[0].Result
		for i := len(s.Seconds); i < 3600; i++ {
			again := s.Seconds[rampSeconds+i%60]
			again.At = time.Duration(i+1) * time.Second
			s.Seconds = append(s.Seconds, again)
		}
		p := open(ctx, t, long)
		p.drawAll()
		if n := eval[int](p, `JSON.parse(document.getElementById('data').textContent)[0].t.length`); n > mostPoints+1 {
			t.Errorf("%d points of an hour", n)
		}
	})
}
