package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/units"
)

// Which cloud a machine is on: by its firmware, or by the variables that lead to a metadata service; firmware that
// names one cloud comes before a variable of another.
func TestWhichCloudItIs(t *testing.T) {
	const asset = "7783-7084-3265-9085-8269-3286-77"
	for name, c := range map[string]struct {
		dmi  map[string]string
		env  map[string]string
		want string // words of At
		on   string // short names
	}{
		"nothing":           {nil, nil, "", ""},
		"EC2":               {map[string]string{"sys_vendor": "Amazon EC2\n"}, nil, "EC2", "aws"},
		"EC2's board":       {map[string]string{"sys_vendor": "x", "board_vendor": "Amazon EC2"}, nil, "EC2", "aws"},
		"EC2's BIOS":        {map[string]string{"bios_vendor": "Amazon EC2"}, nil, "EC2", "aws"},
		"not EC2":           {map[string]string{"sys_vendor": "Amazon EC2 x", "chassis_vendor": "Amazon EC2"}, nil, "", ""},
		"EC2's variable":    {nil, map[string]string{endpointVar: "http://x"}, "EC2", "aws"},
		"Azure":             {map[string]string{"chassis_asset_tag": asset + "\n"}, nil, "Azure", "azure"},
		"not Azure":         {map[string]string{"chassis_asset_tag": asset + "0", "sys_vendor": "Microsoft Corporation"}, nil, "", ""},
		"Google":            {map[string]string{"product_name": "Google Compute Engine\n"}, nil, "Google Cloud", "gcp"},
		"not Google":        {map[string]string{"product_name": "Google"}, nil, "", ""},
		"Google's variable": {nil, map[string]string{hostVar: "x:1"}, "Google Cloud", "gcp"},
		"Azure and EC2's variable": {
			map[string]string{"chassis_asset_tag": asset}, map[string]string{endpointVar: "http://x"}, "Azure", "aws azure",
		},
	} {
		t.Setenv(endpointVar, c.env[endpointVar])
		t.Setenv(hostVar, c.env[hostVar])
		root := fstest.MapFS{}
		for file, text := range c.dmi {
			root["sys/class/dmi/id/"+file] = &fstest.MapFile{Data: []byte(text)}
		}
		got := ""
		if p := At(root); p != nil {
			got = p.Terms().Cloud
		}
		var on []string
		for _, p := range Providers() {
			if p.On(root) {
				on = append(on, p.Terms().Short)
			}
		}
		if got != c.want || strings.Join(on, " ") != c.on {
			t.Errorf("%s: %q, on %q; want %q, on %q", name, got, on, c.want, c.on)
		}
	}
	for name, want := range map[string]string{
		"AWS": "EC2", "ec2": "EC2", "aws": "EC2", "azure": "Azure", "Google Cloud": "Google Cloud", "google": "Google Cloud", "GCP": "Google Cloud",
		"": "", "cloud": "", "amazon": "",
	} {
		got := ""
		if p := Named(name); p != nil {
			got = p.Terms().Cloud
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// What Google's metadata server says of its machine: the last part of a path that is a machine type.
func TestGoogleIdentifies(t *testing.T) {
	said, status := "", http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/computeMetadata/v1/instance/machine-type" || r.Header.Get("Metadata-Flavor") != "Google" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, said)
	}))
	t.Cleanup(server.Close)
	t.Setenv(hostVar, strings.TrimPrefix(server.URL, "http://"))
	for text, want := range map[string]string{
		"projects/1/machineTypes/n2-standard-8": "n2-standard-8", "projects/1/machineTypes/c4-standard-192\n": "c4-standard-192", "n2-custom-8-32768": "n2-custom-8-32768",
		"": "", "projects/1/machineTypes/": "", "<html>": "", "n2": "", "N2-standard-8": "", "n2-": "",
	} {
		said = text
		id, err := Google{}.Identify(t.Context(), fstest.MapFS{})
		if id != (Identity{InstanceType: want}) || (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "is not a machine type") {
			t.Errorf("%q: %+v %v, want %q", text, id, err, want)
		}
	}
	status = http.StatusNotFound
	if _, err := (Google{}).Identify(t.Context(), fstest.MapFS{}); err == nil || err.Error() != "Google metadata: 404 Not Found; a container may be kept from it: name the machine type with --instance" {
		t.Error(err)
	}
	t.Setenv(hostVar, "")
	if _, err := (Google{}).Identify(t.Context(), fstest.MapFS{}); !errors.Is(err, ErrNotThere) {
		t.Error(err)
	}
}

