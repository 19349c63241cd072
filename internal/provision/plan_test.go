package provision

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

var update = flag.Bool("update", false, "write golden files")

// drive is one of a machine that a test makes up.
type drive struct {
	name, serial, model string
	gib                 int
	rotational, sig     string
	label               string
}

const ebs = "Amazon Elastic Block Store"

func volumes(n, gib, from int) []drive {
	var all []drive
	for i := range n {
		all = append(all, drive{name: fmt.Sprintf("nvme%dn1", from+i), serial: fmt.Sprintf("vol0a%02d", from+i), model: ebs, gib: gib})
	}
	return all
}

// machine is a tree like that of a Debian host with these drives and all programs installed, and
// nothing to run them.
func machine(drives []drive, more map[string]string) *sys.Machine {
	m := fstest.MapFS{}
	put := func(name, text string) { m[name] = &fstest.MapFile{Data: []byte(text)} }
	for i, d := range drives {
		dir := "sys/class/block/" + d.name + "/"
		put(dir+"dev", fmt.Sprintf("259:%d\n", i))
		put(dir+"size", fmt.Sprintf("%d\n", d.gib<<21))
		put(dir+"device/serial", d.serial+"\n")
		put(dir+"device/model", d.model+"\n")
		put(dir+"queue/logical_block_size", "512\n")
		put(dir+"queue/rotational", d.rotational+"\n")
		udev := "S:disk/by-id/nvme-" + d.serial + "\n"
		if d.sig != "" {
			udev += "E:ID_FS_TYPE=" + d.sig + "\n"
		}
		if d.label != "" {
			udev += "E:ID_FS_LABEL=" + d.label + "\n"
		}
		put(fmt.Sprintf("run/udev/data/b259:%d", i), udev)
	}
	for _, p := range []string{"blkid", "wipefs", "mdadm", "pvcreate", "vgcreate", "lvcreate", "sgdisk", "mkfs.xfs", "mkfs.ext4", "update-initramfs"} {
		put("usr/sbin/"+p, "")
	}
	put("proc/self/mountinfo", "1 1 0:1 / / rw - ext4 /dev/root rw\n")
	put("etc/passwd", "root:x:0:0::/:/bin/sh\npostgres:x:104:110::/:/bin/sh\n")
	put("etc/group", "root:x:0:\npostgres:x:110:\n")
	put("etc/mdadm/mdadm.conf", "HOMEHOST <system>\n")
	put("etc/fstab", "UUID=0 / ext4 defaults 0 1\n")
	for name, text := range more {
		put(name, text)
	}
	return &sys.Machine{
		Root: m,
		Run: func(_ context.Context, _ io.Writer, argv ...string) error {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		},
		Now: func() time.Time { return time.Unix(1795000000, 0) },
	}
}

func site(t *testing.T, m *sys.Machine) *Site {
	t.Helper()
	n := 0
	return &Site{Machine: m, Root: t.TempDir(), Journal: filepath.Join(t.TempDir(), "journal"), UUID: func() string {
		n++
		return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n)
	}}
}

func plan(t *testing.T, s *Site, yaml string, destroy map[string]string) (*Plan, error) {
	t.Helper()
	d, err := topology.LoadDeclaration("plimsoll.yaml", []byte(yaml))
	if err != nil {
		return nil, err
	}
	return s.Plan(t.Context(), d, destroy)
}

const guide = `
arrays:
  - name: data
    role: data
    level: raid10
    chunk: 64KiB
    volumes: 8 x gp3 50GiB
    filesystem: {type: xfs, label: DATA, mount: /data, options: [noatime], owner: "postgres:postgres", mode: "0700"}
  - name: wal
    role: wal
    level: raid10
    chunk: 256KiB
    assume_clean: true
    volumes: 8 x gp3 30GiB
    filesystem: {type: xfs, label: WAL, mount: /wal}
`

