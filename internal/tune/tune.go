// Package tune makes the settings that the rules on the host advise, remembers what was there
// before, and puts it back.
//
// What it changes is recorded, with the old values, before the first value is written, so that
// whatever ends plimsoll in between, a revert finds everything. Settings of block devices are
// recorded by serial number or UUID, for names change between boots.
package tune

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/finding"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Tuner is the machine that is tuned.
type Tuner struct {
	*sys.Machine
	// Root is "/": files of /etc are below it. A test gives a directory of its own.
	Root string
	// State is the file that remembers the changes.
	State string
}

// Here is the machine that plimsoll runs on.
func Here(m *sys.Machine) *Tuner { return &Tuner{m, "/", "/var/lib/plimsoll/tune.json"} }

// Group is a kind of settings.
type Group string

// The groups.
const (
	Queues Group = "queues" // of block devices
	CPU    Group = "cpu"    // idle states and governor
	Memory Group = "memory" // vm.*
)

// settable are the settings of each group: nothing else is ever written. What could lose data, such as
// write_cache, or open the machine, such as vm.mmap_min_addr, is not among them.
var settable = map[Group]*regexp.Regexp{
	Queues: regexp.MustCompile(`^/sys/block/[\w!.:-]+/queue/(scheduler|read_ahead_kb|nr_requests|max_sectors_kb|` +
		`rotational|nomerges|rq_affinity|wbt_lat_usec|add_random|iostats|io_poll)$`),
	CPU: regexp.MustCompile(`^/sys/devices/system/cpu/cpu(\d+|\*)/` +
		`(cpufreq/scaling_governor|cpuidle/state\d+/disable)$`),
	Memory: regexp.MustCompile(`^/proc/sys/vm/(dirty_(background_)?(bytes|ratio)|dirty_(expire|writeback)_centisecs|` +
		`swappiness|vfs_cache_pressure|zone_reclaim_mode)$`),
}

func groupOf(file string) (Group, bool) {
	for g, files := range settable {
		if files.MatchString(file) && path.Clean(file) == file {
			return g, true
		}
	}
	return "", false
}

// check refuses a setting that is none of tune's. A value stands in udev rules and in a unit as it is.
func check(s finding.Setting) (Group, error) {
	g, ok := groupOf(s.File)
	switch {
	case !ok:
		return g, fmt.Errorf("%.100q is none of the files that tune sets", s.File)
	case !plain.MatchString(s.Value):
		return g, fmt.Errorf("%s: %.100q is not a value of a setting", s.File, s.Value)
	}
	return g, nil
}

// Change is one file that is set, and how it is put back.
type Change struct {
	finding.Setting              // as advised; File may be a pattern
	Code            finding.Code `json:"code"`
	At              string       `json:"at"` // the file itself
	Old             string       `json:"old"`
	// Device is what a file below /sys/block belongs to; empty for others.
	Device identity `json:"device,omitzero"`
	// Back is another file by which the old state comes back: the kernel takes no 0 for
	// vm.dirty_bytes, but the ratio sets it to 0.
	Back *finding.Setting `json:"back,omitempty"`
}

// identity of a block device that outlives a boot.
type identity struct {
	Serial string `json:"serial,omitempty"`
	MD     string `json:"md_uuid,omitempty"`
	DM     string `json:"dm_name,omitempty"`
	Kernel string `json:"kernel,omitempty"` // the name, where there is nothing better
}

func identify(d *block.Device) identity {
	switch {
	case d == nil:
		return identity{}
	case d.MD != nil && d.MD.UUID != "":
		return identity{MD: d.MD.UUID}
	case d.Kind == block.LV || d.Kind == block.DM:
		return identity{DM: path.Base(d.Path)}
	case d.Serial != "":
		return identity{Serial: d.Serial}
	}
	return identity{Kernel: d.Name}
}

// Record is the state file.
type Record struct {
	Schema  int      `json:"schema"`
	Changes []Change `json:"changes"` // oldest first
	Files   []kept   `json:"files"`   // oldest first
}

// kept is a file that was written, and what was there before.
type kept struct {
	Path string  `json:"path"`
	Old  *[]byte `json:"old"` // nil: nothing
	// Wrote are the checksums of all that tune has written there.
	Wrote []string    `json:"wrote,omitempty"`
	Mode  fs.FileMode `json:"mode,omitempty"`
}

