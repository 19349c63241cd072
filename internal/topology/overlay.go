package topology

import (
	"path"
	"strings"

	"plimsoll/internal/block"
)

// upperDevice is the device that what is written to an overlay goes to: the one behind its upper
// directory. In a container that directory is a path of the host, which no mount here shows; then
// it is the device of a file that the container engine mounts from the same directory of the host,
// such as /etc/hosts. how says which way it was found; both are empty when neither works.
func upperDevice(tree *block.Tree, overlay *block.Mount) (device, how string) {
	upper := ""
	for _, o := range overlay.Options {
		if dir, ok := strings.CutPrefix(o, "upperdir="); ok {
			upper = path.Clean(dir)
		}
	}
	if !path.IsAbs(upper) {
		return "", ""
	}
	if m := tree.MountOf(upper); m != nil && m.Device != "" {
		return m.Device, "its upper directory " + upper + " is on " + m.Point
	}
	for _, m := range tree.Mounts {
		if m.Device != "" && sharedElements(m.Root, upper) >= enginePath {
			return m.Device, "its upper directory " + upper + " is on the device from which " + m.Point + " is mounted"
		}
	}
	return "", ""
}

// enginePath is how many elements of a path make it a container engine's own, such as
// /var/lib/docker.
const enginePath = 3

// sharedElements is how many elements two absolute paths have in common from their beginning.
func sharedElements(a, b string) int {
	as, bs := strings.Split(strings.Trim(a, "/"), "/"), strings.Split(strings.Trim(b, "/"), "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] && as[n] != "" {
		n++
	}
	return n
}
