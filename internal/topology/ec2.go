package topology

import (
	"context"
	"errors"

	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
)

// askEC2 asks the metadata service which instance this is, and the EC2 API what its volumes were ordered with. Elsewhere it asks nobody;
// without credentials the volumes' limits stay unknown, with a note.
func (t *Topology) askEC2(ctx context.Context, m *sys.Machine) {
	if !m.Here {
		return
	}
	id, err := cloud.Identify(ctx, m.Root)
	if errors.Is(err, cloud.ErrNotEC2) {
		return
	}
	if err != nil {
		t.note("%v", err)
	} else {
		t.Instance.Type, t.Instance.ID = id.InstanceType, id.InstanceID
	}
	var ids []string
	for _, a := range t.Arrays {
		for _, v := range a.Volumes {
			if v.ID != "" {
				ids = append(ids, v.ID)
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	volumes, err := cloud.DescribeVolumes(ctx, id.Region, ids)
	if err != nil {
		t.note("what the volumes were ordered with is not known: %v", err)
		return
	}
	for _, p := range volumes {
		t.ordered(p)
	}
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
			v.Origin = Origin{Detected, "EC2 API, DescribeVolumes; " + p.Facts.String()}
			if p.Doubt != "" {
				t.note("%s: %s", p.ID, p.Doubt)
			}
		}
	}
}
