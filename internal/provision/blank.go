package provision

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"plimsoll/internal/block"
	"plimsoll/internal/units"
)

// edge is how much at each end of a volume must be zero: signatures, partition tables and superblocks lie there.
const edge = units.MiB

// occupied are the reasons why a device is not blank, as far as the tree shows them.
func occupied(t *block.Tree, d *block.Device) []string {
	var why []string
	say := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	for _, m := range t.MountsOf(d.Name) {
		say("it is mounted on %s", m.Point)
	}
	if slices.Contains(t.Swaps, d.Name) {
		say("it is used as swap")
	}
	for _, h := range d.Holders {
		name := h
		if up := t.Devices[h]; up != nil {
			name = up.Path
		}
		say("%s is made of it", name)
	}
	for _, p := range d.Partitions {
		if part := t.Devices[p]; part != nil {
			if inner := occupied(t, part); len(inner) > 0 {
				say("its partition %s: %s", part.Path, strings.Join(inner, ", "))
				continue
			}
		}
		say("it has the partition %s", p)
	}
	// udev gives a partition the type of the table that it is in.
	table := d.Kind == block.Partition && (d.Signature == "gpt" || d.Signature == "dos")
	if d.Signature != "" && d.Signature != "?" && len(why) == 0 && !table {
		say("it carries %s%s", d.Signature, labelled(d))
	}
	if d.ReadOnly {
		say("it is read-only")
	}
	return why
}

func labelled(d *block.Device) string {
	if d.Label == "" {
		return ""
	}
	return fmt.Sprintf(" labelled %.40q", d.Label)
}

// signatures asks wipefs what it would wipe.
func (s *Site) signatures(ctx context.Context, dev string) ([]string, error) {
	out, err := s.Output(ctx, "wipefs", "--no-act", "--json", dev)
	if err != nil {
		return nil, err
	}
	return parseWipefs(out)
}

// parseWipefs reads "wipefs --json"; nothing at all is printed for a blank device.
func parseWipefs(out string) ([]string, error) {
	if strings.TrimSpace(out) == "" {
		return nil, nil
	}
	var doc struct {
		Signatures []struct{ Type, Offset, Label string } `json:"signatures"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		return nil, fmt.Errorf("wipefs --json: %w", err)
	}
	var found []string
	for _, sig := range doc.Signatures {
		found = append(found, fmt.Sprintf("%s at %s", sig.Type, sig.Offset))
	}
	return found, nil
}

// prove returns an error unless a volume is blank: nobody uses it, nothing is recognised on it, and both its ends are zero.
func (s *state) prove(ctx context.Context, serial string) error {
	d, err := disk(s.tree, serial)
	if err != nil {
		return err
	}
	refuse := func(why ...string) error {
		return fmt.Errorf("%s (serial %s) is not blank: %s; if what is on it may be lost: --destroy %[1]s --serial %[2]s", d.Path, serial, strings.Join(why, "; "))
	}
	if why := occupied(s.tree, d); len(why) > 0 {
		return refuse(why...)
	}
	f, err := exclusive(d, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	found, err := s.signatures(ctx, d.Path)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return refuse("it carries " + strings.Join(found, ", "))
	}
	for _, at := range ends(d.Size) {
		buf := make([]byte, min(edge, d.Size))
		if _, err := f.ReadAt(buf, at); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		if i := bytes.IndexFunc(buf, func(r rune) bool { return r != 0 }); i >= 0 {
			return refuse(fmt.Sprintf("byte %d is not zero", at+int64(i)))
		}
	}
	return nil
}

func ends(size units.Bytes) []int64 {
	return []int64{0, int64(max(size, edge) - edge)}
}

// exclusive opens a device that nobody else holds: the kernel refuses one that is mounted, swap, or part of md or dm.
func exclusive(d *block.Device, flags int) (*os.File, error) {
	f, err := os.OpenFile(d.Path, flags|os.O_EXCL, 0)
	if errors.Is(err, syscall.EBUSY) {
		return nil, fmt.Errorf("%s (serial %s) is in use; see: plimsoll inspect %[1]s", d.Path, identity(d))
	}
	return f, err
}

// zero zeroes both ends of a volume that carries nothing any more. What came onto it since is not ours to take.
func (s *state) zero(ctx context.Context, serial string) error {
	d, err := disk(s.tree, serial)
	if err != nil {
		return err
	}
	f, err := exclusive(d, os.O_RDWR)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // closed below unless something failed
	found, err := s.signatures(ctx, d.Path)
	if err != nil {
		return err
	}
	if why := append(occupied(s.tree, d), found...); len(found) > 0 {
		return fmt.Errorf("%s (serial %s) is not as plimsoll left it: %s; it stays as it is", d.Path, serial, strings.Join(why, "; "))
	}
	for _, at := range ends(d.Size) {
		if _, err := f.WriteAt(make([]byte, min(edge, d.Size)), at); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	return nil
}
