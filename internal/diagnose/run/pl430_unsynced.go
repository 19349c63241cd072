package run

import (
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
)

// unsynced finds writes of imports that went through the page cache and that nothing synced, however long they took. A
// device is written when it is closed, of which only a program that times that too, as dd does, has anything.
func unsynced(_ *facts, m measurement) (f fault) {
	wrote := sides(m)[0]
	if m.Source == "" || wrote.Bytes == 0 || wrote.reached() || m.Failed() || m.Syncs() || onMemory(m) ||
		!m.All(func(w fio.Workload) bool {
			return paged(w) && !w.EndSync && (m.Program == "" || !strings.HasPrefix(w.Filename, "/dev/"))
		}) {
		return f
	}
	shown := ""
	if m.Lacks(part.DiskStats) {
		shown = ", and no disk statistics show them arrive"
	}
	return m.Finds("The %s that were written went through the page cache (no direct=1), and nothing synced them%s: "+
		"a write may be done before the storage has it, and at the end memory may still hold some.", wrote.Bytes, shown).
		Saw("direct", "no", "direct=1, or a sync", "the job's options, or its submission")
}
