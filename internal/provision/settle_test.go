package provision

import (
	"strings"
	"testing"
)

// TestMountPoints: a filesystem is not mounted over the system, also not in a plan for a machine
// that is imagined (M11 of the review of ed5d1e7).
func TestMountPoints(t *testing.T) {
	for mount, want := range map[string]string{
		"/etc":            "/etc is the system's own",
		"/proc":           "/proc is the system's own",
		"/usr/local/data": "/usr is the system's own",
		"/data/../etc":    "want a path without .., such as /etc",
		"/data/..":        "want a path of letters",
		"/":               "want a path of letters",
		"/etcetera":       "",
		"/data/etc":       "",
		"/data/":          "",
		"/data/..wal":     "",
		"/var/lib/pg":     "",
	} {
		var w Want
		err := w.mountAt(mount)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", mount, err, want)
		}
	}
}
