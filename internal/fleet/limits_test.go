package fleet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
)

// answers goes on answering pings, and does nothing else.
const answers = `while read -r line; do case $line in *ping*) n=${line#*:}; echo "{\"pong\":${n%\}},\"mono\":5}";; esac; done`

// limited runs a fleet of one host, a shell script, with limits that set shortens.
func limited(t *testing.T, script string, set func(*limits), check bool) bundle.FleetHost {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "h1"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := ParseEngine("sh " + dir + "/{host} COMMAND")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := Run{
		Hosts: []string{"h1"}, Engine: e, Remote: "plimsoll", Order: together, Copy: "never", Out: filepath.Join(dir, "runs"),
		Version: "test", Tool: "plimsoll test", What: "late", Now: time.Now, Note: func(host, line string) { t.Log(host, line) },
		limits: usual(),
	}
	set(&r.limits)
	if check {
		f, err := r.Check(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return f.Hosts[0].FleetHost
	}
	held, f, err := r.Run(ctx)
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Hosts[0]
}

// A host whose connection works is lost, with the phase in which it hangs, when it gets no further.
func TestEachPhaseHasALimit(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	const short = 2 * time.Second
	for name, c := range map[string]struct {
		script string
		set    func(*limits)
		check  bool
		want   string
	}{
		"connecting": {`exec sleep 600`, func(l *limits) { l.hello = short }, false, "(connecting)"},
		"clocks": {
			`echo '` + hello + `'; while echo '{"event":"note","note":"x"}'; do sleep 1; done`,
			func(l *limits) { l.clocks = short }, false, "it got no further with the comparison of clocks within 2 s",
		},
		"never ready": {pongs + answers, func(l *limits) { l.prepare = short }, false, "its preparations"},
		"boasting": { // of progress, for ever
			pongs + `while k=$((k+1)); do echo "{\"event\":\"prefill\",\"written\":$k}"; sleep 1; done`,
			func(l *limits) { l.phase = 5 * time.Second }, false, "its preparations within 5 s",
		},
		"never begins": {pongs + `echo '{"event":"ready","scenario":3}'; ` + answers, func(l *limits) { l.slack = short }, false, "scenario 3"},
		"never ends": {
			pongs + `echo '{"event":"ready","scenario":3}'; echo '{"event":"began","scenario":3,"wait":1000000000}'; ` + answers,
			func(l *limits) { l.slack = short }, false, "scenario 3 within 3 s",
		},
		"no bundle": {pongs + `echo '{"event":"finished"}'; ` + answers, func(l *limits) { l.send = short }, false, "its bundle"},
		"a byte per second": {
			pongs + `echo '{"event":"finished"}'; while echo '{"data":"AA=="}'; do sleep 1; done`,
			func(l *limits) { l.send = short }, false, "its bundle",
		},
		"a check":    {pongs + answers, func(l *limits) { l.check = short }, true, "its check"},
		"is stopped": {pongs + `kill -STOP $$`, func(l *limits) { l.silence = 3 * time.Second }, false, "it did not answer for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait
			if h := limited(t, c.script, c.set, c.check); h.State != bundle.HostLost || !strings.Contains(h.Why, c.want) {
				t.Errorf("%s %q", h.State, h.Why)
			}
		})
	}
}

// As many hosts are connected to at a time as --at-once allows: one that has its plan, or is lost,
// makes room for the next.
func TestHostsAtATime(t *testing.T) {
	e, err := ParseEngine("true {host} COMMAND")
	if err != nil {
		t.Fatal(err)
	}
	for atOnce, want := range map[int][4]int{0: {5, 5, 5, 5}, 1: {1, 1, 2, 3}, 3: {3, 3, 4, 5}} {
		c := &coordinator{Run: Run{Engine: e, AtOnce: atOnce}, events: make(chan event, 64)}
		for _, name := range []string{"h1", "h2", "h3", "h4", "h5"} {
			c.add(bundle.FleetHost{Name: name})
		}
		for i, before := range []func(){
			func() {}, func() {}, func() { c.hosts[0].planned = true }, func() { c.hosts[1].closed = true },
		} {
			before()
			c.begin(t.Context())
			tried := 0
			for _, h := range c.hosts {
				if h.tried {
					tried++
				}
			}
			if tried != want[i] {
				t.Errorf("--at-once %d, step %d: %d hosts, want %d", atOnce, i, tried, want[i])
			}
		}
	}
}

// A host that works on a large file is not lost while it gets further, and one that sends as
// quickly as it must is not either.
func TestProgressTakesItsTime(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	t.Parallel()
	h := limited(t, pongs+`for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo "{\"event\":\"prefill\",\"written\":$n}"; sleep 1; done
echo '{"event":"refused","note":"it is enough"}'; cat`, func(l *limits) { l.prepare = 10 * time.Second }, false)
	if h.Why != "it is enough" {
		t.Errorf("%s %q", h.State, h.Why)
	}
}

func TestBundleDue(t *testing.T) {
	l := usual()
	begun := time.Now().Add(-3 * time.Minute)
	for size, late := range map[int64]bool{1 << 20: true, 2 << 20: false, 64 << 20: false} {
		h := &host{size: size, wait: wait{phase: sending, begun: begun, since: time.Now()}}
		h.bundleDue(l)
		if why := h.overdue(l); (why != "") != late {
			t.Errorf("%d bytes in 3 min: %q", size, why)
		}
	}
}

// Ctrl-C ends the wait for a host that has not connected, at once.
func TestInterruptEndsConnecting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := os.WriteFile(filepath.Join(dir, "h1"), []byte("echo >"+started+"; exec sleep 3600"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := ParseEngine("sh " + dir + "/{host} COMMAND")
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		defer interrupt()
		for t.Context().Err() == nil {
			if _, err := os.Stat(started); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	r := Run{
		Hosts: []string{"h1"}, Engine: e, Remote: "plimsoll", Order: together, Copy: "never", Out: filepath.Join(dir, "runs"),
		Version: "test", What: "cut", Now: time.Now, Note: func(string, string) {}, limits: usual(),
	}
	r.limits.hello, r.limits.stop = time.Hour, time.Hour
	held, f, err := r.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() //nolint:errcheck // only a handle
	if h := f.Hosts[0]; h.State != bundle.HostLost || h.Why != "interrupted" {
		t.Errorf("%s %q", h.State, h.Why)
	}
}
