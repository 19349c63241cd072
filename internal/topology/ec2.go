package topology

import (
	"context"
	"errors"
	"slices"
	"sync"

	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
)

// askEC2 asks the metadata service which instance this is, the EC2 API what its volumes were
// ordered with and, at the same time, CloudWatch how much burst the instance has left. Elsewhere it
// asks nobody: nil. Without credentials limits and balances stay unknown, with a note.
func (t *Topology) askEC2(ctx context.Context, m *sys.Machine) *watched {
	if !m.Here {
		return nil
	}
	id, err := cloud.Identify(ctx, m.Root)
	if errors.Is(err, cloud.ErrNotEC2) {
		return nil
	}
	if err != nil {
		t.note("%v", err)
	} else {
		t.Instance.Type, t.Instance.ID = id.InstanceType, id.InstanceID
	}
	ids := t.volumeIDs(func(Volume) bool { return true })
	if len(ids) == 0 {
		return nil
	}
	w := &watched{region: id.Region}
	var left cloud.Balances
	var asking sync.WaitGroup
	instance := t.Instance.ID
	if facts, _ := cloud.InstanceLimits(t.Instance.Type); facts.Burst == (cloud.Limits{}) {
		instance = "" // it has nothing to be asked about
	}
	asking.Go(func() { left, w.failed = cloud.BurstBalances(ctx, id.Region, instance, nil) })
	volumes, err := cloud.DescribeVolumes(ctx, id.Region, ids)
	asking.Wait()
	if err != nil {
		t.note("what the volumes were ordered with is not known: %v", err)
	}
	for _, p := range volumes {
		t.ordered(p)
	}
	t.Instance.IOBalance, t.Instance.RateBalance = balance(left.InstanceIO, "EBSIOBalance%"), balance(
		left.InstanceRate,
		"EBSByteBalance%",
	)
	if instance != "" && left.InstanceIO == nil && left.InstanceRate == nil {
		w.unreported = []string{t.Instance.Type}
	}
	return w
}

// volumeIDs are those of the volumes that pass, each once.
func (t *Topology) volumeIDs(pass func(Volume) bool) []string {
	var ids []string
	for _, a := range t.Arrays {
		for _, v := range a.Volumes {
			if v.ID != "" && pass(v) && !slices.Contains(ids, v.ID) {
				ids = append(ids, v.ID)
			}
		}
	}
	return ids
}

// ordered fills in a volume by what the EC2 API says of it.
func (t *Topology) ordered(p cloud.ProvisionedVolume) {
	for i := range t.Arrays {
		for j := range t.Arrays[i].Volumes {
			v := &t.Arrays[i].Volumes[j]
			if v.ID != p.ID {
				continue
			}
			v.take(p.Facts)
			v.Snapshot = p.Snapshot
			v.Origin = Origin{Detected, "EC2 API, DescribeVolumes; " + p.Facts.String()}
			if p.Doubt != "" {
				t.note("%s: %s", p.ID, p.Doubt)
			}
		}
	}
}