// The golden files were read line by line when they were written.
func TestPlans(t *testing.T) {
	p4510 := func() []drive {
		all := volumes(8, 3726, 0)
		for i := range all {
			all[i].model, all[i].serial = "INTEL SSDPE2KX040T8", fmt.Sprintf("PHLJ%d", i)
		}
		return all
	}
	for name, c := range map[string]struct {
		drives  []drive
		yaml    string
		destroy map[string]string
	}{
		"guide": {append(volumes(8, 50, 1), volumes(8, 30, 9)...), guide, nil},
		"raid0-4xgp2": {volumes(4, 3000, 1), `
arrays:
  - {name: my_raid, level: raid0, chunk: 64KiB, volumes: 4 x gp2 3000GiB, filesystem: {type: xfs, label: MY_RAID, mount: /mnt/p_iops_vol0, owner: "0", fstab: label}}
`, nil},
		"partitions-and-lvm": {p4510(), `
arrays:
  - {name: t0, role: data, level: raid0, chunk: 64KiB, partition: true, volumes: [{serial: PHLJ0}, {serial: PHLJ2}, {serial: PHLJ4}, {serial: PHLJ6}], filesystem: {type: xfs, mount: /opt/fio/t0, su: 64k, sw: 4}}
  - {name: t1, role: wal, level: raid0, using: lvm, segment: raid0, volume_group: pool, chunk: 128KiB, volumes: [{serial: PHLJ1}, {serial: PHLJ3}, {serial: PHLJ5}, {serial: PHLJ7}], filesystem: {type: ext4, mount: /opt/fio/t1}}
`, nil},
		"destroy": {append([]drive{{name: "nvme1n1", serial: "S1", gib: 100, sig: "linux_raid_member"}}, drive{name: "nvme2n1", serial: "S2", gib: 100}), `
arrays:
  - {name: a, level: raid1, volumes: [{serial: S1}, {serial: S2}], filesystem: {type: ext4, mount: /a}}
`, map[string]string{"/dev/nvme1n1": "S1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan(t, site(t, machine(c.drives, nil)), c.yaml, c.destroy)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, w := range p.Arrays {
				fmt.Fprintf(&b, "%s %v %s\n", w.Array, w.Size(), w.Arithmetic())
				for i, st := range w.Steps {
					fmt.Fprintf(&b, "%d %s\n", i+1, st.Title)
					for _, line := range w.Commands(st.Do) {
						fmt.Fprintf(&b, "  + %s\n", line)
					}
					for _, line := range w.Commands(st.Undo) {
						fmt.Fprintf(&b, "  - %s\n", line)
					}
				}
			}
			file := filepath.Join("testdata", name+".plan")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != b.String() {
				t.Errorf("%s: %v\n%s", file, err, b.String())
			}
		})
	}
}

