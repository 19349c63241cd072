package provision

import (
	"fmt"
	"math/rand/v2"
	"os"
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

// killer kills one kind of command after the other.
type killer struct {
	g      *guest
	random *rand.Rand
	takes  map[string]int // of each kind, in milliseconds, when nobody kills it
	counts map[string]int
	struck int // that were killed before they had ended
}

// strike runs a command that is killed, or loses its power, at a random instant of the time that it takes. It says
// whether the command had ended by then.
func (k *killer) strike(kind, command string) (ended bool) {
	k.g.t.Helper()
	at := 1 + k.random.IntN(max(k.takes[kind], 1))
	how := []string{"KILL", "KILL", "KILL", "TERM", "power cut"}[k.random.IntN(5)]
	if how == "power cut" {
		k.g.ok(fmt.Sprintf("{ plimsoll array %s --yes >/tmp/out 2>&1 & }; sleep $(printf '%%d.%%03d' %d %d)", command,
			at/1000, at%1000))
		k.g.cutPower()
	} else {
		switch code := strings.TrimSpace(k.g.ok(fmt.Sprintf(killing, command, at, how))); code {
		case "0":
			k.counts[kind+", past its end"]++
			return true
		case "137", "143", "130":
		default: // what was started by the one before is still there
			k.counts[kind+", refused: "+strings.TrimSpace(k.g.ok("tail -n 1 /tmp/out | cut -c1-90"))]++
			return false
		}
	}
	k.struck++
	k.counts[kind+", "+how]++
	return false
}

// chain kills a command up to five times, each time that it is run again, and then lets it finish.
func (k *killer) chain(kind, command string, finish bool) {
	k.g.t.Helper()
	for range 1 + k.random.IntN(5) {
		if k.strike(kind, command) {
			return
		}
	}
	if finish {
		k.again(command)
	}
}

// again does what was killed once more, which must finish it, as soon as the program that was killed with it, and that
// ends by a signal of its own, has let go.
func (k *killer) again(command string) {
	k.g.t.Helper()
	r := k.g.sh("for n in $(seq 100); do plimsoll array " + command + ` --yes 2>/tmp/err; code=$?
[ $code != 0 ] && grep -q 'another plimsoll\|end that first\|has it open' /tmp/err || break; sleep 0.1; done; cat /tmp/err >&2; exit $code`)
	if r.Code != 0 {
		k.g.t.Fatalf("%s, once more: exit status %d\n%s\n%s", command, r.Code, r.Stderr,
			k.g.ok("cat /proc/mdstat /tmp/out; cat /var/lib/plimsoll/journal/*.json; true"))
	}
}

// Kills and power cuts at random instants of apply, of a member's replacement and of teardown, and of what goes on with
// them: the same command, run again, finishes it (or teardown takes back an apply that was cut), data that was there is
// there, and in the end the volumes are blank, and /etc and a bystander as they were. One guest hosts them all.
// PLIMSOLL_LAB_KILLS=200 tries 200.
func TestLabKillsAtRandomInstants(t *testing.T) {
	if os.Getenv("PLIMSOLL_LAB_KILLS") == "" {
		t.Skip("SKIPPED: PLIMSOLL_LAB_KILLS says how many are tried; each takes 5 s and, on a busy machine, half a minute")
	}
	g := start(t, "  - {name: a, count: 3, size: 16MiB}\n")
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("PLIMSOLL_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("PLIMSOLL_SEED=%d", seed)
	k := &killer{g, rand.New(rand.NewPCG(seed, 0)), map[string]int{}, map[string]int{}, 0}
	before := g.ok(etc)
	array := func(one, two int) {
		g.declare(fmt.Sprintf("arrays:\n  - {name: a, level: raid1, partition: true, assume_clean: true, "+
			"volumes: [{serial: %s}, {serial: %s}], "+
			"filesystem: {type: ext4, label: A, mount: /srv/a/b, owner: \"0:6\", mode: \"0750\"}}\n",
			g.Volumes[one].Serial, g.Volumes[two].Serial))
	}
	const apply, verify = "apply /keep/plimsoll.yaml", "mdadm --wait /dev/md/*; plimsoll array verify /keep/plimsoll.yaml"
	timed := func(kind, command string) {
		ms, err := strconv.Atoi(strings.TrimSpace(
			g.ok("now() { cut -d' ' -f1 /proc/uptime | tr -d .; }; s=$(now); plimsoll array " + command + " --yes >/dev/null " +
				"2>&1 || exit 1; echo $((($(now)-s)*10))")))
		if err != nil {
			t.Fatal(err)
		}
		k.takes[kind] = ms
	}
	clean := func(replaced bool) {
		if replaced { // the old member keeps what was on it
			g.ok("dd if=/dev/zero of=${a[1]} bs=1M conv=fsync 2>/dev/null; true")
		}
		g.blank("a")
		g.same(before)
	}
	array(0, 1)
	timed("apply", apply)
	array(0, 2)
	timed("replace", apply)
	timed("teardown", "teardown")
	clean(true)
	t.Logf("%v ms", k.takes)
	for k.struck < kills() && !t.Failed() {
		whole := k.random.IntN(4) > 0 // else taken back as it is
		array(0, 1)
		k.chain("apply", apply, whole)
		if whole {
			g.ok(verify + " && echo kept > /srv/a/b/file && sync")
			array(0, 2)
			k.chain("replace", apply, true)
			g.ok(verify + " && grep -q kept /srv/a/b/file && rm /srv/a/b/file && sync")
		}
		k.chain("teardown", "teardown", true)
		clean(whole)
		t.Logf("%d kills: %v", k.struck, k.counts)
	}
}
