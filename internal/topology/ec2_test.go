package topology_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// onEC2 starts servers that speak IMDSv2 and the EC2 query protocol, and points the standard variables at them.
func onEC2(t *testing.T) {
	t.Helper()
	imds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPut:
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			fmt.Fprint(w, "token")
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "token":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			fmt.Fprint(w, `{"instanceId":"i-0abc","instanceType":"c8g.2xlarge","region":"eu-west-1","availabilityZone":"eu-west-1a"}`)
		}
	}))
	t.Cleanup(imds.Close)
	ec2 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		fmt.Fprint(w, `<?xml version="1.0"?><DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><volumeSet>`)
		for key, values := range r.Form {
			if strings.HasPrefix(key, "VolumeId.") {
				fmt.Fprintf(w, `<item><volumeId>%s</volumeId><size>50</size><status>in-use</status><volumeType>gp3</volumeType><iops>6000</iops><throughput>250</throughput></item>`, values[0])
			}
		}
		fmt.Fprint(w, `</volumeSet></DescribeVolumesResponse>`)
	}))
	t.Cleanup(ec2.Close)
	empty := filepath.Join(t.TempDir(), "none")
	for k, v := range map[string]string{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.URL, "AWS_ENDPOINT_URL_EC2": ec2.URL, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": empty, "AWS_SHARED_CREDENTIALS_FILE": empty,
	} {
		t.Setenv(k, v)
	}
}

// On EC2 the instance and what its volumes were ordered with are asked for; a captured machine asks nobody, and what is declared wins.
func TestDetectAsksEC2(t *testing.T) {
	onEC2(t)
	m := machine(t, "ec2-16xgp3-raid10", nil)
	paths := map[topology.Role]string{topology.Data: "/data"}
	t.Run("captured", func(t *testing.T) {
		topo, err := topology.Detect(t.Context(), m, paths, nil)
		if err != nil {
			t.Fatal(err)
		}
		if v := topo.Arrays[0].Volumes[0]; v.Sustained.Known() {
			t.Errorf("a captured machine has limits from the API: %+v", v)
		}
	})
	m.Here = true
	topo, err := topology.Detect(t.Context(), m, paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := topo.Instance; i.Type != "c8g.2xlarge" || i.ID != "i-0abc" || i.Baseline.IOPS != 12000 {
		t.Errorf("instance %+v", i)
	}
	for _, v := range topo.Arrays[0].Volumes {
		if v.Type != "gp3" || v.Sustained.IOPS != 6000 || v.Sustained.Rate != 250*units.MiBPerSec || v.Origin.Kind != topology.Detected {
			t.Errorf("volume %+v", v)
		}
	}
	decl, err := topology.FromFlags("8xgp3", "raid10", "64KiB", "")
	if err != nil {
		t.Fatal(err)
	}
	if topo, err = topology.Detect(t.Context(), m, paths, decl); err != nil {
		t.Fatal(err)
	}
	if v := topo.Arrays[0].Volumes[0]; v.Sustained.IOPS != 3000 || v.Origin.Kind == topology.Detected {
		t.Errorf("declared, and yet %+v", v)
	}
}
