package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

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
		t.note("what the volumes were ordered with is not known: %v", err)
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
	for v := range t.volumes() {
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
