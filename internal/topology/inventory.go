package topology

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Inventory is every disk of a machine, used or not.
type Inventory struct {
	Instance Instance `json:"instance"`
	Disks    []Disk   `json:"disks"`
	Notes    []string `json:"notes,omitempty"`
}

// Disk is one disk: what it is, what it can do as far as that is known, and who uses it.
type Disk struct {
	Volume
	Path string `json:"path"`            // today's kernel name
	ByID string `json:"by_id,omitempty"` // below /dev/disk/by-id: the same after a boot
	// Mapped is the name that EC2 attached the volume by, such as sdf, from its identity page (root
	// only).
	Mapped   string `json:"mapped,omitempty"`
	NUMANode int    `json:"numa_node"` // -1 when unknown
	// Uses are who uses it or why it is not blank, as clauses; without any it is unused, as far as
	// can be seen without reading it.
	Uses []string `json:"uses,omitempty"`
	// Unseen is true when nobody could look what is on it: udev says nothing, and reading it needs
	// root.
	Unseen bool `json:"unseen,omitempty"`
}

// Unused says whether nothing is known to be on a disk or made of it.
func (d Disk) Unused() bool { return len(d.Uses) == 0 }

// TakeInventory lists a machine's disks, in the order of their names. On EC2 the API is asked,
// where it may be, which types of volume they are.
func TakeInventory(ctx context.Context, m *sys.Machine) (*Inventory, error) {
	t := &Topology{Host: ReadHost(m.Root), Instance: readInstance(m.Root)}
	tree, err := block.Read(m)
	if err != nil {
		return nil, err
	}
	tree.ReadUsers(os.Getpid())
	t.Tree = tree
	all := Array{Name: "all"}
	for _, name := range tree.Names() {
		if d := tree.Devices[name]; d.Kind == block.Disk && d.Size > 0 {
			all.Volumes = append(all.Volumes, volume(d))
		}
	}
	t.Arrays = []Array{all}
	asking, cancel := context.WithTimeout(ctx, cloud.APIBudget)
	defer cancel()
	t.askCloud(asking, m)
	t.catalogue()
	inv := &Inventory{Instance: t.Instance, Notes: t.Notes}
	for _, v := range t.Arrays[0].Volumes {
		d := tree.Devices[v.Device]
		disk := Disk{
			Volume:   v,
			Path:     d.Path,
			NUMANode: d.NUMANode,
			Uses:     tree.Occupied(d),
			ByID:     byID(d),
			Unseen:   d.Signature == "?",
		}
		if m.Here && cloud.IsEBS(d.Model) {
			if id, err := cloud.ReadIdentify(d.Path); err == nil { // as root
				disk.Mapped = id.Name
			}
		}
		inv.Disks = append(inv.Disks, disk)
	}
	return inv, ctx.Err()
}

// byID is the link by which a disk is found again, the one with its serial number first.
func byID(d *block.Device) string {
	var links []string
	for _, l := range d.Links {
		if strings.HasPrefix(l, "/dev/disk/by-id/") {
			links = append(links, l)
		}
	}
	slices.SortFunc(links, func(a, b string) int {
		has := func(s string) int {
			if d.Serial != "" && strings.Contains(s, d.Serial) {
				return 0
			}
			return 1
		}
		return cmp.Or(has(a)-has(b), len(a)-len(b), strings.Compare(a, b))
	})
	if len(links) == 0 {
		return ""
	}
	return links[0]
}