// Plan says what there is to change for the findings of a machine, of the groups wanted (none:
// all). What is set already is not in it.
func (t *Tuner) Plan(tree *block.Tree, found []finding.Finding, only []Group) ([]Change, error) {
	var all []Change
	for _, f := range found {
		for _, s := range f.Settings {
			g, err := check(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Code, err)
			}
			if len(only) > 0 && !slices.Contains(only, g) {
				continue
			}
			names, err := fs.Glob(t.Machine.Root, s.File[1:])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.File, err)
			}
			if len(names) == 0 {
				return nil, fmt.Errorf("%s: there is no such file", s.File)
			}
			for _, name := range names {
				c := Change{Setting: s, Code: f.Code, At: "/" + name}
				if c.Old, err = t.value(c.At); err != nil {
					return nil, err
				}
				if c.Old == s.Value || slices.ContainsFunc(all, func(o Change) bool { return o.At == c.At }) {
					continue
				}
				if g == Queues && tree != nil {
					c.Device = identify(tree.Devices[strings.Split(name, "/")[2]])
				}
				if ratio, ok := strings.CutSuffix(c.At, "_bytes"); ok && g == Memory && c.Old == "0" {
					old, err := t.value(ratio + "_ratio")
					if err != nil {
						return nil, err
					}
					c.Back = &finding.Setting{File: ratio + "_ratio", Value: old}
				}
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// value reads a setting; of a choice such as "none [mq-deadline]" what is chosen.
func (t *Tuner) value(file string) (string, error) {
	data, err := fs.ReadFile(t.Machine.Root, strings.TrimPrefix(file, "/"))
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			p.Path = file
		}
		return "", err
	}
	s := strings.TrimSpace(string(data))
	if _, rest, ok := strings.Cut(s, "["); ok {
		s, _, _ = strings.Cut(rest, "]")
	}
	return s, nil
}

// Recorded are the changes that were made here before: those that persist brings back, too.
func (t *Tuner) Recorded() ([]Change, error) {
	r, release, err := t.open()
	if err != nil {
		return nil, err
	}
	release()
	return r.Changes, nil
}

// Apply records the changes, then makes them. With persist it also writes what brings them, and
// those made before, back after a boot.
func (t *Tuner) Apply(changes []Change, persist bool) error {
	r, release, err := t.open()
	if err != nil {
		return err
	}
	defer release()
	r.Changes = append(r.Changes, changes...)
	if len(r.Changes) > 0 {
		if err := t.save(r); err != nil {
			return err
		}
	}
	for i, c := range changes {
		if err := t.Put(c.At, []byte(c.Value)); err != nil {
			return fmt.Errorf("%s to %s: %w; %d more were not tried; plimsoll tune --revert puts back what was changed", c.At,
				c.Value, err, len(changes)-i-1)
		}
	}
	if persist {
		if err := t.persist(r); err != nil {
			return fmt.Errorf("the settings are in force, but a reboot undoes them: %w", err)
		}
	}
	return nil
}

// InForce are those of the changes whose values are set now.
func (t *Tuner) InForce(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		now, err := t.value(c.At)
		return err != nil || now != c.Value
	})
}

// Revert puts everything back, newest first, and forgets it. What cannot be put back stays recorded
// and is in the error; a device that is no longer there is passed over. May is asked about a value that
// is neither plimsoll's nor the old one, since somebody else has set it; an error of it leaves that. It
// says how many settings and files it put back.
func (t *Tuner) Revert(may func(c Change, now string) error) (settings, files int, err error) {
	r, release, err := t.open()
	if err != nil {
		return 0, 0, err
	}
	defer release()
	tree, _ := block.Read(t.Machine) // without /sys there is nothing of it to put back either
	var errs []error
	var left Record
	for _, c := range slices.Backward(r.Changes) {
		done, err := t.putBack(c, tree, may)
		if done {
			settings++
		}
		if err != nil {
			errs = append(errs, err)
			left.Changes = append(left.Changes, c)
		}
	}
	for _, k := range slices.Backward(r.Files) {
		if err := t.restore(k); err != nil {
			errs = append(errs, err)
			left.Files = append(left.Files, k)
			continue
		}
		files++
	}
	slices.Reverse(left.Changes)
	slices.Reverse(left.Files)
	if len(errs) > 0 {
		return settings, files, errors.Join(append(errs, t.save(&left))...)
	}
	if err := os.Remove(t.State); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return settings, files, err
	}
	return settings, files, sys.SyncDir(filepath.Dir(t.State))
}

