package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
)

// Balance is how full a bucket of burst credits was at a moment. It is a fact of that moment, so it
// cannot be declared.
type Balance struct {
	Left   float64   `json:"left"` // of the whole bucket, 0..1
	At     time.Time `json:"at"`   // when the period began whose least value it is
	Origin Origin    `json:"origin"`
}

// String prints the share that is left and the time of day it was so.
func (b Balance) String() string {
	return text.Share(b.Left) + " at " + b.At.UTC().Format("15:04 UTC")
}

// balance takes over what a source reported, nil for nothing.
func balance(b *cloud.Balance, source string) *Balance {
	if b == nil {
		return nil
	}
	return &Balance{b.Left, b.At, Origin{Detected, source}}
}

// watched is what came of asking a cloud how much burst the machine has left, for it to be asked
// about the volumes.
type watched struct {
	cloud      *cloud.Provider
	machine    cloud.Identity
	unreported []string // of what it has reported no balance
	failed     error    // why; nil when it has none
}

// askBalances asks the cloud how much burst the volumes have left that have credits, be that
// detected or declared. What refuses to tell of the instance is not asked again. A note says of
// what the balance is not known, and why.
func (t *Topology) askBalances(ctx context.Context, w *watched) {
	if w == nil {
		return
	}
	var ids []string // each once
	for v := range t.volumes() {
		if v.Burst.Known() {
			ids = text.Once(ids, v.ID)
		}
	}
	var left cloud.Balances
	if w.failed == nil {
		left, w.failed = w.cloud.Left(ctx, cloud.Identity{Region: w.machine.Region}, ids)
	}
	for _, id := range ids {
		if _, ok := left.Volumes[id]; !ok {
			w.unreported = append(w.unreported, id)
		}
	}
	for v := range t.volumes() {
		if b, ok := left.Volumes[v.ID]; ok {
			v.Balance = balance(&b, w.cloud.Terms().VolLeft)
		}
	}
	if n := len(w.unreported); n > 0 {
		of := strings.Join(w.unreported, ", ")
		if n > 3 {
			of = fmt.Sprintf("%s and %d more", strings.Join(w.unreported[:2], ", "), n-2)
		}
		// "Data is reported to CloudWatch only when the volume is active", and a new instance has
		// none yet
		if w.failed == nil {
			w.failed = errors.New("CloudWatch has no value of the last hour; it gets none of what is idle or new")
		}
		t.note("the burst balance of %s is not known: %v", of, w.failed)
	}
}
