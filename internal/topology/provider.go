package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// askCloud asks the cloud that the machine is on which machine this is, what its volumes were
// ordered with and, at the same time, how much burst the machine has left. Elsewhere it asks nobody:
// nil. What is refused stays unknown, with a note.
func (t *Topology) askCloud(ctx context.Context, m *sys.Machine) *watched {
	if !m.Here {
		return nil
	}
	p := cloud.At(m.Root)
	if p == nil {
		return nil
	}
	id, err := p.Identify(ctx, m.Root)
	if errors.Is(err, cloud.ErrNotThere) {
		return nil
	}
	if err != nil {
		t.note("%v", err)
	} else {
		t.Instance.Type, t.Instance.ID = id.InstanceType, id.InstanceID
	}
	id.InstanceID = t.Instance.ID
	if cloudOf(p) != "" {
		t.beside()
	}
	attached := t.attached()
	if len(attached) == 0 {
		return nil
	}
	w := &watched{cloud: p, machine: id}
	var left cloud.Balances
	var asking sync.WaitGroup
	if facts, _ := cloud.InstanceLimits(t.Instance.Type); facts.Burst == (cloud.Limits{}) {
		id.InstanceID = "" // it has nothing to be asked about
	}
	asking.Go(func() { left, w.failed = p.Left(ctx, id, nil) })
	volumes, err := p.Ordered(ctx, id, attached)
	asking.Wait()
	if err != nil {
		t.note("what was ordered for the volumes is not known: %v", err)
	}
	for _, v := range volumes {
		t.ordered(v, p.Terms().API)
	}
	words := p.Terms()
	t.Instance.IOBalance = balance(left.InstanceIO, words.IOLeft)
	t.Instance.RateBalance = balance(left.InstanceRate, words.ByLeft)
	if id.InstanceID != "" && left.InstanceIO == nil && left.InstanceRate == nil {
		w.unreported = []string{t.Instance.Type}
	}
	return w
}

// beside finds the machine's network volumes that are not below the paths under test: what they share
// with those by their size counts.
func (t *Topology) beside() {
	used := map[string]bool{}
	for v := range t.Volumes() {
		used[v.Device] = true
	}
	for _, name := range t.Tree.Names() {
		if d := t.Tree.Devices[name]; d.Kind == block.Disk && !used[name] {
			if v := volume(d); v.Network {
				t.others = append(t.others, v)
			}
		}
	}
}

// attached are the network volumes below the paths and those beside them, each once.
func (t *Topology) attached() []cloud.Attached {
	var all []cloud.Attached
	for v := range t.everyVolume() {
		known := slices.ContainsFunc(all, func(o cloud.Attached) bool {
			return v.ID != "" && o.ID == v.ID || v.Device != "" && o.Device == v.Device
		})
		if !v.Network || known {
			continue
		}
		one := cloud.Attached{ID: v.ID, Device: v.Device, Model: v.Model, Size: v.Size}
		if d := t.Tree.Devices[v.Device]; d != nil {
			one.Links = d.Links
		}
		all = append(all, one)
	}
	return all
}

// noteSize says of a machine whose size its cloud did not tell which sizes it may be.
func (t *Topology) noteSize() {
	p := cloud.Named(t.Instance.Cloud)
	if p == nil || t.Instance.Type != "" {
		return
	}
	var fit []string
	for _, f := range p.Machines() {
		if t.Host.CPUs > 0 && f.VCPUs == t.Host.CPUs && t.Host.Memory <= f.Memory && t.Host.Memory > f.Memory/100*85 {
			fit = append(fit, f.Type)
		}
	}
	which := ""
	if len(fit) > 0 {
		which = fmt.Sprintf(", such as %s (%s)", text.Some(fit, 4), "its CPUs and memory fit "+text.Plural(len(fit), "type"))
	}
	t.note("this is a machine of %s, whose type is not known here: name it with --instance%s", t.Instance.Cloud, which)
}

// ordered fills in a volume by what its cloud says of it.
func (t *Topology) ordered(p cloud.ProvisionedVolume, api string) {
	for v := range t.everyVolume() {
		if p.ID != "" && v.ID != p.ID || p.ID == "" && v.Device != p.On {
			continue
		}
		if p.Facts.Type != "" {
			v.take(p.Facts)
			v.Origin = Origin{Detected, api}
		}
		if p.Facts.Source != "" {
			v.Origin.Where += "; " + p.Facts.String()
		}
		v.Snapshot, v.Caching = p.Snapshot, p.Caching
		if p.Doubt != "" {
			t.note("%s: %s", cmp.Or(p.ID, p.On), p.Doubt)
		}
	}
}

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
	for v := range t.Volumes() {
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
	for v := range t.Volumes() {
		if b, ok := left.Volumes[v.ID]; ok {
			v.Balance = balance(&b, w.cloud.Terms().VolLeft)
		}
	}
	if len(w.unreported) > 0 {
		// "Data is reported to CloudWatch only when the volume is active", and a new instance has
		// none yet
		if w.failed == nil {
			w.failed = errors.New("CloudWatch has no value for the last hour; it gets none for idle or new volumes")
		}
		t.note("the burst balance of %s is not known: %v", text.Few(w.unreported), w.failed)
	}
}
