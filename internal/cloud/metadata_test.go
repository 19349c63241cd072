package cloud

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

var onAzure = fstest.MapFS{
	"sys/class/dmi/id/sys_vendor":        {Data: []byte("Microsoft Corporation\n")},
	"sys/class/dmi/id/chassis_asset_tag": {Data: []byte("7783-7084-3265-9085-8269-3286-77\n")},
}

// recorded has the shape of the vendor's sample (instance-metadata-service.md, 1dc6d3b8a934), with a
// size that has limits.
const recorded = `{"compute":{"vmId":"13f56399-bd52-4150-9748-7190aae1ff21","vmSize":"Standard_D8s_v5","location":"westus","zone":"1",
"storageProfile":{"osDisk":{"caching":"ReadWrite","diskSizeGB":"30","managedDisk":{"storageAccountType":"Premium_LRS"}},
"dataDisks":[{"lun":"0","diskSizeGB":"1024","caching":"None","managedDisk":{"storageAccountType":"Premium_LRS"},"isUltraDisk":"false","opsPerSecondThrottle":"","bytesPerSecondThrottle":""},
{"lun":"4","diskSizeGB":"512","caching":"None","managedDisk":{"storageAccountType":"UltraSSD_LRS"},"isUltraDisk":"true","opsPerSecondThrottle":"65280","bytesPerSecondThrottle":"979202048"},
{"lun":"5","diskSizeGB":"64","caching":"None","managedDisk":{"storageAccountType":"PremiumV2_LRS"}},
{"lun":"6","diskSizeGB":"64","caching":"None","managedDisk":{"storageAccountType":""}}]}}}`

func TestAzureAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata") != "true" || r.URL.Query().Get("api-version") == "" || r.Header.Get("X-Forwarded-For") != "" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(recorded))
	}))
	t.Cleanup(server.Close)
	a := Azure{Endpoint: server.URL}
	id, err := a.Identify(t.Context(), onAzure)
	if err != nil || id.InstanceType != "Standard_D8s_v5" || id.Region != "westus" {
		t.Fatal(id, err)
	}
	if _, err := a.Identify(t.Context(), fstest.MapFS{"sys/class/dmi/id/sys_vendor": {Data: []byte("Microsoft Corporation")}}); !errors.Is(err, ErrNotThere) {
		t.Errorf("any Hyper-V is not Azure: %v", err)
	}
	found, err := a.Ordered(t.Context(), id, []Attached{
		{Device: "sda", Links: []string{"/dev/disk/azure/root"}},
		{Device: "sdc", Links: []string{"/dev/disk/azure/scsi1/lun0"}},
		{Device: "nvme0n6", Model: AzureRemoteModel},
		{Device: "nvme0n7", Model: AzureRemoteModel},
		{Device: "nvme0n8", Model: AzureRemoteModel},
		{Device: "sdz", Links: []string{"/dev/disk/azure/scsi1/lun9"}},
		{Device: "sdb", Links: []string{"/dev/disk/azure/resource"}},
	})
	if err != nil || len(found) != 4 {
		t.Fatalf("%+v %v", found, err)
	}
	if v := found[0]; v.On != "sda" || v.Caching != ReadWrite || v.Facts.Sustained.IOPS != 120 || !v.Facts.Inferred {
		t.Errorf("the OS disk is a P4 with caching: %+v", v)
	}
	if v := found[1]; v.On != "sdc" || v.Caching != Uncached || v.Facts.Sustained.IOPS != 5000 {
		t.Errorf("LUN 0 is a P30: %+v", v)
	}
	if v := found[2]; v.Facts.Type != "azure-ultra" || v.Facts.Sustained.IOPS != 65280 || v.Facts.Sustained.Rate != 979202048 {
		t.Errorf("namespace 6 is LUN 4, an Ultra disk: %+v", v)
	}
	if v := found[3]; v.Facts.Type != "azure-premium-v2" || v.Facts.Sustained.Known() || v.Doubt == "" {
		t.Errorf("what Premium SSD v2 was provisioned with is not told: %+v", v)
	}
}

func TestGoogleAnswers(t *testing.T) {
	found, err := (Google{}).ordered([]byte(`[{"deviceName":"disk-500g","index":1,"interface":"SCSI","mode":"READ_WRITE","type":"PERSISTENT-SSD"},
		{"deviceName":"hd","index":2,"interface":"NVME","mode":"READ_WRITE","type":"SOMETHING-NEW"}]`), []Attached{
		{Device: "sdb", Size: 500 * units.GiB, Links: []string{"/dev/disk/by-id/google-disk-500g"}},
		{Device: "nvme0n2", Size: 100 * units.GiB, Links: []string{"/dev/disk/by-id/google-hd"}},
		{Device: "sdc", Size: units.GiB},
	})
	if err != nil || len(found) != 2 {
		t.Fatalf("%+v %v", found, err)
	}
	if v := found[0]; v.Facts.Type != "gcp-pd-ssd" || v.Facts.Sustained.IOPS != 21000 || !v.Facts.Pooled {
		t.Errorf("%+v", v)
	}
	if v := found[1]; v.Facts.Type != "" || !strings.Contains(v.Doubt, "SOMETHING-NEW") {
		t.Errorf("%+v", v)
	}
	if _, err := (Google{}).ordered([]byte(`<html>`), nil); err == nil {
		t.Error("a page of HTML is no list of disks")
	}
}

// A service that never answers is asked twice, and no longer than a second and a bit.
func TestMetadataThatDoesNotAnswer(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	for _, status := range []struct {
		url, want string
	}{{server.URL, "no answer in 1 s"}, {"http://127.0.0.1:1", "name the size with --instance"}} {
		_, err := (Azure{Endpoint: status.url}).Identify(t.Context(), onAzure)
		if err == nil || !strings.Contains(err.Error(), status.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", status.url, err, status.want)
		}
	}
	ended, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := (Azure{Endpoint: server.URL}).Identify(ended, onAzure); err == nil {
		t.Error("the context had ended")
	}
}

func FuzzAzureInstance(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte(`{"compute":{}}`))
	bounded.Fuzz(f, func(t *testing.T, body []byte) {
		at, err := parseAzureInstance(body)
		if err != nil {
			return
		}
		for _, v := range at.ordered([]Attached{{Device: "sda", Links: []string{"/dev/disk/azure/root"}}, {Device: "nvme0n2", Model: AzureRemoteModel}}) {
			if v.On == "" || v.Spec.Type == "" {
				t.Errorf("%+v", v)
			}
		}
	})
}

func FuzzGoogleDisks(f *testing.F) {
	f.Add([]byte(`[{"deviceName":"a","type":"PERSISTENT"}]`))
	bounded.Fuzz(f, func(t *testing.T, body []byte) {
		found, err := (Google{}).ordered(body, []Attached{{Device: "sdb", Size: units.GiB, Links: []string{"/dev/disk/by-id/google-a"}}})
		if err == nil && len(found) > 0 && found[0].On != "sdb" {
			t.Errorf("%+v", found)
		}
	})
}