func (t *Tuner) putBack(c Change, tree *block.Tree, may func(Change, string) error) (bool, error) {
	at := c.where(tree)
	now, err := t.value(at)
	if errors.Is(err, fs.ErrNotExist) || err == nil && now == c.Old {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if now != c.Value && may != nil {
		if err := may(c, now); err != nil {
			return false, fmt.Errorf("%s is left at %.60q: %w", at, now, err)
		}
	}
	back := finding.Setting{File: at, Value: c.Old}
	if c.Back != nil {
		back = *c.Back
	}
	if err := t.Put(back.File, []byte(back.Value)); err != nil {
		return false, fmt.Errorf("%s back to %s: %w", back.File, back.Value, err)
	}
	return true, nil
}

// where a change's file is now: its device may have another name since a boot. It is a file that
// does not exist for one that is gone.
func (c Change) where(tree *block.Tree) string {
	if c.Device == (identity{}) || tree == nil {
		return c.At
	}
	part := strings.SplitN(c.At, "/", 5) // "", sys, block, name, the rest
	if identify(tree.Devices[part[3]]) == c.Device {
		return c.At
	}
	for name, d := range tree.Devices {
		if d.Kind != block.Partition && identify(d) == c.Device { // udev gives partitions their disk's serial
			return "/sys/block/" + name + "/" + part[4]
		}
	}
	return "/sys/block/gone/" + part[4]
}

// Hold keeps the record for one command, until release: another would put back in the middle of a measurement what that
// had set.
func (t *Tuner) Hold() (release func(), err error) {
	dir, err := t.place()
	if err != nil {
		return nil, err
	}
	name := filepath.Base(t.State) + ".lock"
	unlock, err := dir.Lock(name)
	if errors.Is(err, sys.ErrLocked) {
		err = fmt.Errorf("%s is in use by another plimsoll, whose comparison may be under way: wait until it is done, "+
			"or name another file with --state", t.State)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return func() {
		_ = dir.Remove(name) // while it is held
		unlock()
		_ = dir.Close()
	}, nil
}

// place is the directory of the record, which only root or the caller may write to.
func (t *Tuner) place() (*sys.Dir, error) {
	dir, err := sys.MakePath(filepath.Dir(t.State), 0o755)
	if err != nil {
		return nil, err
	}
	if err := dir.CheckTrusted(); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// open takes the lock and reads what was changed before.
func (t *Tuner) open() (*Record, func(), error) {
	dir, err := t.place()
	if err != nil {
		return nil, nil, err
	}
	unlock, err := dir.LockSelf()
	if err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	release := func() {
		unlock()
		_ = dir.Close()
	}
	r, err := readRecord(dir, filepath.Base(t.State))
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("%s: %w", t.State, err)
	}
	return r, release, nil
}

// readRecord reads what is put back by whoever reverts, so that it must be theirs or root's. It is
// empty where there is none.
func readRecord(dir *sys.Dir, name string) (*Record, error) {
	data, err := dir.ReadTrusted(name, sys.ConfigLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return &Record{Schema: 1}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseRecord(data)
}

func parseRecord(data []byte) (*Record, error) {
	r := &Record{Schema: 1}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, err
	}
	if r.Schema != 1 {
		return nil, fmt.Errorf("schema %d: use a newer plimsoll", r.Schema)
	}
	return r, r.check()
}

// check refuses a record of what tune never sets or writes.
func (r *Record) check() error {
	for _, c := range r.Changes {
		all := []finding.Setting{c.Setting, {File: c.At, Value: c.Value}}
		if c.Back != nil {
			all = append(all, *c.Back)
		}
		for _, s := range all {
			g, err := check(s)
			if err != nil || c.Device != (identity{}) && g != Queues {
				return errors.Join(fmt.Errorf("%.100q: restore the record from a backup", c.At), err)
			}
		}
	}
	for _, k := range r.Files {
		if !slices.Contains([]string{udevFile, udevOf2, sysctlFile, sysctlOf2, unitFile, unitLink}, k.Path) {
			return fmt.Errorf("%.100q is none of the files that tune writes: restore the record from a backup", k.Path)
		}
	}
	return nil
}

func (t *Tuner) save(r *Record) error {
	r.Schema = 1
	data, err := text.JSON(r)
	if err != nil {
		return err
	}
	return sys.WriteFile(t.State, data, 0o600)
}
