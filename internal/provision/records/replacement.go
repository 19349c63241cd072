package records

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/block"
)

// Replacement is a member that gives way to another one.
type Replacement struct {
	Old string `json:"old"` // serial numbers
	New string `json:"new"`
	// OldPath is the kernel name of the old one when it was planned.
	OldPath string `json:"old_path,omitempty"`
	// From is how many steps the array had before: those after it are the replacement's.
	From int `json:"from"`
}

// Replace is the array's work with the steps that put another volume in a member's place.
func (w *Work) Replace(uuid func() string, old string, fresh *block.Device, volumes string) *Work {
	id := Identity(fresh)
	next := *w
	next.Want.Volumes = volumes
	next.Replacing = &Replacement{Old: old, New: id, From: len(w.Steps)}
	next.Members = slices.Clone(w.Members)
	for i := range next.Members {
		if next.Members[i].Serial == old {
			next.Replacing.OldPath = next.Members[i].Path
			next.Members[i] = Member{Serial: id, Size: fresh.Size, Path: fresh.Path, Model: fresh.Model}
		}
	}
	guid := uuid()
	next.Steps = renamed(w.Steps, old, id, w.TableGUID("@"+old), guid)
	part := ""
	if w.Want.Partition {
		part = ":1"
	}
	newOne, oldOne, top := "@"+id+part, "@"+old+part, w.Top()
	next.Add(Step{Title: fmt.Sprintf("check that %s is blank", fresh.Path), Do: []Action{{Blank: []string{"@" + id}}}})
	if w.Want.Partition {
		at := "@" + id
		next.Add(Step{
			Title:   "partition it: GPT, one partition from 1 MiB",
			Touches: []string{fresh.Path},
			Check:   []Cond{{Is: "partition", Of: newOne}, {Is: "table", Of: at, Want: guid}},
			Do: []Action{
				{Blank: []string{at}},
				{
					Run: []string{
						"sgdisk",
						"--clear",
						"--disk-guid=" + strings.ToUpper(guid),
						"--set-alignment=1",
						"--new=1:1MiB:0",
						"--typecode=1:fd00",
						"--change-name=1:" + w.Array,
						at,
					},
				},
			},
			Undo: []Action{{Zero: []string{at}}},
		})
	}
	next.Add(Step{
		Title: "add it to " + top, Touches: []string{top, fresh.Path}, Check: []Cond{{Is: "member", Of: newOne}},
		Do: []Action{{Blank: []string{newOne}}, {Run: []string{"mdadm", top, "--add", newOne}}},
	})
	next.Add(Step{
		Title:   "rebuild " + top + " onto it; the array may be used meanwhile",
		Touches: []string{top},
		Check:   []Cond{{Is: "synced"}},
		Do: []Action{
			{
				If:  &Cond{Is: "unreplaced", Of: newOne, Want: oldOne},
				Run: []string{"mdadm", top, "--replace", oldOne, "--with", newOne},
			},
			{Await: true},
		},
	})
	next.Add(Step{
		Title: "take the volume " + old + " out of it, where it is still attached", Touches: []string{top},
		Check: []Cond{{Is: "array", Of: top, Want: w.UUID()}},
		Do: []Action{
			{If: &Cond{Is: "member", Of: oldOne}, Run: []string{"mdadm", top, "--remove", oldOne}},
			{If: &Cond{Is: "superblock", Of: oldOne, Want: w.UUID()}, Zero: []string{oldOne}},
		},
	})
	return &next
}

// renamed are steps with another serial number, and another GUID of its partition table, in all
// that they check, undo and restore.
func renamed(steps []Step, old, id, guid, newGUID string) []Step {
	text := func(s string) string {
		for _, part := range []string{"", ":1"} {
			if s == "@"+old+part {
				return "@" + id + part
			}
		}
		if guid != "" && s == guid {
			return newGUID
		}
		return s
	}
	all := func(list []string) []string {
		out := slices.Clone(list)
		for i := range out {
			out[i] = text(out[i])
		}
		return out
	}
	actions := func(list []Action) []Action {
		out := slices.Clone(list)
		for i := range out {
			a := &out[i]
			a.Run, a.Blank, a.Erase, a.Zero, a.Stop = all(a.Run), all(a.Blank), all(a.Erase), all(a.Zero), all(a.Stop)
			if a.If != nil {
				a.If = &Cond{Is: a.If.Is, Of: text(a.If.Of), Want: text(a.If.Want)}
			}
		}
		return out
	}
	out := slices.Clone(steps)
	for i := range out {
		st := &out[i]
		st.Do, st.Undo, st.Again = actions(st.Do), actions(st.Undo), actions(st.Again)
		st.Check = slices.Clone(st.Check)
		for j, c := range st.Check {
			// The GUID belongs to this one disk: the condition before it names it.
			st.Check[j] = Cond{Is: c.Is, Of: text(c.Of), Want: text(c.Want)}
		}
	}
	return out
}

// Rebuilding says that the steps of a replacement are not done yet, and that a step before them
// looks at the new volume, which is not what it will be, or at copies, which do not agree before.
func (w *Work) Rebuilding(i int) bool {
	return w.Replacing != nil && i < w.Replacing.From && slices.ContainsFunc(w.Steps[i].Check, func(c Cond) bool {
		return c.Is == "synced" || strings.TrimSuffix(c.Of, ":1") == "@"+w.Replacing.New
	})
}
