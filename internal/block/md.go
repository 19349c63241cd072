package block

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/units"
)

// raid reads /sys/block/mdN/md (Documentation/admin-guide/md.rst).
func (r *reader) raid(dir string) *Raid {
	text := func(name string) string { return r.text(dir + "/" + name) }
	a := &Raid{
		Level:    text("level"),
		Layout:   -1,
		Chunk:    r.size(dir+"/chunk_size", 1),
		Degraded: int(r.num(dir + "/degraded")),
		State:    text("array_state"),
		Action:   text("sync_action"),
		Metadata: text("metadata_version"),
		UUID:     text("uuid"),
		Speed:    parseSyncSpeed(text("sync_speed")),
		Mismatch: uint64(max(r.num(dir+"/mismatch_cnt"), 0)),
	}
	if strings.Trim(BareUUID(a.UUID), "0") == "" {
		a.UUID = "" // one that has not started: see unstarted
	}
	if s := text("layout"); s != "" {
		if n, err := strconv.Atoi(s); err == nil {
			a.Layout = n
		}
	}
	// "8 (7)" while the array is being reshaped.
	if f := strings.Fields(text("raid_disks")); len(f) > 0 {
		a.Disks, _ = strconv.Atoi(f[0])
	}
	switch at := text("bitmap/location"); at {
	case "", "none", "file", "clustered":
		a.Bitmap = at
	default: // +8: sectors from the superblock
		a.Bitmap, a.BitmapChunk = "internal", r.size(dir+"/bitmap/chunksize", 1)
	}
	a.Used = r.size(dir+"/component_size", units.KiB)
	a.StripeCache, a.Consistency = int(r.num(dir+"/stripe_cache_size")), text("consistency_policy")
	if lo, hi := text("sync_speed_min"), text("sync_speed_max"); lo != "" && hi != "" {
		a.SyncSpeed, a.SyncFloor = lo+" to "+hi, min(parseSyncSpeed(lo), parseSyncSpeed(hi))
	}
	a.Progress = parseSyncCompleted(text("sync_completed"))
	for _, sub := range r.list(dir) {
		name, ok := strings.CutPrefix(sub, "dev-")
		if !ok {
			continue
		}
		m := Member{
			Name: name, Slot: -1,
			State:  r.text(path.Join(dir, sub, "state")),
			Offset: r.size(path.Join(dir, sub, "offset"), sector),
			Errors: uint64(max(r.num(path.Join(dir, sub, "errors")), 0)),
		}
		if n, err := strconv.Atoi(r.text(path.Join(dir, sub, "slot"))); err == nil { // "none" for a spare
			m.Slot = n
		}
		a.Members = append(a.Members, m)
	}
	slices.SortStableFunc(
		a.Members,
		func(x, y Member) int { return cmp.Compare(uint(x.Slot), uint(y.Slot)) },
	) // -1 last
	return a
}

// unstarted is the UUID of an array that lacks members to start, as after a power cut: the kernel shows zeros, and
// only its members' superblocks have it (ID_FS_UUID of libblkid).
func (t *Tree) unstarted(a *Raid) string {
	for _, m := range a.Members {
		if d := t.Devices[m.Name]; d != nil && d.Signature == "linux_raid_member" {
			return d.UUID
		}
	}
	return ""
}

// parseSyncSpeed reads "1000 (system)", in KiB/s; what it does not understand is 0.
func parseSyncSpeed(s string) units.Rate {
	n, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseUint(n, 10, 40)
	if err != nil {
		return 0
	}
	return units.Rate(v) * units.Rate(units.KiB)
}

// parseSyncCompleted reads "76288 / 2093056" as a share; "none" and "delayed" are 0.
func parseSyncCompleted(s string) float64 {
	a, b, _ := strings.Cut(s, "/")
	done, err1 := strconv.ParseFloat(strings.TrimSpace(a), 64)
	all, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
	if err1 != nil || err2 != nil || !(all > 0) || !(done >= 0) || done > all {
		return 0
	}
	return done / all
}

// mdstatArray is what /proc/mdstat says of one array and sysfs does not, or says too early.
type mdstatArray struct {
	Level    string
	Action   string // resync recovery reshape check; "" when idle
	Progress float64
	Speed    units.Rate
}

// parseMdstat reads /proc/mdstat. What it does not know it skips: the file is made for people and
// differs between levels and kernels (drivers/md/md.c md_seq_show, status_resync).
func parseMdstat(data string) map[string]mdstatArray {
	arrays := map[string]mdstatArray{}
	name := ""
	for line := range strings.Lines(data) {
		if before, after, ok := strings.Cut(line, " : "); ok && !strings.HasPrefix(line, " ") {
			name = strings.TrimSpace(before)
			if name == "Personalities" {
				name = ""
				continue
			}
			a := mdstatArray{}
			for f := range strings.FieldsSeq(after) {
				if strings.HasPrefix(f, "raid") || f == "linear" {
					a.Level = f
				}
			}
			arrays[name] = a
			continue
		}
		if strings.TrimSpace(line) == "" || name == "" || !strings.HasPrefix(line, " ") {
			name = ""
			continue
		}
		a := arrays[name]
		a.progress(line)
		arrays[name] = a
	}
	return arrays
}

// progress reads "[>....]  recovery =  3.6% (76288/2093056) finish=0.8min speed=18944K/sec" and
// "resync=DELAYED".
func (a *mdstatArray) progress(line string) {
	for _, action := range []string{"resync", "recovery", "reshape", "check", "repair"} {
		_, rest, ok := strings.Cut(line, action)
		value, is := strings.CutPrefix(strings.TrimLeft(rest, " "), "=")
		if !ok || !is {
			continue
		}
		a.Action = map[bool]string{true: "recover", false: action}[action == "recovery"] // sysfs's word
		value = strings.TrimSpace(value)
		if p, _, ok := strings.Cut(value, "%"); ok {
			if v, err := strconv.ParseFloat(p, 64); err == nil && v >= 0 && v <= 100 {
				a.Progress = v / 100
			}
		}
		if _, s, ok := strings.Cut(value, "speed="); ok {
			s, _, _ = strings.Cut(s, "K/sec")
			a.Speed = parseSyncSpeed(s)
		}
		return
	}
}

// mdstat adds to each array what /proc/mdstat knows better: sysfs's sync_completed stays 0 for the
// first seconds.
func (r *reader) mdstat(t *Tree) {
	for name, a := range parseMdstat(r.text("proc/mdstat")) {
		d := t.Devices[name]
		if d == nil || d.MD == nil {
			continue
		}
		if d.MD.Level == "" {
			d.MD.Level = a.Level
		}
		if a.Action == "" {
			continue
		}
		if d.MD.Action == "" || d.MD.Action == "idle" {
			d.MD.Action = a.Action
		}
		d.MD.Progress = max(d.MD.Progress, a.Progress)
		if a.Speed > 0 {
			d.MD.Speed = a.Speed
		}
	}
}

// BareUUID is an md UUID without the separators, of which each tool has its own.
func BareUUID(uuid string) string {
	return strings.ToLower(strings.NewReplacer(":", "", "-", "").Replace(uuid))
}
