package records

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What --destroy gives up is a member by its serial: without one nothing is.
func TestGivenUpBySerial(t *testing.T) {
	w := &Work{Given: []Obstacle{{Name: "/dev/x"}, {Serial: "S1"}}}
	for serial, want := range map[string]bool{"": false, "S1": true, "S2": false} {
		if w.Gives(serial) != want {
			t.Errorf("%q: %v", serial, !want)
		}
	}
	if (&Work{}).Gives("") {
		t.Error("nothing was given up")
	}
}

// The programs' own words, option by option.
func TestCommandsByHand(t *testing.T) {
	uuid := func() string { return ourUUID }
	last := func(w *Work, with string) string {
		t.Helper()
		for _, st := range w.Steps {
			for _, line := range w.Commands(st.Do) {
				if strings.HasPrefix(line, with) {
					return line
				}
			}
		}
		return ""
	}
	const k = units.KiB
	for name, c := range map[string]struct {
		n    int
		want Want
		with string
		line string
	}{
		"raid0": {
			2,
			Want{Level: "raid0", Using: "md", Data: 2, Chunk: 512 * k},
			"mdadm",
			"mdadm --create /dev/md/t --run --homehost=any --name=t --uuid=0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9 --metadata=1.2 --level=0 --raid-devices=2 --chunk=512K /dev/sda /dev/sdb",
		},
		"raid10 of three, clean": {
			6,
			Want{Level: "raid10", Using: "md", Copies: 3, Data: 2, Chunk: units.MiB, Clean: true},
			"mdadm",
			"mdadm --create /dev/md/t --run --homehost=any --name=t --uuid=0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9 --metadata=1.2 --level=10 --raid-devices=6 --layout=n3 --chunk=1M --assume-clean /dev/sda /dev/sdb /dev/sdc /dev/sdd /dev/sde /dev/sdf",
		},
		"raid1": {
			2,
			Want{Level: "raid1", Using: "md", Copies: 2, Data: 1},
			"mdadm",
			"mdadm --create /dev/md/t --run --homehost=any --name=t --uuid=0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9 --metadata=1.2 --level=1 --raid-devices=2 /dev/sda /dev/sdb",
		},
		"LVM raid0": {
			3,
			Want{Level: "raid0", Using: "lvm", Group: "g", Data: 3, Chunk: 64 * k},
			"lvcreate",
			"lvcreate --yes --quiet --config 'backup/backup=0 backup/archive=0' --wipesignatures y --extents 100%FREE --name t --type striped --stripes 3 --stripesize 64k g",
		},
		"LVM raid10": {
			4,
			Want{Level: "raid10", Using: "lvm", Group: "g", Copies: 2, Data: 2, Chunk: 64 * k, Clean: true},
			"lvcreate",
			"lvcreate --yes --quiet --config 'backup/backup=0 backup/archive=0' --wipesignatures y --extents 100%FREE --name t --type raid10 --mirrors 1 --stripes 2 --stripesize 64k --nosync g",
		},
		"LVM raid1": {
			3,
			Want{Level: "raid1", Using: "lvm", Group: "g", Copies: 3, Data: 1},
			"lvcreate",
			"lvcreate --yes --quiet --config 'backup/backup=0 backup/archive=0' --wipesignatures y --extents 100%FREE --name t --type raid1 --mirrors 2 g",
		},
		"LVM raid6": {
			5,
			Want{Level: "raid6", Using: "lvm", Group: "g", Data: 3, Chunk: 64 * k},
			"lvcreate",
			"lvcreate --yes --quiet --config 'backup/backup=0 backup/archive=0' --wipesignatures y --extents 100%FREE --name t --type raid6 --stripes 3 --stripesize 64k g",
		},
		"LVM single": {
			1,
			Want{Level: "single", Using: "lvm", Group: "g", Data: 1},
			"lvcreate",
			"lvcreate --yes --quiet --config 'backup/backup=0 backup/archive=0' --wipesignatures y --extents 100%FREE --name t --type linear g",
		},
		"LVM segment": {
			2,
			Want{Level: "raid0", Using: "lvm", Group: "g", Segment: "raid0", Data: 2, Chunk: 64 * k},
			"lvcreate",
			"lvcreate --yes --quiet --config 'backup/backup=0 backup/archive=0' --wipesignatures y --extents 100%FREE --name t --type raid0 --stripes 2 --stripesize 64k g",
		},
		"xfs on stripes": {
			4,
			Want{Level: "raid10", Using: "md", Copies: 2, Data: 2, Chunk: 64 * k, FS: "xfs", Label: "L"},
			"mkfs",
			"mkfs.xfs -q -f -m uuid=" + ourUUID + " -d su=64k,sw=2 -l su=32k -L L /dev/md/t",
		},
		"xfs on small stripes": {
			4,
			Want{Level: "raid10", Using: "md", Copies: 2, Data: 2, Chunk: 16 * k, FS: "xfs"},
			"mkfs",
			"mkfs.xfs -q -f -m uuid=" + ourUUID + " -d su=16k,sw=2 -l su=16k /dev/md/t",
		},
		"xfs": {1, Want{Level: "single", Data: 1, FS: "xfs"}, "mkfs", "mkfs.xfs -q -f -m uuid=" + ourUUID + " /dev/sda"},
		"ext4 on stripes": {
			4,
			Want{Level: "raid0", Using: "md", Data: 4, Chunk: 64 * k, FS: "ext4"},
			"mkfs",
			"mkfs.ext4 -q -F -b 4096 -U " + ourUUID + " -E stride=16,stripe_width=64,lazy_itable_init=0,lazy_journal_init=0 /dev/md/t",
		},
		"ext4": {1, Want{Level: "single", Data: 1, FS: "ext4", Partition: true}, "mkfs", "mkfs.ext4 -q -F -b 4096 -U " + ourUUID + " -E lazy_itable_init=0,lazy_journal_init=0 /dev/sda1"},
		"partition for md": {
			1,
			Want{Level: "single", Using: "md", Partition: true},
			"sgdisk",
			"sgdisk --clear --disk-guid=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 --set-alignment=1 --new=1:1MiB:0 --typecode=1:fd00 --change-name=1:t /dev/sda",
		},
		"partition for LVM": {
			1,
			Want{Level: "single", Using: "lvm", Partition: true},
			"sgdisk",
			"sgdisk --clear --disk-guid=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 --set-alignment=1 --new=1:1MiB:0 --typecode=1:8e00 --change-name=1:t /dev/sda",
		},
		"partition": {
			1,
			Want{Level: "single", Partition: true},
			"sgdisk",
			"sgdisk --clear --disk-guid=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 --set-alignment=1 --new=1:1MiB:0 --typecode=1:8300 --change-name=1:t /dev/sda",
		},
	} {
		w := workOf(c.n, 10*units.GiB, c.want)
		switch {
		case c.with == "sgdisk":
			w.Partition(uuid)
		case c.with == "mkfs":
			w.Mkfs(ourUUID)
		case c.want.Using == "lvm":
			w.VolumeGroup()
		default:
			w.Mdadm(ourUUID)
		}
		if got := last(w, c.with); got != c.line {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.line)
		}
	}
}