// Pick chooses unused disks by a description such as "4 × unused 3TiB", "data: 4 x unused gp3
// raid10" or "2 x unused io2", and writes them as an array of a plimsoll.yaml. A role before a
// colon is the array's; without one it is data. Disks in taken, by path, are left out, and the
// chosen ones are added to it. When fewer fit than are wanted, or more without a way to tell which
// are meant, it is an error that names them.
func (inv *Inventory) Pick(description string, taken map[string]bool) (yaml string, err error) {
	role, rest, ok := strings.Cut(description, ":")
	role = strings.TrimSpace(role)
	if !ok || !slices.Contains(Roles, Role(role)) {
		role, rest = string(Data), description
	}
	level, words := NoLevel, []string{}
	for w := range strings.FieldsSeq(rest) {
		switch lower := strings.ToLower(w); {
		case lower == "unused":
		case Level(lower).Known():
			level = Level(lower)
		default:
			words = append(words, w)
		}
	}
	count, want, err := parseDescription(strings.Join(words, " "))
	if err != nil {
		return "", fmt.Errorf("--yaml %.80q: %w", description, err)
	}
	var found []Disk
	var not []string
	for _, d := range inv.Disks {
		fits := (want.Size == 0 || Alike(d.Size, want.Size)) && (want.Type == "" || d.Type == want.Type)
		switch {
		case !fits || taken[d.Path]:
		case !d.Unused():
			not = append(not, d.Path+" ("+strings.Join(d.Uses, ", ")+")")
		case d.Serial == "":
			not = append(not, d.Path+" (it has no serial number: it could not be found again after a boot)")
		case inv.twin(d) != "":
			not = append(not, d.Path+" (its serial number "+d.Serial+" is also that of "+inv.twin(d)+
				": name it by a link below /dev/disk/by-path)")
		default:
			found = append(found, d)
		}
	}
	if count == 0 {
		count = len(found)
	}
	if len(found) < count || count == 0 {
		why := ""
		if len(not) > 0 {
			why = "; these would match, but are not free: " + strings.Join(not, "; ")
		}
		return "", fmt.Errorf("--yaml %.80q: found %d of %d matching unused disks%s",
			description, len(found), max(count, 1), why)
	}
	if len(found) > count {
		var names []string
		for _, d := range found {
			names = append(names, fmt.Sprintf("%s (%s)", d.Path, text.Join(", ", d.Size.String(), d.Type)))
		}
		return "", fmt.Errorf("--yaml %.80q: %d unused disks match: %s; add a size or type, or ask for %d",
			description, len(found), strings.Join(names, ", "), len(found))
	}
	if err := level.carries(len(found)); err != nil {
		return "", fmt.Errorf("--yaml %.80q: %w", description, err)
	}
	for _, d := range found {
		taken[d.Path] = true
	}
	return arrayText(role, level, found), nil
}

// twin is another disk with the same serial number, empty for none.
func (inv *Inventory) twin(d Disk) string {
	for _, o := range inv.Disks {
		if o.Serial == d.Serial && o.Path != d.Path {
			return o.Path
		}
	}
	return ""
}

// parseDescription is parseVolumes, for which "4" alone, or nothing, is a description too.
func parseDescription(s string) (int, DeclaredVolume, error) {
	s = strings.TrimSpace(strings.ReplaceAll(s, "×", "x"))
	count := 0
	if n, err := fmt.Sscanf(s+" ", "%d x ", &count); n == 1 && err == nil && strings.Trim(s, "0123456789x ") == "" {
		return count, DeclaredVolume{}, nil
	}
	if s == "" {
		return 0, DeclaredVolume{}, nil
	}
	return parseVolumes(s)
}

// Alike allows for what vendors call the same size.
func Alike(a, b units.Bytes) bool {
	lo, hi := min(a, b), max(a, b)
	return hi-lo <= lo/100
}

func arrayText(role string, level Level, disks []Disk) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s\n    role: %s\n", role, role)
	switch {
	case level != NoLevel:
		fmt.Fprintf(&b, "    level: %s\n", level)
	case len(disks) == 1:
		b.WriteString("    level: single\n")
	default:
		b.WriteString("    level: raid0   # or raid1, raid10, raid5, raid6: raid0 loses everything if any one of " +
			"its volumes fails\n")
	}
	b.WriteString("    volumes:\n")
	for _, d := range disks {
		fmt.Fprintf(&b, "      - {serial: %q, size: %s", d.Serial, d.Size.Arg())
		if d.Network && d.Type != "" {
			fmt.Fprintf(&b, ", type: %s", d.Type)
			t, _ := cloud.TypeNamed(d.Type)
			if t.OrdersIOPS() && d.Sustained.IOPS > 0 {
				fmt.Fprintf(&b, ", iops: %s", d.Sustained.IOPS.Arg())
			}
			if t.OrdersRate() && d.Sustained.Rate > 0 {
				fmt.Fprintf(&b, ", throughput: %s", d.Sustained.Rate.Arg())
			}
		}
		fmt.Fprintf(&b, "}   # %s today\n", d.Path)
	}
	fmt.Fprintf(&b, "    filesystem: {type: xfs, mount: /%s}\n", role)
	return b.String()
}
