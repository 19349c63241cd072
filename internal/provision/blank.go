package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// signature is something that wipefs recognises.
type signature struct {
	Type   string
	Offset int64
}

func (s signature) String() string { return fmt.Sprintf("%s at %#x", s.Type, s.Offset) }

// signatures asks wipefs what it would wipe.
func (s *Site) signatures(ctx context.Context, dev string) ([]signature, error) {
	out, err := s.Output(ctx, "wipefs", "--no-act", "--json", dev)
	if err != nil {
		return nil, err
	}
	return parseWipefs(out)
}

// others are the signatures on a member beside apply's own, which lies in the span: a disk that was taken out of its
// array by hand still has the mark beside a partition table that somebody gave it.
func (s *state) others(ctx context.Context, ref string, d *block.Device, mark records.Span) ([]signature, error) {
	found, err := s.signatures(ctx, s.node(d))
	if errors.Is(err, sys.ErrNotFound) {
		return nil, nil
	}
	return slices.DeleteFunc(found, func(sig signature) bool {
		table := s.w.TableGUID(ref) != "" && (sig.Type == "gpt" || sig.Type == "PMBR")
		return table || sig.Offset >= mark.At && sig.Offset < mark.At+mark.N
	}), err
}

// parseWipefs reads "wipefs --json"; nothing at all is printed for a blank device.
func parseWipefs(out string) ([]signature, error) {
	if strings.TrimSpace(out) == "" {
		return nil, nil
	}
	var doc struct {
		Signatures []struct{ Type, Offset string } `json:"signatures"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		return nil, fmt.Errorf("wipefs --json: %w", err)
	}
	var found []signature
	for _, sig := range doc.Signatures {
		one := signature{Type: sig.Type}
		if _, err := fmt.Sscan(sig.Offset, &one.Offset); err != nil || one.Offset < 0 {
			return nil, fmt.Errorf("wipefs --json: offset %.20q: want a number", sig.Offset)
		}
		found = append(found, one)
	}
	return found, nil
}

// errUnseen is in the chain of an error about a device that could not be looked at.
var errUnseen = errors.New("could not be looked at")

// checkBlank returns an error unless a member, "@SERIAL" or its partition "@SERIAL:1", is blank by
// its users, its signatures and its bytes (see firstByte). What an earlier teardown has left
// between the ends counts as blank while it is the same. On a volume that --destroy has named and
// that was erased, bytes between the ends are not looked at.
func (s *state) checkBlank(ctx context.Context, ref string) error {
	serial, _, _ := strings.Cut(strings.TrimPrefix(ref, "@"), ":")
	d, err := s.device(ref)
	if err != nil {
		return err
	}
	refuse := func(why ...string) error {
		return fmt.Errorf("%s (serial %s) is not blank: %s; if what is on it may be lost: %s", d.Path, serial,
			strings.Join(why, "; "), text.Destroying(d.Path, serial))
	}
	why := s.tree.Occupied(d)
	if s.tree.InUse(d) { // which --destroy does not end
		return fmt.Errorf("%s (serial %s) is in use: %s; end that first", d.Path, serial, strings.Join(why, "; "))
	}
	if len(why) > 0 {
		return refuse(why...)
	}
	f, err := s.exclusive(s.tree, d, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	found, err := s.signatures(ctx, s.node(d))
	if err != nil {
		return fmt.Errorf("%s %w: %w", d.Path, errUnseen, err)
	}
	if len(found) > 0 {
		return refuse("it carries " + joined(found))
	}
	erased := slices.ContainsFunc(s.w.Members, func(m records.Member) bool { return m.Serial == serial && m.Destroy })
	at, err := records.FirstByte(ctx, f, int64(d.Size), !erased)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	if ends := int64(records.Edge); at >= ends && at < int64(d.Size)-ends && s.asReleased(ref, f, int64(d.Size)) {
		return nil // what is left of an array that was taken down
	}
	if at >= 0 {
		return refuse(fmt.Sprintf("byte %d is not zero", at))
	}
	return nil
}

// checkAllBlank checks members, all at once, since each is read at the pace of its own volume. What
// was found blank by this very apply, or is a partition that it has made since on such a volume, is
// not read twice.
func (s *state) checkAllBlank(ctx context.Context, refs []string) error {
	s.tree.ReadUsers(os.Getpid())
	var left []string
	for _, ref := range refs {
		if disk := strings.TrimSuffix(ref, ":1"); !s.w.Checked[ref] && !s.w.Checked[disk] {
			left = append(left, ref)
		}
	}
	if s.w.Checked == nil {
		s.w.Checked = map[string]bool{}
	}
	for i, err := range s.blankness(ctx, left) {
		if err != nil {
			return err
		}
		s.w.Checked[left[i]] = true
	}
	return nil
}

// blankness is what checkBlank says of each member.
func (s *state) blankness(ctx context.Context, refs []string) []error {
	errs := make([]error, len(refs))
	var wg sync.WaitGroup
	for i, ref := range refs {
		wg.Go(func() { errs[i] = s.checkBlank(ctx, ref) })
	}
	wg.Wait()
	return errs
}

func joined(found []signature) string {
	var all []string
	for _, f := range found {
		all = append(all, f.String())
	}
	return strings.Join(all, ", ")
}

// node is where a device's node lies below the root.
func (s *Site) node(d *block.Device) string { return s.at(d.Path) }

// exclusive opens a device that nobody else holds: the kernel refuses one that is mounted, swap, or
// part of md, dm, btrfs or a zpool, whatever this plimsoll knows of it. What is open must be the volume
// that was looked at, by what the kernel says of its number now: drives come and go, and take names along.
func (s *Site) exclusive(t *block.Tree, d *block.Device, flags int) (*os.File, error) {
	f, err := os.OpenFile(s.node(d), flags|os.O_EXCL|syscall.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, syscall.EBUSY):
		return nil, fmt.Errorf("%s (serial %s) is in use by the kernel (mounted, swap, or part of an array or "+
			"pool); see: plimsoll inspect --all", d.Path, records.Identity(d))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s %w: %w", d.Path, errUnseen, err)
	case err != nil:
		return nil, err
	}
	if err := s.still(f, t, d); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// still refuses an open device that is another one than that which was looked at.
func (s *Site) still(f *os.File, t *block.Tree, d *block.Device) error {
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeDevice == 0 { // a file, which stands for one in tests
		return err
	}
	now, err := block.Read(s.Machine)
	if err != nil {
		return err
	}
	at := now.Devices[d.Name]
	if at == nil || unix.Mkdev(at.Major, at.Minor) != sys.DeviceNumber(info) || whose(now, at) != whose(t, d) {
		return fmt.Errorf("%s (serial %s) is not the device that was inspected: nothing was touched", d.Path,
			records.Identity(d))
	}
	return nil
}

// whose is what a device is known by: its own array's UUID, or its disk's serial number.
func whose(t *block.Tree, d *block.Device) string {
	if d.MD != nil {
		return d.MD.UUID
	}
	if disk := t.Devices[d.Parent]; disk != nil {
		d = disk
	}
	return records.Identity(d)
}

// unseen says that the machine could not be looked at well enough to know, in contrast to a
// refusal.
func unseen(err error) bool { return errors.Is(err, errUnseen) || errors.Is(err, sys.ErrNotFound) }
