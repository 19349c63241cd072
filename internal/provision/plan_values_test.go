package provision

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Names and places that are taken: each by what has it, and by what is just beside it.
func TestTakenNamesAndPlaces(t *testing.T) {
	md, lvm := records.Want{Using: "md", Label: "L", Mount: "/data"}, records.Want{Using: "lvm", Group: "g", Mount: "/data"}
	with := func(w records.Want, change func(*records.Want)) records.Want { change(&w); return w }
	lv := func(group string) func(*planner) {
		return func(p *planner) { p.tree.Devices["dm-0"] = &block.Device{Name: "dm-0", LV: &block.Vol{VG: group}} }
	}
	labelled := func(label string) func(*planner) {
		return func(p *planner) { p.tree.Devices["sdz"] = &block.Device{Path: "/dev/sdz", Label: label} }
	}
	declared := func(a topology.DeclaredArray) func(*planner) {
		return func(p *planner) { p.decl.Arrays = append(p.decl.Arrays, a) }
	}
	for name, c := range map[string]struct {
		want   records.Want
		change func(*planner)
		files  map[string]string
		vgs    string
		err    string
	}{
		"nothing":             {md, nil, nil, "", ""},
		"a label":             {md, labelled("L"), nil, "", "label L: /dev/sdz already has this label"},
		"another label":       {md, labelled("M"), nil, "", ""},
		"no label":            {with(md, func(w *records.Want) { w.Label = "" }), labelled(""), nil, "", ""},
		"a group":             {lvm, lv("g"), nil, "", "volume group g already exists; choose another volume_group"},
		"another group":       {lvm, lv("h"), nil, "", ""},
		"a group beside md":   {with(md, func(w *records.Want) { w.Group = "g" }), lv("g"), nil, "", ""},
		"an empty group":      {lvm, nil, nil, "g", "volume group g already exists; choose another volume_group"},
		"another empty group": {lvm, nil, nil, "h", ""},
		"md beside it":        {with(md, func(w *records.Want) { w.Group = "g" }), nil, nil, "g", ""},
		"mdadm.conf":          {md, nil, map[string]string{"etc/mdadm.conf": "ARRAY /dev/md/t UUID=1\n"}, "", "mdadm.conf has another array as /dev/md/t"},
		"Debian's":            {md, nil, map[string]string{"etc/mdadm/mdadm.conf": "ARRAY /dev/md/t UUID=1"}, "", "mdadm.conf has another array as /dev/md/t"},
		"another array":       {md, nil, map[string]string{"etc/mdadm.conf": "ARRAY /dev/md/tt UUID=1\n"}, "", ""},
		"no array":            {md, nil, map[string]string{"etc/mdadm.conf": "ARRAY\nDEVICE /dev/md/t\n"}, "", ""},
		"of a group":          {with(lvm, func(w *records.Want) { w.Group = "md" }), nil, map[string]string{"etc/mdadm.conf": "ARRAY /dev/md/t UUID=1\n"}, "", ""},
		"a journal's group":   {lvm, func(p *planner) { p.journals = []*records.Work{{Array: "o", Want: lvm}} }, nil, "", "volume group g belongs to array o"},
		"another of a journal": {lvm, func(p *planner) {
			p.journals = []*records.Work{{Array: "o", Want: with(lvm, func(w *records.Want) { w.Group = "h" })}}
		}, nil, "", ""},
		"a journal's md": {lvm, func(p *planner) {
			p.journals = []*records.Work{{Array: "o", Want: with(md, func(w *records.Want) { w.Group = "g" })}}
		}, nil, "", ""},
		"md beside a journal":  {with(md, func(w *records.Want) { w.Group = "g" }), func(p *planner) { p.journals = []*records.Work{{Array: "o", Want: lvm}} }, nil, "", ""},
		"declared":             {lvm, declared(topology.DeclaredArray{Name: "o", Using: "lvm", VolumeGroup: "g"}), nil, "", "volume group g is also that of array o"},
		"called so":            {lvm, declared(topology.DeclaredArray{Name: "g", Using: "lvm"}), nil, "", "volume group g is also that of array g"},
		"called so, another's": {lvm, declared(topology.DeclaredArray{Name: "g", Using: "lvm", VolumeGroup: "h"}), nil, "", ""},
		"declared, md":         {lvm, declared(topology.DeclaredArray{Name: "o", Using: "md", VolumeGroup: "g"}), nil, "", ""},
		"declared beside md":   {with(md, func(w *records.Want) { w.Group = "g" }), declared(topology.DeclaredArray{Name: "o", Using: "lvm", VolumeGroup: "g"}), nil, "", ""},
		"itself":               {lvm, declared(topology.DeclaredArray{Name: "t", Using: "lvm", VolumeGroup: "g"}), nil, "", ""},
		"mounted":              {md, func(p *planner) { p.tree.Mounts = []block.Mount{{Point: "/data", Source: "s"}} }, nil, "", "mount point /data is in use by s"},
		"among the records": {with(md, func(w *records.Want) { w.Mount = "/state/x" }), func(p *planner) {
			p.Site = &Site{Machine: p.Machine, Root: "/", Journal: "/state/journal"}
		}, nil, "", "mount point /state/x lies in /state, which plimsoll keeps its own records in"},
		"mounted above":      {md, func(p *planner) { p.tree.Mounts = []block.Mount{{Point: "/", Source: "s"}} }, nil, "", ""},
		"in fstab":           {md, nil, map[string]string{"etc/fstab": "UUID=1 /data/ xfs\n"}, "", "mount point /data has a line in /etc/fstab already: UUID=1 /data/ xfs"},
		"in fstab, below":    {md, nil, map[string]string{"etc/fstab": "UUID=1 /data/x xfs\n/data\n"}, "", ""},
		"files":              {md, nil, map[string]string{"data/x": ""}, "", `mount point /data holds "x" and would hide it`},
		"an empty directory": {md, nil, map[string]string{"data": "DIR"}, "", ""},
		"no mount":           {with(md, func(w *records.Want) { w.Mount = "" }), func(p *planner) { p.tree.Mounts = []block.Mount{{Point: "/", Source: "s"}} }, map[string]string{"etc/fstab": "UUID=1 . xfs\n"}, "", ""},
	} {
		files := maps.Clone(c.files)
		delete(files, "data")
		m := machine(nil, files)
		if c.files["data"] == "DIR" {
			m.Root.(fstest.MapFS)["data"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		}
		if c.vgs != "" {
			m.Run = func(_ context.Context, out io.Writer, argv ...string) error {
				if argv[0] != "vgs" {
					return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
				}
				_, err := fmt.Fprintf(out, `{"report":[{"vg":[{"vg_name":%q}]}]}`, c.vgs)
				return err
			}
		}
		p := &planner{Site: site(t, m), tree: &block.Tree{Devices: map[string]*block.Device{}}, decl: &topology.Declaration{}}
		if c.change != nil {
			c.change(p)
		}
		err := p.collisions(t.Context(), workOf(1, 1, c.want))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
	}
}

// The programs that an array needs, each of which is missed by its name.
func TestProgramsThatAreNeeded(t *testing.T) {
	all := []string{"blkid", "wipefs", "mdadm", "pvcreate", "vgcreate", "lvcreate", "sgdisk", "mkfs.xfs", "mkfs.ext4"}
	for name, c := range map[string]struct {
		want records.Want
		need string
	}{
		"one volume":  {records.Want{}, "blkid wipefs"},
		"md":          {records.Want{Using: "md"}, "blkid wipefs mdadm"},
		"LVM":         {records.Want{Using: "lvm"}, "blkid wipefs pvcreate vgcreate lvcreate"},
		"partitioned": {records.Want{Partition: true}, "blkid wipefs sgdisk"},
		"XFS":         {records.Want{FS: "xfs"}, "blkid wipefs mkfs.xfs"},
		"ext4 on md":  {records.Want{Using: "md", FS: "ext4"}, "blkid wipefs mdadm mkfs.ext4"},
	} {
		for _, missing := range append(all, "") {
			m := machine(nil, nil)
			delete(m.Root.(fstest.MapFS), "usr/sbin/"+missing)
			err := (&planner{Site: site(t, m)}).programs(&records.Work{Want: c.want})
			needed := slices.Contains(strings.Fields(c.need), missing)
			if needed != (err != nil) || needed && !strings.HasPrefix(err.Error(), missing+" is not installed: install ") {
				t.Errorf("%s without %s: %v", name, missing, err)
			}
		}
	}
	for _, dir := range []string{"usr/sbin/", "usr/bin/", "sbin/", "bin/", "usr/local/sbin/", "usr/local/bin/", "opt/"} {
		p := &planner{Site: site(t, machine(nil, map[string]string{dir + "x": ""}))}
		if got := p.Installed("x"); got == (dir == "opt/") {
			t.Errorf("%s: %v", dir, got)
		}
	}
}

// Owners by name and by number, from the files of /etc or from elsewhere; a mode in octal.
func TestOwnersByHand(t *testing.T) {
	for name, c := range map[string]struct {
		owner, mode string
		imagined    bool
		want, err   string
	}{
		"nothing":              {"", "", false, "::", ""},
		"a user":               {"postgres", "", false, "104::", ""},
		"and a group":          {"postgres:postgres", "", false, "104:110:", ""},
		"a group alone":        {":postgres", "", false, ":110:", ""},
		"numbers":              {"7:8", "", false, "7:8:", ""},
		"the largest number":   {"4294967295", "", false, "4294967295::", ""},
		"a larger one":         {"4294967296", "", false, "", "owner 4294967296: /etc/passwd knows no 4294967296; create it first, or give its number"},
		"from elsewhere":       {"far", "", false, "900::", ""},
		"of a short line":      {"short", "", false, "", "/etc/passwd knows no short"},
		"no user":              {"nobody-here", "", false, "", "/etc/passwd knows no nobody-here"},
		"no group":             {"postgres:nobody-here", "", false, "", "/etc/group knows no nobody-here"},
		"no user, imagined":    {"nobody-here:nobody-here", "", true, "::", ""},
		"a mode":               {"", "0700", false, "::0700", ""},
		"a short mode":         {"", "5", false, "::0005", ""},
		"the largest mode":     {"", "7777", false, "::7777", ""},
		"a larger one, octal":  {"", "10000", false, "", `mode "10000": want octal, such as 0700`},
		"no octal":             {"", "0800", false, "", `mode "0800": want octal, such as 0700`},
		"a user, and the mode": {"0:0", "0755", false, "0:0:0755", ""},
	} {
		m := machine(nil, map[string]string{"etc/passwd": "root:x:0:0::/:/bin/sh\npostgres:x:104:110::/:/bin/sh\nshort:x\n", "etc/group": "root:x:0:\npostgres:x:110\n"})
		m.Run = func(_ context.Context, out io.Writer, argv ...string) error {
			if argv[0] == "getent" && argv[2] == "far" {
				_, err := io.WriteString(out, "far:x:900:900::/:/bin/sh\n")
				return err
			}
			if argv[0] == "getent" && argv[2] == "short" {
				_, err := io.WriteString(out, "short:x\n")
				return err
			}
			return &sys.Failed{Argv: argv, Code: 2}
		}
		p := &planner{Site: site(t, m), imagined: c.imagined}
		got, err := p.owner(t.Context(), records.Want{Owner: c.owner, Mode: c.mode})
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %v, want %q %q", name, got, err, c.want, c.err)
		}
	}
}

