package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
)

// handMade is seed 000's machine after its author's commands, captured, with the files of /etc in a
// directory of the test's own.
func handMade(t *testing.T, programs map[string]string) *Site {
	t.Helper()
	return captured(t, "ec2-4xgp2-raid0", programs)
}

func captured(t *testing.T, machine string, programs map[string]string) *Site {
	t.Helper()
	archive, err := os.ReadFile("../block/testdata/" + machine + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	m := &sys.Machine{Root: block.Captured(archive), Now: sys.Host().Now, Run: func(_ context.Context, out io.Writer, argv ...string) error {
		for prefix, text := range programs {
			if strings.HasPrefix(strings.Join(argv, " "), prefix) {
				_, err := io.WriteString(out, text)
				return err
			}
		}
		return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
	}}
	return &Site{Machine: m, Root: root, Journal: filepath.Join(root, "state", "journal"), UUID: newUUID}
}

var members = []string{"vol0a1b2c3d4e5f60021", "vol0a1b2c3d4e5f60022", "vol0a1b2c3d4e5f60023", "vol0a1b2c3d4e5f60024"}

const uuidOfTheSeed = "8f2c53ac-3d7f-4d4e-9e0a-111111111111"

// An array made by hand is taken into a journal only when every member is named; then its undo is
// the seed's, in the seed's order.
func TestAdopt(t *testing.T) {
	s := handMade(t, map[string]string{"blkid --probe": "TYPE=xfs\nUUID=" + uuidOfTheSeed + "\nLABEL=MY_RAID\n"})
	tree, err := block.Read(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	md := tree.Device("/dev/md0").MD
	fstab := "UUID=0 / ext4 defaults 0 1\nLABEL=MY_RAID /mnt/p_iops_vol0 xfs defaults,nofail 0 2\n"
	conf := "HOMEHOST <system>\nARRAY /dev/md0 metadata=1.2 UUID=" + md.UUID + "\nARRAY /dev/md9 UUID=1:2:3:4\n"
	if err := errors.Join(os.WriteFile(filepath.Join(s.Root, "etc/fstab"), []byte(fstab), 0o600), os.WriteFile(filepath.Join(s.Root, "etc/mdadm.conf"), []byte(conf), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		device  string
		serials []string
		err     string
	}{
		"one too few":  {"/dev/md0", members[:3], "its member /dev/nvme4n1 (serial vol0a1b2c3d4e5f60024) is not named; name every member by --serial: " + strings.Join(members, " ")},
		"none":         {"/dev/md0", nil, "is not named"},
		"one too many": {"/dev/md0", append([]string{"vol0f00d00d00d00d00d"}, members...), "--serial vol0f00d00d00d00d00d is not a member of the array"},
		"no array":     {"/dev/nvme1n1", members, "it is a disk, and only md arrays are adopted"},
		"nothing":      {"/dev/md7", members, "there is no such device"},
	} {
		if _, err := s.Adopt(t.Context(), c.device, c.serials); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
	}
	if _, err := os.Stat(s.Journal); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refusal has written a journal: %v", err)
	}
	w, err := s.Adopt(t.Context(), "/dev/md0", members)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, v := range slices.Backward(w.Steps) {
		for _, line := range w.Commands(v.Undo) {
			got.WriteString(line + "\n")
		}
	}
	want := `umount /mnt/p_iops_vol0
remove from /etc/fstab the line: LABEL=MY_RAID /mnt/p_iops_vol0 xfs defaults,nofail 0 2
remove from /etc/mdadm.conf the line: ARRAY /dev/md0 metadata=1.2 UUID=` + md.UUID + `
wipefs --all --quiet /dev/md0
mdadm --stop /dev/md0
zero the first and last 2 MiB of /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1 /dev/nvme4n1
`
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", got.String(), want)
	}
	// Taking the lines out leaves the others as they were.
	for _, st := range w.Steps {
		for _, a := range st.Undo {
			if a.Cut != nil {
				if err := s.remove(a.Cut); err != nil {
					t.Error(err)
				}
			}
		}
	}
	for file, want := range map[string]string{"etc/fstab": "UUID=0 / ext4 defaults 0 1\n", "etc/mdadm.conf": "HOMEHOST <system>\nARRAY /dev/md9 UUID=1:2:3:4\n"} {
		if data, err := os.ReadFile(filepath.Join(s.Root, file)); err != nil || string(data) != want {
			t.Errorf("%s: %q %v", file, data, err)
		}
	}
}

// The partition tables of an adopted array's members stay: only the partitions are zeroed.
func TestAdoptPartitions(t *testing.T) {
	s := captured(t, "lvm-over-md-over-partitions", nil)
	tree, err := block.Read(s.Machine)
	if err != nil {
		t.Fatal(err)
	}
	var serials []string
	md := tree.Device("/dev/md0")
	for _, leaf := range tree.Leaves(md.Name) {
		serials = append(serials, records.Identity(leaf))
	}
	w := &records.Work{Array: "a", Adopted: md.Path}
	if err := adoptMembers(w, tree, md, serials); err != nil {
		t.Fatal(err)
	}
	(&adoption{state: &state{s, w, tree}, top: md}).array()
	if !w.Want.Partition || len(w.Steps) != 1 {
		t.Fatalf("%+v", w)
	}
	got := w.Commands(w.Steps[0].Undo)
	want := []string{
		"mdadm --stop /dev/md0", "zero the first and last 2 MiB of /dev/nvme0n1p1 /dev/nvme1n1p1 /dev/nvme2n1p1 /dev/nvme3n1p1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
