package fio

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/sys"
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
		return Version{}, fmt.Errorf("fio version %.40q: want such as fio-3.33", s)
	}
	return Version{a, b}, nil
}

// ErrMissing is in the chain of Installed's error when there is no fio.
var ErrMissing = errors.New("fio is not installed")

// Installed asks the fio in PATH for its version and refuses one older than Oldest.
func Installed(ctx context.Context, m *sys.Machine) (Version, error) {
	out, err := m.Output(sys.WithFamily(ctx), "fio", "--version")
	if errors.Is(err, sys.ErrNotFound) {
		return Version{}, fmt.Errorf("%w; install it with the system's package manager, such as: apt-get install fio",
			ErrMissing)
	}
	if err != nil {
		return Version{}, err
	}
	v, err := ParseVersion(out)
	if err != nil {
		return v, err
	}
	if v.Before(Oldest) {
		return v, fmt.Errorf("%s is too old: plimsoll needs %s or newer", v, Oldest)
	}
	return v, nil
}
