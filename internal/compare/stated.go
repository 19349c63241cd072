package compare

import (
	"fmt"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
)

// StatedFor is the scenario of a suite that asks for the work that a result did, so that its thresholds
// judge the result. Where none does, or several may, it is nil, and why says what differs from the
// nearest.
func StatedFor(s *suite.Suite, r *result.Result) (scenario *suite.Scenario, why string) {
	did, least := asStated(workOf(r), r), 0
	for i := range s.Scenarios {
		asked := &s.Scenarios[i]
		loads, err := asked.Workloads()
		if err != nil || len(loads) == 0 {
			continue
		}
		asks := &result.Result{Workloads: loads}
		differ := asStated(workOf(asks), asks).Differences(did)
		switch {
		case len(differ) > 0 && scenario == nil && (least == 0 || len(differ) < least):
			least, why = len(differ), fmt.Sprintf("not the work of %s (%s)", asked.Name, strings.Join(differ, "; "))
		case len(differ) > 0:
		case scenario != nil:
			return nil, fmt.Sprintf("its work may be that of %s or of %s", scenario.Name, asked.Name)
		default:
			scenario, why = asked, ""
		}
	}
	return scenario, why
}

// asStated is a work as thresholds see it: engines that have one I/O at a time are alike (sync, psync,
// vsync), and syncs that were measured are known to be there, though a header without its command
// does not tell after how many writes.
func asStated(w Work, r *result.Result) Work {
	if fio.Synchronous(w.Engine) && w.Depth <= 1 {
		w.Engine = "sync"
	}
	if w.Sync == "none" && r.Total.Sync.Lat.Measured() {
		w.Sync = ""
	}
	return w
}