// Every refusal says what is wrong and what to do; the machine beside it, without the mistake, is
// planned.
func TestRefusals(t *testing.T) {
	four := volumes(4, 50, 1)
	array := func(level, more, volumes string) string {
		return fmt.Sprintf("arrays:\n  - {name: data, level: %s, %svolumes: %s}\n", level, more, volumes)
	}
	serials := "[{serial: vol0a01}, {serial: vol0a02}, {serial: vol0a03}, {serial: vol0a04}]"
	with := func(d []drive, change func([]drive)) []drive {
		d = append([]drive{}, d...)
		change(d)
		return d
	}
	fs := func(s string) string { return "filesystem: {" + s + "}, " }
	for name, c := range map[string]struct {
		drives []drive
		more   map[string]string
		yaml   string
		err    string // "" for the near miss
	}{
		"healthy":        {four, nil, array("raid0", fs("mount: /data"), serials), ""},
		"a bare name":    {four, nil, array("raid0", "", "[{path: /dev/nvme1n1}, {serial: vol0a02}]"), "kernel names change between boots; name it by serial, id or /dev/disk/by-id: today it is {serial: vol0a01}"},
		"by-id":          {four, nil, array("raid0", "", "[{path: /dev/disk/by-id/nvme-vol0a01}, {serial: vol0a02}]"), ""},
		"EBS id":         {four, nil, array("raid0", "", "[{id: vol-0a01}, {serial: vol0a02}]"), ""},
		"twice":          {four, nil, array("raid0", "", "[{path: /dev/disk/by-id/nvme-vol0a01}, {serial: vol0a01}]"), "/dev/nvme1n1 (serial vol0a01) is named twice"},
		"gone":           {four, nil, array("raid0", "", "[{serial: vol0a01}, {serial: vol0a99}]"), "volume vol0a99 is not attached; attach it, or correct the file by: plimsoll inspect --all"},
		"three gone":     {four, nil, array("raid0", "", "[{serial: vol0a01}, {serial: vol0a97}, {id: vol-0a98}, {path: /dev/disk/by-id/x}]"), "3 of 4 volumes are missing: each of vol0a97, vol-0a98, /dev/disk/by-id/x is not attached; attach them"},
		"too many alike": {volumes(6, 3000, 1), nil, array("raid0", "", "4 x gp2 3000GiB"), "6 unused volumes match; name those you mean by serial: vol0a01 (/dev/nvme1n1, 2.93 TiB)"},
		"too few":        {four, nil, array("raid0", "", "5 x 50 GiB"), "only 4 unused volumes match; see: plimsoll inspect --all"},
		"too few blank":  {with(four, func(d []drive) { d[1].sig = "LVM2_member" }), nil, array("raid0", "", "4 x 50 GiB"), "only 3 unused volumes match; not blank: /dev/nvme2n1 (serial vol0a02): it carries LVM2_member"},
		"no size":        {four, nil, array("raid0", "", "4 x gp3"), "say their size too, or name them by serial"},
		"no count":       {four, nil, array("raid0", "", "gp3 50GiB"), "the volumes are not specified"},
		"mixed sizes":    {with(four, func(d []drive) { d[2].gib = 60 }), nil, array("raid0", "", serials), "mixed sizes: vol0a01 has 50 GiB, vol0a03 has 60 GiB"},
		"1 % is alike":   {with(volumes(4, 1000, 1), func(d []drive) { d[2].gib = 1005 }), nil, array("raid0", "", serials), ""},
		"mixed drives":   {with(four, func(d []drive) { d[1].rotational = "1" }), nil, array("raid0", "", serials), "is rotational"},
		"mixed speeds":   {four, nil, array("raid0", "", "[{serial: vol0a01, iops: 3000}, {serial: vol0a02, iops: 4000}]"), "mixed speeds"},
		"wrong size":     {four, nil, array("raid0", "", "[{serial: vol0a01, size: 100 GiB}, {serial: vol0a02, size: 100 GiB}]"), "volume vol0a01 is declared with 100 GiB and has 50 GiB"},
		"two serials":    {with(four, func(d []drive) { d[3].serial = "vol0a01" }), nil, array("raid0", "", "[{serial: vol0a01}, {serial: vol0a02}]"), "have it"},
		"not blank":      {with(four, func(d []drive) { d[1].sig, d[1].label = "xfs", "OLD" }), nil, array("raid0", "", serials), `/dev/nvme2n1 (serial vol0a02) is not blank: it carries xfs labelled "OLD"; if what is on it may be lost: --destroy /dev/nvme2n1 --serial vol0a02`},
		"sw of 8 drives": {four, nil, array("raid0", "chunk: 64 KiB, "+fs("mount: /data, su: 64k, sw: 8"), serials), "su=64k,sw=8 does not fit: raid0 with chunk 64 KiB has 4 data members, so su=64k,sw=4"},
		"su not chunk":   {four, nil, array("raid0", "chunk: 64 KiB, "+fs("mount: /data, su: 128k"), serials), "su=128k,sw=4 does not fit"},
		"label taken":    {append(volumes(4, 50, 1), drive{name: "nvme9n1", serial: "x", gib: 1, sig: "xfs", label: "DATA"}), nil, array("raid0", fs("mount: /data, label: DATA"), serials), "label DATA: /dev/nvme9n1 already has this label"},
		"mounted":        {four, map[string]string{"proc/self/mountinfo": "1 1 0:1 / / rw - ext4 /dev/root rw\n2 1 0:5 / /data rw - tmpfs none rw\n"}, array("raid0", fs("mount: /data"), serials), "mount point /data is in use by none"},
		"in fstab":       {four, map[string]string{"etc/fstab": "LABEL=x /data xfs defaults 0 0\n"}, array("raid0", fs("mount: /data"), serials), "mount point /data has a line in /etc/fstab already: LABEL=x /data"},
		"commented":      {four, map[string]string{"etc/fstab": "# LABEL=x /data xfs defaults 0 0\n"}, array("raid0", fs("mount: /data"), serials), ""},
		"files below":    {four, map[string]string{"data/PG_VERSION": "17"}, array("raid0", fs("mount: /data"), serials), `mount point /data holds "PG_VERSION" and would hide it`},
		"named in conf":  {four, map[string]string{"etc/mdadm/mdadm.conf": "ARRAY /dev/md/data UUID=1\n"}, array("raid0", "", serials), "mdadm.conf has another array as /dev/md/data"},
		"no such user":   {four, nil, array("raid0", fs("mount: /data, owner: oracle"), serials), "knows no oracle; create it first, or give its number"},
		"discard":        {four, nil, array("raid0", fs("mount: /data, options: [discard]"), serials), "enable fstrim.timer"},
		"hostile mount":  {four, nil, array("raid0", fs(`mount: "/data x"`), serials), "want a path of letters"},
		"hostile label":  {four, nil, array("raid0", fs(`label: "@array"`), serials), "label \"@array\""},
		"odd raid10":     {four, nil, array("raid10", "", "[{serial: vol0a01}, {serial: vol0a02}, {serial: vol0a03}]"), "needs a multiple of 2 volumes"},
		"clean raid5":    {four, nil, array("raid5", "assume_clean: true, ", serials), "the parity of raid5 would be wrong"},
		"linear":         {four, nil, array("linear", "", serials), "plimsoll does not build it"},
		"small":          {with(four, func(d []drive) { d[0].gib = 0 }), nil, array("single", fs("mount: /data"), "[{serial: vol0a01}]"), "too small for XFS"},
		"two arrays": {four, nil, "arrays:\n  - {name: a, role: data, level: raid0, volumes: [{serial: vol0a01}, {serial: vol0a02}]}\n" +
			"  - {name: b, role: wal, level: raid0, volumes: [{serial: vol0a03}, {path: /dev/disk/by-id/nvme-vol0a02}]}\n", "/dev/nvme2n1 (serial vol0a02) is also in array a"},
		"by size beside serials": {volumes(6, 50, 1), nil, "arrays:\n  - {name: a, role: data, level: raid0, volumes: [{serial: vol0a01}, {serial: vol0a02}]}\n" +
			"  - {name: b, role: wal, level: raid0, volumes: 2 x 50GiB}\n  - {name: c, level: raid0, volumes: 2 x 50GiB}\n", ""},
		"by size, one too many": {volumes(5, 50, 1), nil, "arrays:\n  - {name: b, role: wal, level: raid0, volumes: 2 x 50GiB}\n" +
			"  - {name: c, level: raid0, volumes: 2 x 50 GiB}\n", "5 unused volumes match"},
		"mdadm missing": {four, map[string]string{"usr/sbin/mdadm": "-"}, array("raid0", "", serials), "mdadm is not installed: install mdadm"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(c.drives, c.more)
			if c.more["usr/sbin/mdadm"] == "-" {
				delete(m.Root.(fstest.MapFS), "usr/sbin/mdadm")
			}
			_, err := plan(t, site(t, m), c.yaml, nil)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%v\nwant %s", err, c.err)
			}
		})
	}
}

