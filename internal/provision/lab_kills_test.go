package provision

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// kills are how many are tried: a few by default, as many as PLIMSOLL_LAB_KILLS says.
func kills() int {
	if testing.Short() {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_LAB_KILLS")); err == nil {
		return n
	}
	return 6
}

// killing runs a command of plimsoll's and, after so many milliseconds, kills it; at 0 it is left alone. It prints
// how it ended.
const killing = `rm -f /tmp/out; plimsoll array %s --yes >/tmp/out 2>&1 & pid=$!
[ %[2]d = 0 ] || { sleep $(printf '%%d.%%03d' $((%[2]d/1000)) $((%[2]d%%1000))); kill -%[3]s $pid 2>/dev/null; }
wait $pid; echo $?`

// attempt is one kill, and what came of it.
type attempt struct {
	g      *guest
	random *rand.Rand
	takes  map[string]int // of each command, in milliseconds, when nobody kills it
	counts map[string]int
}

// strike runs a command that is killed, or loses its power, at a random instant of the time that it takes.
func (a *attempt) strike(what string) {
	verb := strings.Fields(what)[0]
	at := 1 + a.random.IntN(max(a.takes[verb], 1))
	how := []string{"KILL", "KILL", "TERM", "power cut"}[a.random.IntN(4)]
	if how == "power cut" {
		a.g.ok(fmt.Sprintf("{ plimsoll array %s --yes >/tmp/out 2>&1 & }; sleep $(printf '%%d.%%03d' %d %d)", what, at/1000, at%1000))
		a.g.cutPower()
	} else {
		code := strings.TrimSpace(a.g.ok(fmt.Sprintf(killing, what, at, how)))
		if code == "0" { // it had ended before
			how = "past its end"
		}
	}
	a.counts[verb+", "+how]++
}

// again does what was killed once more, which must finish it.
func (a *attempt) again(what string) {
	if r := a.g.sh("plimsoll array " + what + " --yes"); r.Code != 0 {
		a.g.t.Fatalf("%s, once more: exit status %d\n%s\n%s", what, r.Code, r.Stderr, a.g.ok("cat /proc/mdstat /tmp/out; cat /var/lib/plimsoll/journal/*.json; true"))
	}
}

// Kills and power cuts at random instants of apply, of a member's replacement and of teardown: the same command, run
// again, finishes it (or teardown takes back an apply that was cut), data that was there is there, and in the end the
// volumes are blank, and /etc and a bystander as they were. PLIMSOLL_LAB_KILLS=200 tries 200.
func TestLabKillsAtRandomInstants(t *testing.T) {
	if os.Getenv("PLIMSOLL_LAB_KILLS") == "" {
		t.Skip("SKIPPED: PLIMSOLL_LAB_KILLS says how many are tried; each takes a minute and more")
	}
	g := start(t, "  - {name: a, count: 3, size: 64MiB}\n")
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("PLIMSOLL_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("PLIMSOLL_SEED=%d", seed)
	a := &attempt{g, rand.New(rand.NewPCG(seed, 0)), map[string]int{}, map[string]int{}}
	before := g.ok(etc)
	array := func(one, two int) string {
		return fmt.Sprintf("arrays:\n  - {name: a, level: raid1, partition: true, assume_clean: true, volumes: [{serial: %s}, {serial: %s}], "+
			"filesystem: {type: ext4, label: A, mount: /srv/a/b, owner: \"0:6\", mode: \"0750\"}}\n", g.Volumes[one].Serial, g.Volumes[two].Serial)
	}
	const apply, verify = "apply /keep/plimsoll.yaml", "mdadm --wait /dev/md/*; plimsoll array verify /keep/plimsoll.yaml"
	timed := func(what string) int {
		ms, err := strconv.Atoi(strings.TrimSpace(g.ok("now() { cut -d' ' -f1 /proc/uptime | tr -d .; }; s=$(now); plimsoll array " + what + " --yes >/dev/null 2>&1 || exit 1; echo $((($(now)-s)*10))")))
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	clean := func() {
		for _, v := range g.Volumes {
			if v.Group == "a" { // a member that was replaced keeps, between its ends, what was on it
				g.ok("dd if=/dev/zero of=" + v.Device + " bs=1M conv=fsync 2>/dev/null; true")
			}
		}
		g.blank("a")
		g.same(before)
	}
	g.declare(array(0, 1))
	a.takes["apply"] = timed(apply)
	g.declare(array(0, 2))
	a.takes["replace"] = timed(apply)
	a.takes["teardown"] = timed("teardown")
	clean()
	for n := range kills() {
		g.declare(array(0, 1))
		switch n % 3 {
		case 0:
			a.strike(apply)
			if a.random.IntN(3) == 0 {
				break // taken back as it is
			}
			a.again(apply)
			g.ok(verify)
		case 1:
			g.ok("plimsoll array " + apply + " --yes && echo kept > /srv/a/b/file && sync")
			g.declare(array(0, 2))
			was := a.takes["apply"]
			a.takes["apply"] = a.takes["replace"]
			a.strike(apply)
			a.takes["apply"] = was
			a.again(apply)
			g.ok(verify + " && grep -q kept /srv/a/b/file && rm /srv/a/b/file && sync")
			a.counts["of these, replacing a member"]++
		case 2:
			g.ok("plimsoll array " + apply + " --yes")
			a.strike("teardown")
		}
		a.again("teardown")
		clean()
		if t.Failed() {
			t.Fatalf("kill %d", n+1)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(a.counts)) {
		t.Logf("%s: %d", what, a.counts[what])
	}
}
