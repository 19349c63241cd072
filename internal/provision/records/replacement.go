package records

import (
	"encoding/json"
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
	newOne, oldOne, top := w.Device(id), w.Device(old), w.Top()
	disk := []string{"@" + id}
	next.Add(Step{Title: fmt.Sprintf("check that %s is blank", fresh.Path), Do: []Action{{Blank: disk}}})
	if w.Want.Partition {
		st := Step{
			Title: "partition it: GPT, one partition from 1 MiB", Touches: []string{fresh.Path},
			Do: []Action{{Blank: disk}}, Undo: []Action{{Zero: disk}},
		}
		w.partition(&st, id, guid)
		next.Add(st)
	}
	next.Add(Step{
		Title: "add it to " + top, Touches: []string{top, fresh.Path}, Check: []Cond{{"member", newOne, ""}},
		Do: []Action{{Blank: []string{newOne}}, Run("mdadm", top, "--add", newOne)},
	})
	next.Add(Step{
		Title:   "rebuild " + top + " onto it; the array may be used meanwhile",
		Touches: []string{top},
		Check:   []Cond{{Is: "synced"}},
		Do: []Action{
			Run("mdadm", top, "--replace", oldOne, "--with", newOne).When("unreplaced", newOne, oldOne), {Await: true},
		},
	})
	next.Add(Step{
		Title: "take the volume " + old + " out of it, where it is still attached", Touches: []string{top},
		Check: []Cond{{"array", top, w.UUID()}},
		Do: []Action{
			Run("mdadm", top, "--remove", oldOne).When("member", oldOne, ""),
			Action{Zero: []string{oldOne}}.When("superblock", oldOne, w.UUID()),
		},
	})
	return &next
}

// renamed are steps with another serial number, and another GUID of its partition table, in all
// that they check, undo and restore.
func renamed(steps []Step, old, id, guid, newGUID string) (all []Step) {
	var pairs []string
	for _, names := range [][2]string{{"@" + old, "@" + id}, {"@" + old + ":1", "@" + id + ":1"}, {guid, newGUID}} {
		was, _ := json.Marshal(names[0]) // of a text, which JSON has
		now, _ := json.Marshal(names[1])
		if names[0] != "" {
			pairs = append(pairs, string(was), string(now))
		}
	}
	data, _ := json.Marshal(steps) // a journal is its steps as JSON
	_ = json.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(string(data))), &all)
	return all
}

// Rebuilding says that the steps of a replacement are not done yet, and that a step before them
// looks at the new volume, which is not what it will be, or at copies, which do not agree before.
func (w *Work) Rebuilding(i int) bool {
	return w.Replacing != nil && i < w.Replacing.From && slices.ContainsFunc(w.Steps[i].Check, func(c Cond) bool {
		return c.Is == "synced" || strings.TrimSuffix(c.Of, ":1") == "@"+w.Replacing.New
	})
}