// An answer counts when it is whole and of the service itself: not one that was cut short, and not where it sends to.
func TestMetadataAnswers(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/short":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "only this")
		case "/elsewhere":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/created":
			w.WriteHeader(http.StatusCreated)
		case "/long":
			_, _ = w.Write(make([]byte, mostMetadata+1))
		default:
			fmt.Fprint(w, "whole")
		}
	}))
	t.Cleanup(server.Close)
	m := linkLocal{cloud: "Made", hint: "a hint"}
	for path, c := range map[string]struct {
		n   int // bytes
		err string
	}{
		"/":          {5, ""},
		"/long":      {1 << 20, ""},
		"/short":     {9, "unexpected EOF"},
		"/elsewhere": {0, "Made metadata: 302 Found; a hint"},
		"/created":   {0, "Made metadata: 201 Created; a hint"},
	} {
		asked = 0
		body, err := m.get(t.Context(), server.URL+path)
		if len(body) != c.n || asked != 1 || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %d bytes, asked %d times, %v; want %d and %q", path, len(body), asked, err, c.n, c.err)
		}
	}
	if _, err := m.get(t.Context(), "http://a b/"); err == nil || !strings.HasPrefix(err.Error(), "Made metadata: ") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.get(ended, server.URL); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// What the catalogue knows of a disk that Azure or Google attaches: by the place that the metadata has for it, and of the
// device's size where the metadata has none.
func TestDisksOfTheMetadata(t *testing.T) {
	disk := func(typ, gib, iops, rate string) azureDisk {
		d := azureDisk{LUN: "0", GiB: gib, IOPS: iops, Rate: rate, Caching: "ReadOnly"}
		d.Managed.Type = typ
		return d
	}
	at := Attached{Device: "sdc", Size: 100 * units.GiB}
	for name, c := range map[string]struct {
		d    azureDisk
		want VolumeSpec
		ok   bool
		says bool // what it was provisioned with
	}{
		"premium":                  {disk("Premium_LRS", "64", "9", "9"), VolumeSpec{Type: "azure-premium", Size: 64 * units.GiB}, true, true},
		"without a size":           {disk("Premium_LRS", "", "", ""), VolumeSpec{Type: "azure-premium", Size: 100 * units.GiB}, true, true},
		"premium v2":               {disk("PremiumV2_LRS", "64", "9", "9"), VolumeSpec{Type: "azure-premium-v2", Size: 64 * units.GiB}, true, false},
		"ultra":                    {disk("UltraSSD_LRS", "64", "5000", "1000000"), VolumeSpec{Type: "azure-ultra", Size: 64 * units.GiB, IOPS: 5000, Rate: 1e6}, true, true},
		"ultra, and nothing of it": {disk("UltraSSD_LRS", "64", "", ""), VolumeSpec{Type: "azure-ultra", Size: 64 * units.GiB}, true, false},
		"a type not known":         {disk("Other_LRS", "64", "", ""), VolumeSpec{}, false, false},
	} {
		v, ok := c.d.provisioned(at)
		if ok != c.ok || v.Spec != c.want || ok && (v.On != "sdc" || v.Caching != ReadOnly || v.Facts.Type != c.want.Type) {
			t.Errorf("%s: %+v %v", name, v, ok)
		}
		if ok && c.says == strings.Contains(v.Doubt, "declare its IOPS and throughput") {
			t.Errorf("%s: %q", name, v.Doubt)
		}
	}
	var list azureInstance
	list.Compute.Storage.OS, list.Compute.Storage.Data = disk("Premium_LRS", "30", "", ""), []azureDisk{disk("Premium_LRS", "64", "", ""), disk("Premium_LRS", "128", "", "")}
	list.Compute.Storage.Data[1].LUN = "7"
	var got []string
	linked := func(device, link string) Attached {
		return Attached{Device: device, Links: []string{"/dev/disk/azure/" + link}}
	}
	for _, v := range list.ordered([]Attached{
		linked("a", "scsi1/lun7"), linked("b", "os"), linked("c", "scsi1/lun0"), linked("d", "scsi1/lun1"), {Device: "e"},
	}) {
		got = append(got, v.On+" "+v.Spec.Size.String())
	}
	if strings.Join(got, ", ") != "a 128 GiB, b 30 GiB, c 64 GiB" {
		t.Errorf("%q", got)
	}
	found, err := Google{}.ordered([]byte(`[{"deviceName":"","type":"PERSISTENT"},{"deviceName":"x","type":"PERSISTENT-BALANCED"}]`), []Attached{
		{Device: "sdb", Size: units.GiB, Links: []string{"/dev/disk/by-id/google-"}},
		{Device: "sdc", Size: 10 * units.GiB, Links: []string{"/dev/disk/by-id/google-x"}},
		{Device: "sdd", Size: units.GiB, Links: []string{"/dev/disk/by-id/google-xx"}},
	})
	if err != nil || len(found) != 1 || found[0].On != "sdc" || found[0].Spec != (VolumeSpec{Type: "gcp-pd-balanced", Size: 10 * units.GiB}) || found[0].Doubt != "" {
		t.Errorf("%+v %v", found, err)
	}
}