// A disk that somebody uses is named with its user, and --destroy, which would refuse it, is not suggested: whether
// it is named itself or is one of those of its size. One that only carries something may be given up.
func TestUsersAreNamed(t *testing.T) {
	const (
		at    = "sys/class/block/"
		root  = "1 1 0:1 / / rw - ext4 /dev/root rw\n"
		alike = "arrays:\n  - {name: data, level: raid0, volumes: 2 x 50 GiB}\n"
		named = "arrays:\n  - {name: data, level: raid0, volumes: [{serial: vol0a01}, {serial: vol0a02}]}\n"
	)
	for name, c := range map[string]struct {
		sig     string
		more    map[string]string
		why     string
		destroy bool
	}{
		"mounted": {"xfs", map[string]string{"proc/self/mountinfo": root + "2 1 259:1 / /srv rw - xfs /dev/nvme2n1 rw\n"}, "it is mounted on /srv", false},
		"a partition of it": {"", map[string]string{
			"proc/self/mountinfo": root + "2 1 259:9 / /srv rw - xfs /dev/nvme2n1p1 rw\n", at + "nvme2n1/nvme2n1p1/partition": "1\n",
			at + "nvme2n1p1/dev": "259:9\n", at + "nvme2n1p1/partition": "1\n",
		}, "its partition /dev/nvme2n1p1: it is mounted on /srv", false},
		"swap":              {"swap", map[string]string{"proc/swaps": "Filename Type Size Used Priority\n/dev/nvme2n1 partition 1 0 -2\n"}, "it is used as swap", false},
		"member of md":      {"linux_raid_member", map[string]string{at + "nvme2n1/holders/md0": "", at + "md0/dev": "9:0\n", at + "md0/md/level": "raid1\n"}, "/dev/md0 is made of it", false},
		"carries something": {"xfs", nil, "it carries xfs", true},
	} {
		t.Run(name, func(t *testing.T) {
			drives := volumes(2, 50, 1)
			drives[1].sig = c.sig
			state, offer := "in use: ", ""
			if c.destroy {
				state, offer = "not blank: ", "; if what is on one may be lost: --destroy DEV --serial S"
			}
			_, err := plan(t, site(t, machine(drives, c.more)), alike, nil)
			want := "only 1 unused volume matches; " + state + "/dev/nvme2n1 (serial vol0a02): " + c.why + offer
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
			want = "/dev/nvme2n1 (serial vol0a02) is " + state + c.why + "; end that first"
			if c.destroy {
				want = "/dev/nvme2n1 (serial vol0a02) is " + state + c.why + "; if what is on it may be lost: --destroy /dev/nvme2n1 --serial vol0a02"
			}
			_, err = plan(t, site(t, machine(drives, c.more)), named, nil)
			if err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

// A volume that apply refused after it had begun can be given up by the next apply: nothing binds
// it to the first plan.
func TestRefusedAndGivenUp(t *testing.T) {
	s := site(t, machine([]drive{{name: "nvme1n1", serial: "S1", gib: 100}, {name: "nvme2n1", serial: "S2", gib: 100}}, nil))
	yaml := "arrays:\n  - {name: a, level: raid1, volumes: [{serial: S1}, {serial: S2}]}\n"
	first, err := plan(t, s, yaml, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := first.Arrays[0]
	w.Started, w.Steps[0].State = s.Now(), records.StepBegun
	if err := errors.Join(os.MkdirAll(s.Journal, 0o755), s.save(w)); err != nil {
		t.Fatal(err)
	}
	second, err := plan(t, s, yaml, map[string]string{"/dev/nvme1n1": "S1"})
	if err != nil || !second.Arrays[0].Members[0].Destroy || !strings.HasPrefix(second.Arrays[0].Steps[0].Title, "erase") || !second.Arrays[0].Started.Equal(w.Started) {
		t.Fatalf("%+v %v", second, err)
	}
	// Once something is written, the journal's plan is kept.
	w.Steps[0].State, w.Steps[1].State = records.StepDone, records.StepBegun
	if err := s.save(w); err != nil {
		t.Fatal(err)
	}
	if third, err := plan(t, s, yaml, nil); err != nil || third.Steps() != len(w.Steps)-1 {
		t.Fatalf("%+v %v", third, err)
	}
}

func TestDestroyNeedsBothNames(t *testing.T) {
	old := []drive{{name: "nvme1n1", serial: "S1", gib: 100, sig: "xfs"}, {name: "nvme2n1", serial: "S2", gib: 100}, {name: "nvme3n1", serial: "S3", gib: 100, sig: "xfs"}}
	yaml := "arrays:\n  - {name: a, level: raid1, volumes: [{serial: S1}, {serial: S2}]}\n"
	if p, err := plan(t, site(t, machine(old[:2], nil)), "arrays:\n  - {name: a, level: raid1, volumes: 2 x 100GiB}\n", map[string]string{"/dev/nvme1n1": "S1"}); err != nil || !p.Arrays[0].Members[0].Destroy {
		t.Errorf("by size: %v", err)
	}
	for _, c := range []struct {
		destroy map[string]string
		more    map[string]string
		err     string
	}{
		{map[string]string{"/dev/nvme1n1": "S1"}, nil, ""},
		{map[string]string{"/dev/nvme1n1": "S2"}, nil, "its serial is S1; nothing was touched"},
		{map[string]string{"/dev/nvme1n1": ""}, nil, "its serial is S1"},
		{map[string]string{"/dev/nvme3n1": "S3"}, nil, "is not blank"},
		{map[string]string{"/dev/nvme1n1": "S1", "/dev/nvme3n1": "S3"}, nil, "--destroy /dev/nvme3n1: it is not a member of any array"},
		{map[string]string{"/dev/nvme9n1": "S1"}, nil, "there is no such device"},
		{map[string]string{"/dev/nvme1n1": "S1"}, map[string]string{"proc/self/mountinfo": "2 1 259:0 / /old rw - xfs /dev/nvme1n1 rw\n"}, "is mounted on /old; unmount it first"},
	} {
		_, err := plan(t, site(t, machine(old, c.more)), yaml, c.destroy)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %v\nwant %s", c.destroy, err, c.err)
		}
	}
}
