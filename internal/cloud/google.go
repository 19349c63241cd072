package cloud

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/units"
)

// Google asks Google's cloud. What its machines are limited by is in docs/clouds.md.
type Google struct{ nobody }

// hostVar is the variable by which Google's own clients find the metadata server: a host and a port.
const hostVar = "GCE_METADATA_HOST"

// On goes by the product's name.
func (Google) On(root fs.FS) bool {
	return os.Getenv(hostVar) != "" || dmi(root, "product_name") == "Google Compute Engine"
}

func (Google) get(ctx context.Context, what string) (string, error) {
	m := linkLocal{
		cloud: "Google", header: http.Header{"Metadata-Flavor": {"Google"}},
		hint: "a container may be kept from it: name the machine type with --instance",
	}
	body, err := m.get(ctx, "http://"+cmp.Or(os.Getenv(hostVar), "169.254.169.254")+"/computeMetadata/v1/instance/"+what)
	return string(body), err
}

// Identify asks the metadata server for the machine type.
func (g Google) Identify(ctx context.Context, root fs.FS) (id Identity, err error) {
	if !g.On(root) {
		return id, ErrNotThere
	}
	typ, err := g.get(ctx, "machine-type")
	if err != nil {
		return id, err
	}
	name := path.Base(strings.TrimSpace(typ))
	if !googleName.MatchString(name) {
		return id, fmt.Errorf("Google metadata: %.60q is not a machine type", typ)
	}
	return Identity{InstanceType: name}, nil
}

var googleName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)+$`)

type googleDisk struct {
	Name string `json:"deviceName"`
	Type string `json:"type"`
}

// Ordered takes the types of the disks from the metadata server; their sizes are those of the devices.
func (g Google) Ordered(ctx context.Context, _ Identity, attached []Attached) ([]ProvisionedVolume, error) {
	text, err := g.get(ctx, "disks/?recursive=true")
	if err != nil {
		return nil, err
	}
	return g.ordered([]byte(text), attached)
}

func (g Google) ordered(body []byte, attached []Attached) ([]ProvisionedVolume, error) {
	var disks []googleDisk
	if err := json.Unmarshal(body, &disks); err != nil {
		return nil, fmt.Errorf("Google metadata: the list of disks: %w", err)
	}
	var all []ProvisionedVolume
	for _, one := range attached {
		for _, d := range disks {
			if d.Name == "" || !slices.Contains(one.Links, "/dev/disk/by-id/google-"+d.Name) {
				continue
			}
			typ := builtin()["gcp"].terms.Accounts[d.Type]
			v := ProvisionedVolume{On: one.Device, Spec: VolumeSpec{Type: typ, Size: one.Size}}
			if v.Spec.Type == "" {
				v.Doubt = fmt.Sprintf("the metadata server calls its type %.40q, which is not known here: declare it", d.Type)
			} else {
				v.judge(v.Spec)
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// googleDrives are the local drives of Google's machines as one of them, of tables that have several
// together. They have one model name whatever they are, so that they go by names of the catalogue.
func googleDrives() []DriveFacts {
	var all []DriveFacts
	for r := range newSheet(catalogue.ReadFile("catalogue/google-local.csv")).rows() {
		name, n := "google-local-"+r.text("kind"), r.num("drives")
		if slices.ContainsFunc(all, func(d DriveFacts) bool { return d.Model == name }) {
			continue // more of them have as much each
		}
		d := DriveFacts{
			Model: name, Capacity: r.text("gib") + " GiB", Size: units.Bytes(r.num("gib") * float64(units.GiB)),
			Limits:     limits(r, "", n).OfDrive(),
			Provenance: r.from(), pattern: regexp.MustCompile("^" + name + "$"),
		}
		if r.text("as_of") < "2020" {
			d.Notes = append(d.Notes, "an old table, of a machine's 4 drives together: newer machines may reach more")
		}
		all = append(all, d)
	}
	return all
}

// LocalModel is the catalogue's name of a local drive of a machine: its model, but on series of Google's
// whose drives have a table.
func LocalModel(machine, model string) string {
	series, _, _ := strings.Cut(machine, "-")
	if name := builtin()["gcp"].terms.Drives[series]; name != "" && IsLocal(model) {
		return name
	}
	return model
}

// Left is nothing: no type of Google's bursts.
func (Google) Left(context.Context, Identity, []string) (Balances, error) {
	return Balances{}, errors.New("Google has no volumes or machines that burst on credits")
}
