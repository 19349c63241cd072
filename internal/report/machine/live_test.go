package machine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose/live"
)

// answers are what is said of the live exam's kept facts.
func answers(t *testing.T, each func(name string, f *live.Facts, a *live.Answer)) {
	t.Helper()
	files, err := filepath.Glob("../../diagnose/live/testdata/trials/*.json")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		var trial struct {
			Facts *live.Facts `json:"facts"`
		}
		if err == nil {
			err = json.Unmarshal(data, &trial)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		each(filepath.Base(file), trial.Facts, live.Judge(trial.Facts))
	}
}

// The first line is the answer, with its code where there is a cause, and 14 lines are all.
func TestLiveLines(t *testing.T) {
	answers(t, func(name string, f *live.Facts, a *live.Answer) {
		lines := liveLines(f, a)
		first := lines[0]
		switch {
		case len(a.Causes) > 0 && !strings.HasSuffix(first, "("+string(a.First)+", "+string(a.Causes[0].Confidence)+")"):
			t.Errorf("%s: %s", name, first)
		case len(a.Causes) == 0 && a.Answer == live.Nothing && !strings.HasPrefix(first, "Nothing is wrong with the storage below "+f.Path):
			t.Errorf("%s: %s", name, first)
		case len(lines) > mostLiveLines || !strings.Contains(strings.Join(lines, "\n"), "\n  Next: "):
			t.Errorf("%s: %d lines\n%s", name, len(lines), strings.Join(lines, "\n"))
		}
	})
}

// Numbers in the JSON say their unit by their name, or have none: shares, counts, I/Os and tasks.
func TestLiveNames(t *testing.T) {
	named := regexp.MustCompile(`(_ns|_bytes|_per_s|_iops|_iops_1s)$`)
	bare := regexp.MustCompile(`^(own|slow_member|machine|resync|others|load|unexplained|waiting|at_device|busy|run_queue|processes|` +
		`tasks_waiting|schema_version|version|dirty-limit|throttle|wbt|tags|md|log|frozen|inode-lock|nfs|sync|page-read|io|other)$`)
	seen := map[string]bool{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, of := range v {
				walk(k, of)
			}
		case []any:
			for _, of := range v {
				walk(name, of)
			}
		case float64:
			seen[name] = true
		}
	}
	answers(t, func(_ string, _ *live.Facts, a *live.Answer) {
		data, err := json.Marshal(a)
		var v any
		if err == nil {
			err = json.Unmarshal(data, &v)
		}
		if err != nil {
			t.Fatal(err)
		}
		walk("", v)
	})
	for name := range seen {
		if !named.MatchString(name) && !bare.MatchString(name) {
			t.Errorf("%s has no unit", name)
		}
	}
	for _, name := range []string{"window_ns", "wait_ns", "read_bytes_per_s", "own_lateness_ns", "cpu_ns", "used_per_s"} {
		if !seen[name] {
			t.Errorf("no trial has %s", name)
		}
	}
}

// A minute in which nothing was asked of a device is fine and has no latency.
func TestIdleMinute(t *testing.T) {
	at := time.Date(2026, 11, 23, 6, 40, 0, 0, time.Local)
	for want, m := range map[string]live.Minute{
		"06:40  ok         idle":                            {Start: at, Whose: live.Fine},
		"06:40  ok         250 µs, 0 waiting, 2 IOPS":       {Start: at, Whose: live.Fine, Wait: 250_000, IOPS: 2},
		"06:40  slow 2 s   0 s, 0 waiting, 0 IOPS  (yours)": {Start: at, Whose: live.Yours, Slow: 2 * time.Second},
	} {
		if got := minuteLine(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
