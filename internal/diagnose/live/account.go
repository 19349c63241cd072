package live

import "plimsoll/internal/units"

// Account divides the mean time of an I/O of the path: shares from 0 to 1 whose sum is 1. What waits
// outside of any device (a control group, a freeze, a place in a queue) is in no device's time and
// so not in here: Answer.Tasks has it.
type Account struct {
	Wait       units.Latency `json:"wait_ns"`
	Own        float64       `json:"own"`         // the volumes' own time
	SlowMember float64       `json:"slow_member"` // what one member takes longer than its peers
	Machine    float64       `json:"machine"`     // in layers of this machine
	Resync     float64       `json:"resync"`
	Others     float64       `json:"others"` // other programs
	Load       float64       `json:"load"`   // the user's own load above a limit
	Rest       float64       `json:"unexplained"`
}

// account is computed in this order: what each part takes is taken from what those before it left.
func (v *view) account() *Account {
	w := v.top.wait()
	if w <= 0 {
		return nil
	}
	a := &Account{Wait: units.Latency(w), Own: min(w, v.typical) / w}
	left := 1 - a.Own
	take := func(part *float64, share float64) {
		share = max(0, min(left, share))
		*part, left = *part+share, left-share // others take twice: by what they ask, and by what they wrote before
	}
	if v.has("PL204") {
		if m, ok := v.compared(); ok {
			take(&a.SlowMember, m.iops()*(m.wait()-m.peerWait)/max(v.top.iops(), 1e-9)/w)
		}
	}
	if v.top.Leaf() {
		if n := v.top.waiting(); n > 0 {
			take(&a.Machine, min(1, max(0, n-v.top.did.InFlight)/n)*left)
		}
	} else {
		take(&a.Machine, (w-v.slowestLeaf())/w)
	}
	if v.has("PL202") {
		_, share := v.syncing()
		take(&a.Resync, left*share)
	}
	if v.has("PL906") {
		take(&a.Others, left*v.other)
	}
	if v.has("PL309") {
		take(&a.Others, left)
	}
	if v.limited() {
		take(&a.Load, left)
	}
	a.Rest = max(0, left)
	return a
}
