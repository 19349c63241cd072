package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
)

// The gates of docs/ci.md, as the page has them, over thirty simulated nights each: what each night ends with.
// docs/evidence/compare.md has the codes.
func TestNightsOfCI(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	series := 1
	if os.Getenv("PLIMSOLL_NIGHTS") != "" {
		series = 5
	}
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	options := func(recipe string) string {
		found := regexp.MustCompile(recipe).FindSubmatch(page)
		if found == nil {
			t.Fatalf("docs/ci.md has no recipe like %s", recipe)
		}
		return string(found[1])
	}
	nightly := options(`run: plimsoll run rand-read-latency (--against last:10 --fail-on \S+) `)
	// The action and the template for GitLab are the same gate.
	for file, spelt := range map[string]*strings.Replacer{
		"action.sh": strings.NewReplacer("\\\n\t\t", "", `"${IN_FAIL_ON:-regression:10%}"`, "regression:10%"),
		"gitlab/plimsoll.yml": strings.NewReplacer(`PLIMSOLL_GATE: "regression:10%"`, "",
			`"$PLIMSOLL_GATE"`, "regression:10%"),
	} {
		script, err := os.ReadFile("../../packaging/" + file)
		if err != nil || !strings.Contains(spelt.Replace(string(script)), nightly) ||
			strings.Contains(spelt.Replace(string(script)), "PLIMSOLL_GATE:") {
			t.Errorf("%s has no %s: %v", file, nightly, err)
		}
	}
	variants := options(`- plimsoll ab rand-read-latency --variant now --variant new:\S+ (--fail-on \S+) `)
	for i, c := range []struct {
		name  string
		truth func(night int) float64
		both  [2]string // codes of the nightly gate, and of the one of variants
	}{
		{"flat", func(int) float64 { return 1 }, [2]string{"^1{5,14}0+$", "^0+$"}},
		{"step of -15 % at night 20", func(i int) float64 {
			if i >= 20 {
				return 0.85
			}
			return 1
		}, [2]string{"^1{5,14}0+3{8,10}$", "^0{20}3{10}$"}},
		{
			"drift of -2 % a night from night 15", func(i int) float64 { return math.Pow(0.98, float64(max(0, i-14))) },
			[2]string{"^1{5,14}[01]+3+$", "^0{18,23}[013]*3+$"},
		},
		{"one night of -40 %", func(i int) float64 {
			if i == 22 {
				return 0.6
			}
			return 1
		}, [2]string{"^1{5,14}0+30{7}$", "^0{22}30{7}$"}},
		{"nights 2, 9, 10 and 16 at -40 %, then -15 % from night 20", func(i int) float64 {
			switch {
			case i == 2 || i == 9 || i == 10 || i == 16:
				return 0.6
			case i >= 20:
				return 0.85
			}
			return 1
		}, [2]string{"^1{5,9}[013]*3{8,10}$", "^0030{6}330{5}30{3}3{10}$"}},
	} {
		if i >= series { // PLIMSOLL_NIGHTS=1 has all of them: minutes
			break
		}
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			rng := rand.New(rand.NewPCG(49, 15))
			began := time.Date(2026, 10, 1, 3, 0, 0, 0, time.UTC)
			measured := func(dir, labels string, at time.Time, truth float64) string {
				return gateRun(t, dir, labels, at, 20000*truth*math.Exp(0.015*rng.NormFloat64()), gateMissing)
			}
			gate, ab := "", ""
			for night := range 30 {
				at := began.AddDate(0, 0, night)
				run := measured("runs", "side=nightly", at, c.truth(night))
				code, _, _ := typed(t, "compare "+run+" --in runs "+nightly)
				gate += fmt.Sprint(code)
				dir := fmt.Sprintf("ab-%d", night)
				for round := range 8 {
					for k, variant := range []string{"now", "new"} {
						truth := 1.0
						if variant == "new" {
							truth = c.truth(night)
						}
						measured(dir, fmt.Sprintf("variant=%s,round=%d", variant, round+1),
							at.Add(time.Duration(2*round+k)*time.Minute), truth)
					}
				}
				data, err := json.Marshal(compare.AB{
					Schema: bundle.Schema, Variants: []string{"now", "new"}, Rounds: 8,
					Margin: 0.03,
				})
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, compare.ABFile), data, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				code, _, _ = typed(t, "compare "+dir+" "+variants)
				ab += fmt.Sprint(code)
			}
			t.Logf("%s: %s; variants %s", strings.Join([]string{nightly, c.name}, ", "), gate, ab)
			for i, got := range []string{gate, ab} {
				if !regexp.MustCompile(c.both[i]).MatchString(got) {
					t.Errorf("%s, want %s", got, c.both[i])
				}
			}
		})
	}
}
