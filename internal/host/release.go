package host

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Release is a kernel version.
type Release [3]int

// CountsFlushes is the first kernel with flushes in /proc/diskstats (Documentation/admin-guide/iostats.rst).
var CountsFlushes = Release{5, 5, 0}

// kernelVersion finds the upstream version in /proc/version: Debian puts it behind its own name of
// the package.
var kernelVersion = regexp.MustCompile(`(?:\bDebian |^Linux version )(\d+)\.(\d+)(?:\.(\d+))?`)

// Release is the kernel's; false where it is not known.
func (f *Facts) Release() (Release, bool) {
	all := kernelVersion.FindAllStringSubmatch(f.Kernel, -1)
	if len(all) == 0 {
		return Release{}, false
	}
	var r Release
	for i, s := range all[len(all)-1][1:] {
		r[i], _ = strconv.Atoi(s) // empty is 0
	}
	return r, true
}

func (r Release) String() string { return fmt.Sprintf("%d.%d.%d", r[0], r[1], r[2]) }

// Before says that it is older.
func (r Release) Before(o Release) bool { return slices.Compare(r[:], o[:]) < 0 }
