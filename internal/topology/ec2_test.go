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

// onEC2 starts servers that speak IMDSv2 and the query protocol of EC2 and CloudWatch, and points
// the standard variables at them. The volumes are of one type. Left is the last value of a metric
// by its name and, of volumes, its id; nil for who may not ask.
func onEC2(t *testing.T, typ string, left map[string]string) {
	t.Helper()
	watch := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.Form.Get("Action") != "GetMetricData" {
			t.Errorf("%v %v", r.Form, err)
		}
		if left == nil {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not allowed</Message></Error></ErrorResponse>`)
			return
		}
		fmt.Fprint(w, `<GetMetricDataResponse><GetMetricDataResult><MetricDataResults>`)
		for i := 1; r.Form.Has(fmt.Sprintf("MetricDataQueries.member.%d.Id", i)); i++ {
			query := fmt.Sprintf("MetricDataQueries.member.%d.", i)
			name, of := r.Form.Get(query+"MetricStat.Metric.MetricName"), r.Form.Get(query+"MetricStat.Metric.Dimensions.member.1.Value")
			value, ok := left[strings.TrimPrefix(name+" "+of, "BurstBalance ")]
			fmt.Fprintf(w, `<member><Id>%s</Id><StatusCode>Complete</StatusCode>`, r.Form.Get(query+"Id"))
			if ok {
				fmt.Fprintf(w, `<Timestamps><member>%s</member></Timestamps><Values><member>%s</member></Values>`, r.Form.Get("EndTime"), value)
			}
			fmt.Fprint(w, `</member>`)
		}
		fmt.Fprint(w, `</MetricDataResults></GetMetricDataResult></GetMetricDataResponse>`)
	}))
	t.Cleanup(watch.Close)
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
	t.Setenv("AWS_METADATA_SERVICE_TIMEOUT", "60") // this machine may be busy
	ec2 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		fmt.Fprint(w, `<?xml version="1.0"?><DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><volumeSet>`)
		for key, values := range r.Form {
			if strings.HasPrefix(key, "VolumeId.") {
				provisioned := "<iops>6000</iops><throughput>250</throughput>"
				typ := typ
				if _, rest, ok := strings.Cut(typ, values[0]+"="); ok { // "vol-1=io2 vol-2=gp3"
					typ, _, _ = strings.Cut(rest, " ")
				}
				if typ == "io2" {
					provisioned = "<iops>6000</iops>"
				}
				if typ == "gp2" {
					provisioned = "<iops>150</iops>"
				}
				fmt.Fprintf(w, `<item><volumeId>%s</volumeId><size>50</size><status>in-use</status><volumeType>%s</volumeType>%s</item>`, values[0], typ, provisioned)
			}
		}
		fmt.Fprint(w, `</volumeSet></DescribeVolumesResponse>`)
	}))
	t.Cleanup(ec2.Close)
	empty := filepath.Join(t.TempDir(), "none")
	for k, v := range map[string]string{
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.URL, "AWS_ENDPOINT_URL_EC2": ec2.URL, "AWS_ENDPOINT_URL_CLOUDWATCH": watch.URL, "AWS_ENDPOINT_URL": "", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": empty, "AWS_SHARED_CREDENTIALS_FILE": empty,
	} {
		t.Setenv(k, v)
	}
}

// On EC2 the instance and what its volumes were ordered with are asked for; a captured machine asks
// nobody, and what is declared wins.
func TestDetectAsksEC2(t *testing.T) {
	onEC2(t, "gp3", map[string]string{"EBSIOBalance% i-0abc": "97.5", "EBSByteBalance% i-0abc": "0"})
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
	if i := topo.Instance; i.IOBalance == nil || i.IOBalance.Left != 0.975 || i.RateBalance == nil || i.RateBalance.Left != 0 || i.RateBalance.At.IsZero() {
		t.Errorf("balances of the instance %+v %+v", i.IOBalance, i.RateBalance)
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

// Of volumes with credits the balance is asked for, also of a type that is declared; of others it
// is not.
func TestDetectAsksBalances(t *testing.T) {
	m := machine(t, "ec2-16xgp3-raid10", nil)
	m.Here = true
	detect := func(decl *topology.Declaration) *topology.Topology {
		topo, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: "/data"}, decl)
		if err != nil {
			t.Fatal(err)
		}
		return topo
	}
	volumes := func(topo *topology.Topology) (told []string) {
		for _, v := range topo.Arrays[0].Volumes {
			if v.Balance != nil {
				told = append(told, fmt.Sprintf("%s %.2f", v.Device, v.Balance.Left))
			}
		}
		return told
	}
	const one, two = "vol-0a1b2c3d4e5f60001", "vol-0a1b2c3d4e5f60002"
	left := map[string]string{"EBSIOBalance% i-0abc": "100", "EBSByteBalance% i-0abc": "100", one: "12.4", two: "100"}

	onEC2(t, "gp2", left)
	topo := detect(nil)
	if got := strings.Join(volumes(topo), ", "); got != "nvme1n1 0.12, nvme2n1 1.00" {
		t.Errorf("balances %s", got)
	}
	want := "the burst balance of vol-0a1b2c3d4e5f60003, vol-0a1b2c3d4e5f60004 and 4 more is not known: " +
		"CloudWatch has no value for the last hour; it gets none for idle or new volumes"
	if len(topo.Notes) != 1 || topo.Notes[0] != want {
		t.Errorf("notes %q", topo.Notes)
	}
	gp3, err := topology.FromFlags("8xgp3", "raid10", "64KiB", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := volumes(detect(gp3)); got != nil {
		t.Errorf("declared to have no credits, and yet %v", got)
	}

	onEC2(t, "gp3", left)
	if topo = detect(nil); volumes(topo) != nil || len(topo.Notes) > 0 {
		t.Errorf("gp3 has balances %v, notes %q", volumes(topo), topo.Notes)
	}
	gp2, err := topology.FromFlags("8xgp2", "raid10", "64KiB", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := volumes(detect(gp2)); len(got) != 2 {
		t.Errorf("declared as gp2: balances %v", got)
	}
	larger, err := topology.FromFlags("", "", "", "m5.12xlarge")
	if err != nil {
		t.Fatal(err)
	}
	if i := detect(larger).Instance; i.IOBalance != nil || i.RateBalance != nil {
		t.Errorf("another instance is declared, with this one's balances: %+v", i)
	}

	onEC2(t, "gp2", nil)
	topo = detect(nil)
	want = "the burst balance of c8g.2xlarge, vol-0a1b2c3d4e5f60001 and 7 more is not known: " +
		"CloudWatch: AccessDenied: not allowed: the permission cloudwatch:GetMetricData is missing"
	if len(topo.Notes) != 1 || topo.Notes[0] != want {
		t.Errorf("notes %q, want %q", topo.Notes, want)
	}
}