// What each cloud tells of volumes and of credits, and what its prices are of.
func TestWhatCloudsTell(t *testing.T) {
	api(t, func(form map[string][]string) (int, string) {
		if len(form["VolumeId.1"]) != 1 || form["VolumeId.1"][0] != "vol-a" || len(form["VolumeId.2"]) != 0 {
			t.Errorf("asked for %v", form)
		}
		return 200, `<DescribeVolumesResponse><volumeSet>` + fmt.Sprintf(volumeXML, "vol-a", 50, "gp3", 6000, "") + `</volumeSet></DescribeVolumesResponse>`
	})
	machine := Identity{Region: "eu-west-1"}
	found, err := EC2{}.Ordered(t.Context(), machine, []Attached{{Device: "nvme0n1"}, {ID: "vol-a"}})
	if err != nil || len(found) != 1 || found[0].ID != "vol-a" {
		t.Errorf("%+v %v", found, err)
	}
	if found, err := (EC2{}).Ordered(t.Context(), machine, []Attached{{Device: "nvme0n1"}}); found != nil || err != nil {
		t.Errorf("nothing to ask for: %+v %v", found, err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/computeMetadata/v1/instance/disks/?recursive=true" {
			t.Errorf("%s", r.URL)
		}
		fmt.Fprint(w, `[{"deviceName":"x","type":"PERSISTENT-SSD"}]`)
	}))
	t.Setenv(hostVar, strings.TrimPrefix(server.URL, "http://"))
	one := []Attached{{Device: "sdb", Size: 10 * units.GiB, Links: []string{"/dev/disk/by-id/google-x"}}}
	if found, err := (Google{}).Ordered(t.Context(), Identity{}, one); err != nil || len(found) != 1 || found[0].Spec.Type != "gcp-pd-ssd" {
		t.Errorf("%+v %v", found, err)
	}
	server.Close()
	if found, err := (Google{}).Ordered(t.Context(), Identity{}, one); found != nil || err == nil {
		t.Errorf("%+v %v", found, err)
	}
	if found, err := (Azure{Endpoint: server.URL}).Ordered(t.Context(), Identity{}, one); found != nil || err == nil {
		t.Errorf("%+v %v", found, err)
	}
	for body, want := range map[string]string{
		"<html>": "Azure metadata: the answer is not what its version 2021-05-01 has", "{}": "Azure metadata: the answer has no vmSize", `{"compute":{"vmSize":"x"}}`: "",
	} {
		if at, err := parseAzureInstance([]byte(body)); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && at.Compute.Size != "x" {
			t.Errorf("%s: %+v %v", body, at, err)
		}
	}
	for _, p := range []*Provider{Named("azure"), Named("gcp")} {
		if left, err := p.Left(t.Context(), Identity{InstanceID: "i"}, []string{"v"}); err == nil || left.Volumes != nil {
			t.Errorf("%s: %+v", p.Terms().Cloud, left)
		}
		if p.Firmware(fstest.MapFS{"sys/class/dmi/id/product_name": {Data: []byte("c8g.2xlarge")}}) != (Identity{}) {
			t.Errorf("%s: its firmware tells nothing", p.Terms().Cloud)
		}
	}
	for region, p := range map[string]*Provider{"us-east-1": AWS(), "eastus": Named("azure"), "us-central1": Named("gcp")} {
		if prices := p.Prices(); prices.Region != region || len(prices.Instances) < 100 || prices.InstanceSource.AsOf < "2026" {
			t.Errorf("%s: %d prices of %s, %s", p.Terms().Cloud, len(prices.Instances), prices.Region, prices.InstanceSource)
		}
	}
	for links, want := range map[string]bool{"/dev/disk/azure/root": true, "/dev/disk/azure/scsi1/lun3": true, "/dev/disk/azure/resource": false, "": false} {
		if AzureRemote([]string{"/dev/disk/by-id/x", links}) != want {
			t.Errorf("%s: a remote disk", links)
		}
	}
	for trust, want := range map[Trust]string{Verified: "verified", Partial: "partial", Inferred: "inferred", Recalled: "not verified"} {
		if trust.String() != want {
			t.Errorf("%q: %s", string(trust), trust)
		}
	}
	types := []string{"a", "b"}
	for _, c := range []struct {
		limit Cap
		typ   string
		want  bool
	}{{Cap{Types: types}, "b", true}, {Cap{Types: types}, "c", false}, {Cap{Types: types, Cache: true}, "b", false}, {Cap{}, "b", false}} {
		if c.limit.For(c.typ) != c.want {
			t.Errorf("%+v for %s", c.limit, c.typ)
		}
	}
}
