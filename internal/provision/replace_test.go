package provision

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/provision/records"
)

// made is a machine on which plimsoll has made an array of the first n volumes; there are two more.
func made(t *testing.T, n int, yaml string) *Site {
	t.Helper()
	s := site(t, machine(volumes(n+2, 50, 1), nil))
	p, err := plan(t, s, yaml, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Arrays[0]
	w.Started = s.Now()
	for i := range w.Steps {
		w.Steps[i].State = records.StepDone
	}
	if err := os.MkdirAll(s.Journal, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.save(w); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReplaceAMember(t *testing.T) {
	const yaml = "arrays:\n  - {name: a, level: raid1, partition: true, volumes: [{serial: vol0a01}, {serial: vol0a02}], filesystem: {type: ext4, mount: /a}}\n"
	s := made(t, 2, yaml)
	p, err := plan(t, s, strings.Replace(yaml, "vol0a02", "vol0a03", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Arrays[0]
	var got strings.Builder
	for _, st := range w.Steps[w.Replacing.From:] {
		got.WriteString(st.Title + "\n")
		for _, line := range w.Commands(st.Do) {
			if !strings.HasPrefix(line, "sgdisk") {
				got.WriteString("  " + line + "\n")
			}
		}
	}
	const want = `check that /dev/nvme3n1 is blank
  look for signatures, users and non-zero bytes on /dev/nvme3n1
partition it: GPT, one partition from 1 MiB
add it to /dev/md/a
  mdadm /dev/md/a --add /dev/nvme3n1p1
rebuild /dev/md/a onto it; the array may be used meanwhile
  mdadm /dev/md/a --replace /dev/nvme2n1p1 --with /dev/nvme3n1p1
  wait until the members of /dev/md/a agree
take the volume vol0a02 out of it, where it is still attached
  mdadm /dev/md/a --remove /dev/nvme2n1p1
  zero the first and last 2 MiB of /dev/nvme2n1p1
`
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", got.String(), want)
	}
	if p.Steps() != 5 || w.Members[1].Serial != "vol0a03" || !strings.Contains(strings.Join(w.Commands(w.Steps[1].Undo), " "), "/dev/nvme3n1") {
		t.Errorf("%d steps, %+v, %v", p.Steps(), w.Members, w.Commands(w.Steps[1].Undo))
	}
	// Until the rebuild is done, the copies do not agree that an earlier step waited for.
	if last := w.Replacing.From - 1; w.Steps[last].Check[0].Is != "synced" || !w.Rebuilding(last) || w.Rebuilding(w.Replacing.From) {
		t.Errorf("step %d is to hold during the rebuild: %+v", last+1, w.Steps[last])
	}
	// The old volume's table is not the new one's.
	if old := w.TableGUID("@vol0a03"); old == "" || old == p.Arrays[0].TableGUID("@vol0a01") {
		t.Errorf("the table's GUID: %q", old)
	}
}

// What cannot be done is refused, with what would have to be.
func TestGrowAndReplaceRefused(t *testing.T) {
	two := "[{serial: vol0a01}, {serial: vol0a02}]"
	for name, c := range map[string]struct{ level, volumes, err string }{
		"a wider RAID0":         {"raid0", "[{serial: vol0a01}, {serial: vol0a02}, {serial: vol0a03}]", "it has 2 volumes and 3 are declared; plimsoll does not grow or shrink an array: an md stripe cannot be widened without moving all data"},
		"a wider RAID1":         {"raid1", "[{serial: vol0a01}, {serial: vol0a02}, {serial: vol0a03}]", "mdadm --grow --raid-devices"},
		"a wider LVM stripe":    {"raid0, using: lvm", "[{serial: vol0a01}, {serial: vol0a02}, {serial: vol0a03}]", "an LVM stripe keeps its width"},
		"a member of RAID0":     {"raid0", "[{serial: vol0a01}, {serial: vol0a03}]", "volume vol0a03 was vol0a02: a member of raid0 cannot be replaced"},
		"two members at once":   {"raid1", "[{serial: vol0a03}, {serial: vol0a04}]", "2 of its members are different now: replace them one at a time"},
		"one that is not there": {"raid1", "[{serial: vol0a01}, {serial: vol0a99}]", "volume vol0a99 is not attached"},
		"by count":              {"raid1", "2 x 50GiB", "its volumes are declared differently from when it was built"},
		"another chunk, too":    {"raid0, chunk: 64KiB", two, "tear it down first"},
	} {
		t.Run(name, func(t *testing.T) {
			level, _, _ := strings.Cut(c.level, ",")
			if strings.Contains(c.level, "lvm") {
				level = c.level
			}
			s := made(t, 2, "arrays:\n  - {name: a, level: "+level+", volumes: "+two+"}\n")
			_, err := plan(t, s, "arrays:\n  - {name: a, level: "+c.level+", volumes: "+c.volumes+"}\n", nil)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v\nwant %s", err, c.err)
			}
		})
	}
}

// Volumes that were enlarged are noted, with the steps that use it where there are any.
func TestEnlargedVolumes(t *testing.T) {
	for kind, c := range map[string]struct{ array, note, steps string }{
		"md raid0": {"level: raid0", "md's RAID0 never uses it", ""},
		"md raid1, ext4": {
			"level: raid1, filesystem: {type: ext4, mount: /d}", "the steps that use it are shown below",
			"mdadm --grow /dev/md/a --size=max|resize2fs /dev/md/a",
		},
		"lvm, xfs": {
			"level: raid0, using: lvm, filesystem: {mount: /d}", "the steps that use it are shown below",
			"pvresize /dev/nvme1n1 (pvresize --yes --setphysicalvolumesize 53687091200B /dev/nvme1n1)|" +
				"pvresize /dev/nvme2n1 (pvresize --yes --setphysicalvolumesize 53687091200B /dev/nvme2n1)|" +
				"lvextend --extents +100%FREE /dev/a/a|xfs_growfs /d",
		},
		"partitions": {"level: raid1, partition: true", "shown below", "growpart /dev/nvme1n1 1|growpart /dev/nvme2n1 1|mdadm --grow /dev/md/a --size=max"},
	} {
		t.Run(kind, func(t *testing.T) {
			yaml := "arrays:\n  - {name: a, " + c.array + ", volumes: [{serial: vol0a01}, {serial: vol0a02}]}\n"
			s := made(t, 2, yaml)
			s.Machine = machine(volumes(2, 100, 1), nil)
			p, err := plan(t, s, yaml, nil)
			if err != nil || len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "volumes have grown (vol0a01 from 50 GiB to 100 GiB, vol0a02") ||
				!strings.Contains(p.Notes[0], c.note) {
				t.Fatalf("%+v %v", p, err)
			}
			var got []string
			for _, w := range p.Grown {
				for _, st := range w.Steps {
					one := strings.Join(w.Commands(st.Do), "; ")
					if len(st.Undo) > 0 {
						one += " (" + strings.Join(w.Commands(st.Undo), "; ") + ")"
					}
					got = append(got, one)
				}
			}
			if strings.Join(got, "|") != c.steps {
				t.Errorf("%s", strings.Join(got, "|"))
			}
		})
	}
}
