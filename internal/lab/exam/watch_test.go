package exam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	atwork "plimsoll/internal/diagnose/live"
	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// namedRight are the codes that name a true cause of the live exam.
var namedRight = map[string][]finding.Code{
	"healthy": {""}, "stall": {"PL902"}, "frozen": {"PL903"}, "cgroup": {"PL904"}, "resync": {"PL202"},
	"fsync-storm": {"PL907"}, "neighbour": {"PL906", "PL309"}, "instance-cap": {"PL505"}, "volume-limit": {"PL901"},
	"burst-spent": {"PL602"}, "slow-member": {"PL204"}, "host-queue": {"PL908", "PL303", "PL302"},
	"slow-volume": {"PL909"}, "cpu": {"PL910"}, "nearly-full": {"PL317"},
}

// TestExamLive puts machines of the lab into situations that are known, lets plimsoll why look for
// 5 s, and prints how often the first cause is right (make exam-live SEED=1001 N=10). The facts are
// kept below PLIMSOLL_EXAM_DIR; PLIMSOLL_EXAM_FROM judges them again by the rules of today, without
// the lab. It fails on nothing but machines that could not be made: docs/evidence/exam.md has the bars.
func TestExamLive(t *testing.T) {
	from, dir := os.Getenv("PLIMSOLL_EXAM_FROM"), os.Getenv("PLIMSOLL_EXAM_DIR")
	n, _ := strconv.Atoi(os.Getenv("PLIMSOLL_EXAM_N"))
	seed, _ := strconv.ParseUint(os.Getenv("PLIMSOLL_EXAM_SEED"), 10, 64)
	switch {
	case from != "":
		judgeLive(t, from)
	case n > 0:
		labtest.Need(t)
		if dir == "" {
			dir = t.TempDir()
		}
		t.Run("machines", func(t *testing.T) {
			for i := range uint64(n) {
				t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) {
					t.Parallel()
					watchLive(t, GenerateLive(seed+i).Only(os.Getenv("PLIMSOLL_EXAM_ONLY")), filepath.Join(dir, strconv.FormatUint(seed+i, 10)))
				})
			}
		})
		judgeLive(t, dir)
	default:
		t.Skip("the live exam takes minutes a machine: make exam-live SEED=1001 N=1, or FROM=DIR to judge kept facts again")
	}
}

// watchLive makes a machine and its situations one after the other, and keeps the facts.
func watchLive(t *testing.T, m Live, dir string) {
	t.Helper()
	spec, err := lab.ParseSpec(fmt.Sprintf("live-%d", m.Seed), []byte(m.Lab))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartBeside(t, lab.Config{Spec: spec})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "machine.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range m.Situations {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		r, err := g.Bash(ctx, x.Script())
		if err == nil {
			var facts lab.Result
			if facts, err = g.Exec(ctx, "cat", "live/"+x.Name+".json"); err == nil && facts.Code != 0 {
				err = errors.New(facts.Stderr)
			} else if err == nil {
				err = os.WriteFile(filepath.Join(dir, x.Name+".json"), []byte(facts.Stdout), 0o644)
			}
		}
		cancel()
		if err != nil {
			t.Errorf("%s: %v\n%s%s", x.Name, err, r.Stdout, r.Stderr)
			continue
		}
		t.Logf("%s (%s): %s", x.Name, x.Truth, strings.TrimSpace(r.Stdout))
	}
}

// judgeLive marks kept facts by the rules of today.
func judgeLive(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "machine.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s holds no machine: %v", dir, err)
	}
	asked, right := map[string]int{}, map[string]int{}
	faults, named, healthy, alarms, late, lost := 0, 0, 0, 0, 0, 0
	least := 1.0
	for _, name := range names {
		var m Live
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range m.Situations {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(name), x.Name+".json"))
			if err != nil {
				lost++ // it could not be made
				continue
			}
			f, err := atwork.Decode(data)
			if err != nil {
				t.Errorf("%d %s: %v", m.Seed, x.Name, err)
				continue
			}
			a := atwork.Judge(f)
			ok := slices.Contains(namedRight[x.Truth], a.First)
			asked[x.Name]++
			if ok {
				right[x.Name]++
			} else {
				message := ""
				if len(a.Causes) > 0 {
					message = a.Causes[0].Message
				}
				t.Logf("%d %s: %s, answer %s %s (late %v)", m.Seed, x.Name, x.Truth, a.First, message, a.Late)
			}
			if x.Truth == "healthy" {
				healthy++
				if a.Answer == atwork.Found {
					alarms++
				}
			} else {
				faults++
				if ok {
					named++
				}
			}
			if a.Late > 5*time.Millisecond && (a.First == "PL909" || a.First == "PL912") && x.Truth != "slow-volume" {
				late++
			}
			// Of a member at 0.4 of its peers' rate and less most of the wait is to be its own.
			if x.Name == "slow-member" && GenerateLive(m.Seed).Ratio <= 0.4 && ok {
				least = min(least, a.Account.SlowMember)
			}
			if of := a.Account; of != nil {
				sum := of.Own + of.SlowMember + of.Machine + of.Resync + of.Others + of.Load + of.Rest
				if math.Abs(sum-1) > 0.001 {
					t.Errorf("%d %s: the account adds up to %v", m.Seed, x.Name, sum)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("\n| situation | right | of |\n| --- | ---: | ---: |\n")
	var situations []string
	for s := range asked {
		situations = append(situations, s)
	}
	slices.Sort(situations)
	for _, s := range situations {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", s, right[s], asked[s])
	}
	t.Logf("live exam, %d machines:%s\nfaults: %d of %d named; healthy: a cause claimed on %d of %d; slow volumes accused on late machines: %d; not made: %d; a slow member's share of the wait at least %.2f",
		len(names), b.String(), named, faults, alarms, healthy, late, lost, least)
}