// The arithmetic that is shown, and what an array holds: that of its smallest member.
func TestArithmeticByHand(t *testing.T) {
	const k = units.KiB
	for want, w := range map[string]*Work{
		"4 volumes, all with data; stripe = 64 KiB x 4 = 256 KiB":                                                                               workOf(4, 1, Want{Level: "raid0", Data: 4, Chunk: 64 * k}),
		"4 volumes / 2 copies = 2 with data; stripe = 64 KiB x 2 = 128 KiB; xfs su=64k,sw=2 (sunit=16, swidth=32 blocks of 4 KiB), log su=32k":  workOf(4, 1, Want{Level: "raid10", Copies: 2, Data: 2, Chunk: 64 * k, FS: "xfs"}),
		"5 volumes - 1 of parity = 4 with data; stripe = 16 KiB x 4 = 64 KiB; ext4 stride = 16 KiB / 4 KiB = 4, stripe_width = 4 x 4 = 16":      workOf(5, 1, Want{Level: "raid5", Data: 4, Chunk: 16 * k, FS: "ext4"}),
		"6 volumes - 2 of parity = 4 with data; stripe = 16 KiB x 4 = 64 KiB; xfs su=16k,sw=4 (sunit=4, swidth=16 blocks of 4 KiB), log su=16k": workOf(6, 1, Want{Level: "raid6", Data: 4, Chunk: 16 * k, FS: "xfs"}),
		"": workOf(2, 1, Want{Level: "raid1", Data: 1}),
	} {
		if got := w.Arithmetic(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	w := workOf(3, 10*units.GiB, Want{Data: 2})
	w.Members[1].Size = 7 * units.GiB
	if w.Size() != 14*units.GiB || w.Least() != 7*units.GiB {
		t.Errorf("%v of %v", w.Size(), w.Least())
	}
	w.Want.Data = 0
	if w.Size() != 7*units.GiB {
		t.Error(w.Size())
	}
}

// The filesystem's own wants: su and sw must be the array's.
func TestWantsOfAFilesystem(t *testing.T) {
	striped := Want{Level: topology.RAID10, Chunk: 64 * units.KiB, Data: 4}
	for name, c := range map[string]struct {
		w    Want
		f    topology.DeclaredFilesystem
		want string // options, or an error
		err  bool
	}{
		"nothing said":       {striped, topology.DeclaredFilesystem{}, "noatime,nofail", false},
		"options":            {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"noatime", "logbufs=8"}}, "noatime,logbufs=8,nofail", false},
		"nofail said":        {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"nofail"}}, "nofail", false},
		"its su and sw":      {striped, topology.DeclaredFilesystem{StripeUnit: 64 * units.KiB, StripeData: 4}, "noatime,nofail", false},
		"another su":         {striped, topology.DeclaredFilesystem{StripeUnit: 32 * units.KiB}, "su=32k,sw=4 does not fit: raid10 with chunk 64 KiB has 4 data members, so su=64k,sw=4", true},
		"another sw":         {striped, topology.DeclaredFilesystem{StripeData: 8}, "su=64k,sw=8 does not fit", true},
		"su of no stripe":    {Want{Level: topology.RAID1}, topology.DeclaredFilesystem{StripeUnit: 1}, "raid1 has no stripe", true},
		"sw of no stripe":    {Want{Level: topology.RAID1}, topology.DeclaredFilesystem{StripeData: 1}, "raid1 has no stripe", true},
		"no stripe":          {Want{Level: topology.RAID1}, topology.DeclaredFilesystem{}, "noatime,nofail", false},
		"discard":            {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"discard"}}, "option discard", true},
		"sunit":              {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"sunit=8"}}, "option sunit=8", true},
		"swidth":             {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"swidth=8"}}, "option swidth=8", true},
		"stripe":             {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"stripe=8"}}, "option stripe=8", true},
		"owner of nothing":   {striped, topology.DeclaredFilesystem{Owner: "a"}, "apply to a mount point, but none is given", true},
		"mode of nothing":    {striped, topology.DeclaredFilesystem{Mode: "0700"}, "apply to a mount point, but none is given", true},
		"options of nothing": {striped, topology.DeclaredFilesystem{Options: []string{"noatime"}}, "apply to a mount point, but none is given", true},
		"owner":              {striped, topology.DeclaredFilesystem{Mount: "/d", Owner: "a:b:c"}, "want user or user:group", true},
		"label":              {striped, topology.DeclaredFilesystem{Label: "a b"}, "label", true},
		"option text":        {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"a b"}}, "option", true},
	} {
		err := c.w.filesystem(&c.f)
		if c.err && (err == nil || !strings.Contains(err.Error(), c.want)) || !c.err && (err != nil || c.w.Options != c.want || c.w.FS != "xfs") {
			t.Errorf("%s: %v %+v, want %q", name, err, c.w, c.want)
		}
	}
	by := striped
	if err := by.filesystem(&topology.DeclaredFilesystem{Type: "ext4", Label: "L", Fstab: "label"}); err != nil || !by.ByLabel || by.FS != "ext4" {
		t.Errorf("%+v %v", by, err)
	}
	none := striped
	if err := none.filesystem(nil); err != nil || none != striped {
		t.Errorf("%+v %v", none, err)
	}
}