// Volumes by their description: as many as are wanted, by all arrays that are declared with it and have none yet.
func TestVolumesByDescription(t *testing.T) {
	fifty := topology.DeclaredVolume{Size: 50 * units.GiB}
	volumes := func(n int, v topology.DeclaredVolume) []topology.DeclaredVolume {
		return slices.Repeat([]topology.DeclaredVolume{v}, n)
	}
	other := func(n int, v topology.DeclaredVolume) []topology.DeclaredArray {
		return []topology.DeclaredArray{{Name: "b", Volumes: volumes(n, v)}}
	}
	for name, c := range map[string]struct {
		n      int // of this array
		others []topology.DeclaredArray
		taken  string // by array b
		chosen string // before
		want   string
		err    string
	}{
		"all four":                {4, nil, "", "", "S1 S2 S3 S4", ""},
		"three of four":           {3, nil, "", "", "", "3 x 50 GiB: 4 unused volumes match; name those you mean by serial: S1 (/dev/sda, 50 GiB), "},
		"five of four":            {5, nil, "", "", "", "5 x 50 GiB: only 4 unused volumes match"},
		"two, and two more":       {2, other(2, fifty), "", "", "S1 S2", ""},
		"two, and one more":       {2, other(1, fifty), "", "", "", "4 unused volumes match"},
		"two, and others":         {2, other(2, topology.DeclaredVolume{Size: 60 * units.GiB}), "", "", "", "4 unused volumes match"},
		"two, and another model":  {2, other(2, topology.DeclaredVolume{Size: 50 * units.GiB, Model: "M"}), "", "", "", "4 unused volumes match"},
		"two, and named ones":     {2, other(2, topology.DeclaredVolume{Size: 50 * units.GiB, Serial: "S9"}), "", "", "", "4 unused volumes match"},
		"two, and by id":          {2, other(2, topology.DeclaredVolume{Size: 50 * units.GiB, ID: "S9"}), "", "", "", "4 unused volumes match"},
		"two, and by path":        {2, other(2, topology.DeclaredVolume{Size: 50 * units.GiB, Path: "S9"}), "", "", "", "4 unused volumes match"},
		"of one that has its":     {2, other(2, fifty), "S1 S3", "", "S2 S4", ""},
		"beside one that has its": {1, other(2, fifty), "S1 S3", "", "", "2 unused volumes match; name those you mean by serial: S2 (/dev/sdb, 50 GiB), S4"},
		"chosen before":           {2, nil, "", "S2 S4", "S1 S3", ""},
	} {
		p := &planner{Site: site(t, machine(nil, nil)), taken: map[string]string{}, tree: &block.Tree{Devices: map[string]*block.Device{}}}
		for i, dev := range []string{"sda", "sdb", "sdc", "sdd"} {
			p.tree.Devices[dev] = &block.Device{Name: dev, Path: "/dev/" + dev, Serial: fmt.Sprint("S", i+1), Size: 50 * units.GiB, Kind: block.Disk}
		}
		p.decl = &topology.Declaration{Arrays: append(c.others, topology.DeclaredArray{Name: "a", Volumes: volumes(c.n, fifty)})}
		for serial := range strings.FieldsSeq(c.taken) {
			p.taken[serial] = "b"
		}
		var chosen []*block.Device
		for serial := range strings.FieldsSeq(c.chosen) {
			d, err := disk(p.tree, serial)
			if err != nil {
				t.Fatal(err)
			}
			chosen = append(chosen, d)
		}
		found, err := p.any(t.Context(), volumes(c.n, fifty), chosen)
		var got []string
		for _, d := range found {
			got = append(got, d.Serial)
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %v, want %q %q", name, got, err, c.want, c.err)
		}
	}
	p := &planner{tree: &block.Tree{}, decl: &topology.Declaration{}}
	for v, refused := range map[topology.DeclaredVolume]bool{{Type: "gp3"}: true, {Model: "M"}: false, {Size: 1}: false} {
		_, err := p.any(t.Context(), volumes(2, v), nil)
		if err == nil || strings.Contains(err.Error(), "say their size too, or name them by serial; unused volumes: none") != refused {
			t.Errorf("%+v: %v", v, err)
		}
	}
}
