package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/cloud"
)

// Balance is how full a bucket of burst credits was at a moment. It is a fact of that moment, so it cannot be declared.
type Balance struct {
	Left   float64   `json:"left"` // of the whole bucket, 0..1
	At     time.Time `json:"at"`   // when the period began whose least value it is
	Origin Origin    `json:"origin"`
}

// String prints the share that is left and the time of day it was so.
func (b Balance) String() string {
	return fmt.Sprintf("%.0f %% at %s", 100*b.Left, b.At.UTC().Format("15:04 UTC"))
}

// balance takes over what CloudWatch told, nil for nothing.
func balance(b *cloud.Balance, metric string) *Balance {
	if b == nil {
		return nil
	}
	return &Balance{b.Left, b.At, Origin{Detected, "CloudWatch, " + metric}}
}

// askBalances asks CloudWatch how much burst the volumes have left that have credits, be that detected or declared.
func (t *Topology) askBalances(ctx context.Context, region string) {
	ids := t.volumeIDs(func(v Volume) bool { return v.Burst.Known() })
	if len(ids) == 0 {
		return
	}
	left, err := cloud.BurstBalances(ctx, region, "", ids)
	var untold []string
	for _, id := range ids {
		if _, ok := left.Volumes[id]; !ok {
			untold = append(untold, id)
		}
	}
	switch some := untold[:min(2, len(untold))]; {
	case len(untold) > 2:
		t.noteUntold(fmt.Sprintf("%s and %d more volumes", strings.Join(some, ", "), len(untold)-2), err)
	case len(untold) > 0:
		t.noteUntold(strings.Join(some, " and "), err)
	}
	for i := range t.Arrays {
		for j := range t.Arrays[i].Volumes {
			if b, ok := left.Volumes[t.Arrays[i].Volumes[j].ID]; ok {
				t.Arrays[i].Volumes[j].Balance = balance(&b, "BurstBalance")
			}
		}
	}
}

// noteUntold says of what the balance is not known, and why.
func (t *Topology) noteUntold(of string, err error) {
	if err == nil { // "Data is reported to CloudWatch only when the volume is active", and a new instance has none yet
		err = errors.New("CloudWatch has no value of the last hour; it gets none of what is idle or new")
	}
	t.note("the burst balance of %s is not known: %v", of, err)
}
