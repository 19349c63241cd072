package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/verdict"
)

// A host whose own run is INVALID says why; hosts with the same cause stand in one reason, so that
// the limit of three hides none of them. One that is fine, or lost, is no reason of this kind.
func TestHostsSayWhyTheyAreInvalid(t *testing.T) {
	busy := []string{"Other processes used 98.9 % of the CPU. (PL425)"}
	host := func(name string, v verdict.Verdict, reasons []string) bundle.FleetHost {
		return bundle.FleetHost{Name: name, State: bundle.HostDone, Verdict: v, Reasons: reasons}
	}
	got := []string{}
	for _, g := range byReason([]bundle.FleetHost{
		host("h1", verdict.Invalid, busy), host("h2", verdict.Pass, nil),
		host("h3", verdict.Invalid, []string{"Other processes used 91.0 % of the CPU. (PL425)"}),
		host("h4", verdict.Fail, []string{"Scenario 3 missed read.clat.p99 < 1ms."}), host("h5", verdict.Warn, nil),
		{Name: "h6", State: bundle.HostLost, Verdict: verdict.Invalid, Reasons: busy},
	}) {
		got = append(got, g.String())
	}
	want := []string{
		"h1 and h3 are INVALID: Other processes used 98.9 % of the CPU. (PL425)", "h4 is fail: Scenario 3 missed " +
			"read.clat.p99 < 1ms.",
		"h5 is warn.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A host whose link breaks says so and when, also where the engine has no word for it. What the first try
// said, before plimsoll was copied there, is no reason of the second.
func TestLostLinkIsTheReason(t *testing.T) {
	broken := pongs + "exit 255\n"
	once := `case $1 in
sh) cat >/dev/null; echo /home/x/.cache/plimsoll/fleet-Ab12Cd34/plimsoll; exit 0 ;;
plimsoll) echo 'bash: line 1: plimsoll: command not found' >&2; exit 127 ;;
rm) exit 0 ;;
esac
`
	for name, c := range map[string]struct{ script, copied, want string }{
		"copied": {once + broken, "auto", "the connection ended with exit code 255 (its preparations)"},
		"there":  {broken, "never", "the connection ended with exit code 255 (its preparations)"},
		"its words": {pongs +
			"echo 'Connection to h1 closed.' >&2; exit 255\n", "never", "255: Connection to h1 closed. (its preparations)"},
		"missing": {once, "never", "plimsoll was not found there: bash: line 1: plimsoll: command not found (connecting)"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "h1"), []byte(c.script), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := ParseEngine("sh " + dir + "/{host} COMMAND")
		if err != nil {
			t.Fatal(err)
		}
		held, f, err := Run{
			Hosts: []string{"h1"}, Engine: e, Remote: "plimsoll", Self: filepath.Join(dir, "h1"), Order: together,
			Copy: c.copied,
			Out:  filepath.Join(dir, "runs"), Version: "test", Tool: "plimsoll test", What: "lost", Now: time.Now,
			Note: func(host, line string) { t.Log(host, line) },
		}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		if h := f.Hosts[0]; h.State != bundle.HostLost || !strings.HasSuffix(h.Why, c.want) ||
			c.copied == "auto" && strings.Contains(h.Why, "not found") {
			t.Errorf("%s: %s %q, want %q", name, h.State, h.Why, c.want)
		}
	}
}
