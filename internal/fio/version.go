package fio

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is fio's, as major and minor; a build of its git tree counts as the release before it.
type Version struct{ Major, Minor int }

// Oldest is the least version that plimsoll drives: 3.16 has json+ with sync latencies and status
// intervals that add up.
var Oldest = Version{3, 16}

func (v Version) String() string { return fmt.Sprintf("fio-%d.%d", v.Major, v.Minor) }

// Before says whether v is older than o.
func (v Version) Before(o Version) bool {
	return v.Major < o.Major || v.Major == o.Major && v.Minor < o.Minor
}

// ParseVersion reads "fio-3.33" or "fio-3.25-15-gced2".
func ParseVersion(s string) (Version, error) {
	num, ok := strings.CutPrefix(strings.TrimSpace(s), "fio-")
	num, _, _ = strings.Cut(num, "-")
	major, minor, _ := strings.Cut(num, ".")
	minor, _, _ = strings.Cut(minor, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil {
		return Version{}, fmt.Errorf("fio version %.40q: want one such as fio-3.33", s)
	}
	return Version{a, b}, nil
}