// What is left open is filled in, and what cannot be built is refused: level by level.
func TestSettledWants(t *testing.T) {
	volumes := func(n int) []topology.DeclaredVolume {
		all := make([]topology.DeclaredVolume, n)
		for i := range all {
			all[i] = topology.DeclaredVolume{Serial: string(rune('A' + i))}
		}
		return all
	}
	const k = units.KiB
	for name, c := range map[string]struct {
		d    topology.DeclaredArray
		want Want
		err  string
	}{
		"one volume":           {topology.DeclaredArray{Volumes: volumes(1)}, Want{Level: "single", Data: 1, Volumes: "A"}, ""},
		"one volume, LVM":      {topology.DeclaredArray{Volumes: volumes(1), Using: "lvm"}, Want{Level: "single", Data: 1, Using: "lvm", Group: "t", Volumes: "A"}, ""},
		"raid0":                {topology.DeclaredArray{Level: "raid0", Volumes: volumes(3)}, Want{Level: "raid0", Data: 3, Using: "md", Chunk: 512 * k, Volumes: "A, B, C"}, ""},
		"raid0, LVM":           {topology.DeclaredArray{Level: "raid0", Volumes: volumes(3), Using: "lvm", VolumeGroup: "g"}, Want{Level: "raid0", Data: 3, Using: "lvm", Group: "g", Chunk: 64 * k, Volumes: "A, B, C"}, ""},
		"raid0, odd chunk":     {topology.DeclaredArray{Level: "raid0", Chunk: 96 * k, Volumes: volumes(2)}, Want{Level: "raid0", Data: 2, Using: "md", Chunk: 96 * k, Volumes: "A, B"}, ""},
		"raid5, odd chunk":     {topology.DeclaredArray{Level: "raid5", Chunk: 96 * k, Volumes: volumes(3)}, Want{}, "want a power of two"},
		"LVM, odd chunk":       {topology.DeclaredArray{Level: "raid0", Chunk: 96 * k, Volumes: volumes(2), Using: "lvm"}, Want{}, "want a power of two"},
		"raid10":               {topology.DeclaredArray{Level: "raid10", Chunk: 64 * k, Volumes: volumes(4)}, Want{Level: "raid10", Copies: 2, Data: 2, Using: "md", Chunk: 64 * k, Volumes: "A, B, C, D"}, ""},
		"raid10 of three":      {topology.DeclaredArray{Level: "raid10", Copies: 3, Chunk: 64 * k, Volumes: volumes(6)}, Want{Level: "raid10", Copies: 3, Data: 2, Using: "md", Chunk: 64 * k, Volumes: "A, B, C, D, E, F"}, ""},
		"raid10 of odd":        {topology.DeclaredArray{Level: "raid10", Volumes: volumes(5)}, Want{}, "needs a multiple of 2 volumes for whole stripes, but there are 5"},
		"raid10, far":          {topology.DeclaredArray{Level: "raid10", Layout: "f2", Volumes: volumes(4)}, Want{}, "plimsoll builds near copies only"},
		"raid10, near":         {topology.DeclaredArray{Level: "raid10", Layout: "n2", Chunk: 64 * k, Volumes: volumes(4)}, Want{Level: "raid10", Copies: 2, Data: 2, Using: "md", Chunk: 64 * k, Volumes: "A, B, C, D"}, ""},
		"raid1":                {topology.DeclaredArray{Level: "raid1", Volumes: volumes(3)}, Want{Level: "raid1", Copies: 3, Data: 1, Using: "md", Volumes: "A, B, C"}, ""},
		"raid1, two copies":    {topology.DeclaredArray{Level: "raid1", Copies: 2, Volumes: volumes(3)}, Want{}, "3 volumes are 3 copies, not 2"},
		"raid5":                {topology.DeclaredArray{Level: "raid5", Volumes: volumes(4)}, Want{Level: "raid5", Data: 3, Using: "md", Chunk: 512 * k, Volumes: "A, B, C, D"}, ""},
		"raid6":                {topology.DeclaredArray{Level: "raid6", Volumes: volumes(5)}, Want{Level: "raid6", Data: 3, Using: "md", Chunk: 512 * k, Volumes: "A, B, C, D, E"}, ""},
		"raid6, assumed clean": {topology.DeclaredArray{Level: "raid6", AssumeClean: true, Volumes: volumes(5)}, Want{}, "the parity of raid6 would be wrong"},
		"raid5, assumed clean": {topology.DeclaredArray{Level: "raid5", AssumeClean: true, Volumes: volumes(5)}, Want{}, "the parity of raid5 would be wrong"},
		"raid1, assumed clean": {topology.DeclaredArray{Level: "raid1", AssumeClean: true, Volumes: volumes(2)}, Want{Level: "raid1", Copies: 2, Data: 1, Using: "md", Clean: true, Volumes: "A, B"}, ""},
		"no level":             {topology.DeclaredArray{Volumes: volumes(2)}, Want{}, "its level is missing"},
		"linear":               {topology.DeclaredArray{Level: "linear", Volumes: volumes(2)}, Want{}, "plimsoll does not build it"},
		"a segment":            {topology.DeclaredArray{Level: "raid0", Segment: "raid0", Using: "lvm", Volumes: volumes(2)}, Want{Level: "raid0", Data: 2, Using: "lvm", Group: "t", Segment: "raid0", Chunk: 64 * k, Volumes: "A, B"}, ""},
		"a segment elsewhere":  {topology.DeclaredArray{Level: "raid1", Segment: "raid0", Using: "lvm", Volumes: volumes(2)}, Want{}, "segment raid0 goes with level raid0, not raid1"},
		"a group's name":       {topology.DeclaredArray{Level: "raid0", Using: "lvm", VolumeGroup: "a b", Volumes: volumes(2)}, Want{}, "volume_group"},
		"no volumes":           {topology.DeclaredArray{}, Want{}, "the volumes are not specified"},
		"each":                 {topology.DeclaredArray{Each: true, Volumes: volumes(1)}, Want{}, "the volumes are not specified"},
	} {
		c.d.Name = "t"
		got, err := Settle(&c.d)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v %v\nwant %+v", name, got, err, c.want)
		}
	}
	for name, ok := range map[string]bool{"": false, "a": true, strings.Repeat("a", 32): true, strings.Repeat("a", 33): false, "-a": false, "a b": false} {
		if _, err := Settle(&topology.DeclaredArray{Name: name, Volumes: volumes(1)}); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What is given up is named, a member with its serial; what is in the way of nothing is not.
func TestGivenUpByName(t *testing.T) {
	busy, line := Obstacle{What: "in use"}, Obstacle{What: "a line", Name: "/etc/fstab"}
	member, other := Obstacle{What: "a member", Name: "/dev/sda", Serial: "S0"}, Obstacle{What: "another", Name: "/dev/sdb", Serial: "S1"}
	for name, c := range map[string]struct {
		all         []Obstacle
		names       string
		serials     string
		left, given string
		err         string
	}{
		"nothing":                   {nil, "", "", "", "", ""},
		"nothing is given up":       {[]Obstacle{busy, line, member}, "", "", "in use|a line|a member", "", ""},
		"a line":                    {[]Obstacle{busy, line, member}, "/etc/fstab", "", "in use|a member", "a line", ""},
		"a member":                  {[]Obstacle{line, member}, "/dev/sda", "S0", "a line", "a member", ""},
		"a member, no serial":       {[]Obstacle{line, member}, "/dev/sda", "", "", "", "--destroy /dev/sda: its serial number, S0, must be named too"},
		"a member, another serial":  {[]Obstacle{line, member, other}, "/dev/sda", "S1", "", "", "--destroy /dev/sda: its serial number, S0, must be named too"},
		"both members":              {[]Obstacle{member, other}, "/dev/sda /dev/sdb", "S0 S1", "", "a member|another", ""},
		"a serial and no name":      {[]Obstacle{member}, "", "S0", "", "", "is called S0"},
		"a name of nothing":         {[]Obstacle{line}, "/etc/fstab /dev/sdz", "", "", "", "is called /dev/sdz"},
		"a serial of nothing":       {[]Obstacle{member}, "/dev/sda", "S0 S9", "", "", "is called S9"},
		"what is in use by no name": {[]Obstacle{busy}, "", "", "in use", "", ""},
		"a name where nothing is":   {nil, "/etc/fstab", "", "", "", "is called /etc/fstab"},
		"twice in the way":          {[]Obstacle{line, line}, "/etc/fstab", "", "", "a line|a line", ""},
	} {
		left, given, err := GiveUp{strings.Fields(c.names), strings.Fields(c.serials)}.Of(c.all)
		words := func(all []Obstacle) string {
			var what []string
			for _, o := range all {
				what = append(what, o.What)
			}
			return strings.Join(what, "|")
		}
		if words(left) != c.left || words(given) != c.given || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: left %q, given %q, %v; want %q, %q, %q", name, words(left), words(given), err, c.left, c.given, c.err)
		}
	}
	got := (&Obstructed{[]Obstacle{{Array: "t", What: "in use"}, {Array: "t", What: "a line", Name: "/f"}, {Array: "u", What: "a member", Name: "/d", Serial: "S"}}}).Lines()
	if want := []string{"t: in use", "t: a line; if it may be lost: --destroy /f", "u: a member; if it may be lost: --destroy /d --serial S"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestMountPoints: a filesystem is not mounted over the system, also not in a plan for a machine
// that is imagined.
func TestMountPoints(t *testing.T) {
	for mount, want := range map[string]string{
		"/etc":            "/etc is the system's own",
		"/proc":           "/proc is the system's own",
		"/usr/local/data": "/usr is the system's own",
		"/data/../etc":    "want a path without .., such as /etc",
		"/data/..":        "want a path of letters",
		"/":               "want a path of letters",
		"/etcetera":       "",
		"/data/etc":       "",
		"/data/":          "",
		"/data/..wal":     "",
		"/var/lib/pg":     "",
	} {
		var w Want
		err := w.mountAt(mount)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mount, err, want)
		}
	}
}

