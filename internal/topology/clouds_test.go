package topology_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A machine of Azure or Google is known by its firmware. What the firmware does not tell is said, with
// the types that fit.
func TestDetectOtherClouds(t *testing.T) {
	for _, c := range []struct{ name, cloud, example, fits string }{
		{"azure-d8s-v5", "Azure", "P30", "Standard_D8"},
		{"google-n2-standard-8", "Google Cloud", "pd-balanced", "n2-standard-8"},
	} {
		topo := detect(t, machine(t, c.name, nil), "/data", "", nil)
		notes := strings.Join(topo.Notes, "; ")
		if topo.Instance.Cloud != c.cloud || topo.Instance.Type != "" {
			t.Errorf("%s: instance %+v", c.name, topo.Instance)
		}
		if v := topo.Arrays[0].Volumes[0]; !v.Network {
			t.Errorf("%s: %+v is a network volume", c.name, v)
		}
		if !strings.Contains(notes, "this is a machine of "+c.cloud) || !strings.Contains(notes, "--volumes "+c.example) {
			t.Errorf("%s: notes %s", c.name, notes)
		}
		for _, word := range []string{"EBS", "EC2", "AWS", "gp3"} {
			if strings.Contains(notes, word) {
				t.Errorf("%s: a note speaks of %s: %s", c.name, word, notes)
			}
		}
	}
}

// The metadata server of Google tells type and disks; sizes are the devices'. A disk beside the path
// adds to what all of its type share.
func TestDetectAsksGoogle(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Metadata-Flavor") != "Google":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/computeMetadata/v1/instance/machine-type":
			_, _ = w.Write([]byte("projects/112233445566/machineTypes/n2-standard-8"))
		case r.URL.Path == "/computeMetadata/v1/instance/disks/":
			_, _ = w.Write([]byte(`[{"deviceName":"vm-n2","index":0,"interface":"SCSI","mode":"READ_WRITE","type":"PERSISTENT-BALANCED"},
				{"deviceName":"data-1","index":1,"interface":"SCSI","mode":"READ_WRITE","type":"PERSISTENT-SSD"},
				{"deviceName":"data-2","index":2,"interface":"SCSI","mode":"READ_WRITE","type":"PERSISTENT-SSD"}]`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GCE_METADATA_HOST", at.Host)
	m := machine(t, "google-n2-standard-8", nil)
	m.Here = true
	topo := detect(t, m, "/data", "", nil)
	i, v := topo.Instance, topo.Arrays[0].Volumes[0]
	if i.Type != "n2-standard-8" || i.Cloud != "Google Cloud" || len(i.Caps) == 0 {
		t.Errorf("instance %+v, notes %q", i, topo.Notes)
	}
	if v.Type != "gcp-pd-ssd" || !v.Pooled || v.Origin.Kind != topology.Detected {
		t.Errorf("volume %+v, notes %q", v, topo.Notes)
	}
	size := units.Bytes(0)
	for _, p := range i.Pools {
		if p.Type == "gcp-pd-ssd" {
			size = p.Size
		}
	}
	if size != 1000*units.GiB {
		t.Errorf("two disks of 500 GiB share what %v gives: %+v", size, i.Pools)
	}
}

// Volumes with caching and tiers are declared in a line or in keys.
func TestDeclareCachingAndTiers(t *testing.T) {
	d, err := topology.LoadDeclaration("plimsoll.yaml", []byte("instance: Standard_D8s_v3\narrays:\n"+
		"  - {name: a, role: data, level: raid0, volumes: {count: 2, type: P30, caching: ReadOnly}}\n"+
		"  - {name: b, role: wal, volumes: [P20 readwrite]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	a, b := topo.Arrays[0].Volumes, topo.Arrays[1].Volumes
	if len(a) != 2 || a[0].Type != "azure-premium" || a[0].Sustained.IOPS != 5000 || a[0].Caching != cloud.ReadOnly || a[0].Inferred || a[0].Size != units.TiB {
		t.Errorf("%+v", a)
	}
	if len(b) != 1 || b[0].Sustained.IOPS != 2300 || b[0].Caching != cloud.ReadWrite {
		t.Errorf("%+v", b)
	}
	for _, bad := range []string{"premium-v2 readonly", "P30 writeback", "P31", "P30 readonly readwrite"} {
		d, err := topology.LoadDeclaration("plimsoll.yaml", []byte("arrays:\n  - {name: a, role: data, volumes: ["+bad+"]}\n"))
		if err == nil {
			_, err = topology.FromDeclaration(d)
		}
		if err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