// Names of partitions, and selectors in one text.
func TestWordsOfCommands(t *testing.T) {
	for disk, want := range map[string]string{"/dev/sda": "/dev/sda1", "/dev/nvme0n1": "/dev/nvme0n1p1", "/dev/x9": "/dev/x9p1", "/dev/x0": "/dev/x0p1"} {
		if partitioned(disk, true) != want || partitioned(disk, false) != disk {
			t.Errorf("%s: %s", disk, partitioned(disk, true))
		}
	}
	if got := selectors([]topology.DeclaredVolume{{Type: "b"}, {Type: "a"}}); got != "a, b" {
		t.Error(got)
	}
}

// Steps of a replaced member are those of the new one: its references, and the GUID of its table.
func TestStepsOfAReplacement(t *testing.T) {
	steps := []Step{{
		Do:    []Action{{Run: []string{"x", "@OLD", "@OLD:1", "@OLD2", "guid"}, If: &Cond{Is: "pv", Of: "@OLD", Want: "guid"}}, {Zero: []string{"@OLD"}, Blank: []string{"@OLD:1"}, Erase: []string{"@OLD"}, Stop: []string{"@OLD"}}},
		Check: []Cond{{Is: "table", Of: "@OLD", Want: "guid"}},
	}}
	got := renamed(steps, "OLD", "NEW", "guid", "other")
	if run := strings.Join(got[0].Do[0].Run, " "); run != "x @NEW @NEW:1 @OLD2 other" || *got[0].Do[0].If != (Cond{Is: "pv", Of: "@NEW", Want: "other"}) {
		t.Errorf("%s %+v", run, got[0].Do[0].If)
	}
	if a := got[0].Do[1]; a.Zero[0] != "@NEW" || a.Blank[0] != "@NEW:1" || a.Erase[0] != "@NEW" || a.Stop[0] != "@NEW" || got[0].Check[0] != (Cond{Is: "table", Of: "@NEW", Want: "other"}) {
		t.Errorf("%+v %+v", a, got[0].Check)
	}
	if steps[0].Do[0].Run[1] != "@OLD" || steps[0].Check[0].Of != "@OLD" {
		t.Error("the array's own steps were changed")
	}
	if got := renamed([]Step{{Check: []Cond{{Is: "x"}}}}, "OLD", "NEW", "", "other"); got[0].Check[0].Want != "" {
		t.Errorf("nothing is no GUID: %+v", got[0].Check)
	}
	// While it is replaced, steps before it are not asked where they look at the new one or at copies.
	w := &Work{Replacing: &Replacement{New: "NEW", From: 3}, Steps: []Step{
		{Check: []Cond{{Is: "synced"}}}, {Check: []Cond{{Is: "partition", Of: "@NEW:1"}}}, {Check: []Cond{{Is: "path", Of: "@NEW2"}}}, {Check: []Cond{{Is: "synced"}}},
	}}
	for i, want := range []bool{true, true, false, false} {
		if w.Rebuilding(i) != want {
			t.Errorf("step %d: %v", i, !want)
		}
	}
	if (&Work{Steps: w.Steps}).Rebuilding(0) {
		t.Error("nothing is replaced")
	}
}

// member makes a work of so many members of a size.
func workOf(n int, size units.Bytes, want Want) *Work {
	w := &Work{Array: "t", Want: want}
	for i := range n {
		w.Members = append(w.Members, Member{Serial: "S" + string(rune('0'+i)), Size: size, Path: "/dev/sd" + string(rune('a'+i))})
	}
	return w
}
