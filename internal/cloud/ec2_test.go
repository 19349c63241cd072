package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"plimsoll/internal/units"
)

// metadata speaks IMDSv2: a token by PUT with a lifetime, and nothing without it.
func metadata(t *testing.T, document string) *httptest.Server {
	t.Helper()
	const token = "AQAEAExampleToken=="
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut && r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") != "":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
			fmt.Fprint(w, token)
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != token:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/latest/dynamic/instance-identity/document":
			fmt.Fprint(w, document)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL)
	return s
}

func TestIdentify(t *testing.T) {
	metadata(t, `{"instanceId":"i-0e34149470c56bdc9","instanceType":"c8g.2xlarge","region":"eu-central-1","availabilityZone":"eu-central-1a","imageId":"ami-1"}`)
	got, err := EC2{}.Identify(t.Context(), fstest.MapFS{})
	if want := (Identity{"i-0e34149470c56bdc9", "c8g.2xlarge", "eu-central-1", "eu-central-1a", "ami-1"}); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
}

func TestIdentifyElsewhere(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "")
	if _, err := (EC2{}).Identify(t.Context(), fstest.MapFS{"sys/class/dmi/id/sys_vendor": {Data: []byte("QEMU\n")}}); !errors.Is(err, ErrNotThere) {
		t.Errorf("QEMU: %v", err)
	}
	if !(EC2{}).On(fstest.MapFS{"sys/class/dmi/id/sys_vendor": {Data: []byte("Amazon EC2\n")}}) {
		t.Error("the firmware says Amazon EC2")
	}
	if _, err := (EC2{}).Identify(t.Context(), os.DirFS(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, ErrNotThere) {
		t.Errorf("nothing: %v", err)
	}
}

// A service whose first answer is lost is asked once more; one that never answers is asked twice;
// one that refuses tokens is not asked by the older protocol.
func TestIdentifyTries(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for _, c := range []struct {
		lost int32 // tokens that are never answered
		want string
	}{{0, ""}, {1, ""}, {2, "no answer in 1 s"}} {
		var tokens atomic.Int32
		release := make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				if tokens.Add(1) <= c.lost {
					<-release
					return
				}
				w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			}
			fmt.Fprint(w, `{"instanceId":"i-0abc","instanceType":"c8g.2xlarge"}`)
		}))
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", slow.URL)
		if c.want == "" { // an answer is waited for however busy this machine is
			t.Setenv("AWS_METADATA_SERVICE_TIMEOUT", map[bool]string{true: "2", false: "60"}[c.lost == 1])
		} else {
			t.Setenv("AWS_METADATA_SERVICE_TIMEOUT", "")
		}
		id, err := EC2{}.Identify(t.Context(), fstest.MapFS{})
		close(release)
		slow.Close()
		if c.want == "" && (err != nil || id.InstanceType != "c8g.2xlarge") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d answers lost: %+v, %v", c.lost, id, err)
		}
		if n := tokens.Load(); n != c.lost+1 && c.want == "" || n > 2 {
			t.Errorf("%d answers lost: asked %d times", c.lost, n)
		}
	}
}

// Nobody who refuses tokens is asked by the older protocol.
func TestIdentifyNeedsTokens(t *testing.T) {
	asked := 0
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			asked++
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(old.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", old.URL)
	if _, err := (EC2{}).Identify(t.Context(), fstest.MapFS{}); err == nil || asked > 0 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, %d requests without a token", err, asked)
	}
}

// An answer without an end is not read to its end, whichever it is: the token, or the document.
func TestMetadataWithoutEnd(t *testing.T) {
	for _, endless := range []string{http.MethodPut, http.MethodGet} {
		var sent atomic.Int64
		piece := []byte(strings.Repeat("x", 64<<10))
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			if r.Method != endless {
				fmt.Fprint(w, "token")
				return
			}
			for n := 0; sent.Load() < 1<<30; sent.Add(int64(n)) {
				var err error
				if n, err = w.Write(piece); err != nil {
					return
				}
			}
		}))
		t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL)
		t.Setenv("AWS_METADATA_SERVICE_TIMEOUT", "60")
		id, err := EC2{}.Identify(t.Context(), fstest.MapFS{})
		s.Close()
		if n := sent.Load(); err == nil || n > 64<<20 { // what the kernel's buffers take is sent, too
			t.Errorf("%s: %+v, %v, %d MiB sent", endless, id, err, n>>20)
		}
	}
}

const volumeXML = `<item><volumeId>%s</volumeId><size>%d</size><status>in-use</status><volumeType>%s</volumeType><iops>%d</iops>%s
<attachmentSet><item><volumeId>%[1]s</volumeId><instanceId>i-1</instanceId><device>/dev/sdf</device><status>attached</status></item></attachmentSet></item>`

// api speaks the EC2 query protocol: signed form in, XML out.
func api(t *testing.T, answer func(form map[string][]string) (int, string)) {
	t.Helper()
	serve(t, "EC2", "ec2", "DescribeVolumes", "2016-11-15", answer)
}

// serve starts a service of the query protocol that knows one action, and points the standard
// variables at it.
func serve(t *testing.T, id, signedFor, action, version string, answer func(form map[string][]string) (int, string)) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") ||
			!strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/"+signedFor+"/aws4_request") {
			t.Errorf("%s %v", r.Method, r.Header)
		}
		if err := r.ParseForm(); err != nil || r.Form.Get("Action") != action || r.Form.Get("Version") != version {
			t.Errorf("form %v %v", r.Form, err)
		}
		code, body := answer(r.Form)
		w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	empty := filepath.Join(t.TempDir(), "none")
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_EC2": "", "AWS_ENDPOINT_URL_CLOUDWATCH": "", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "",
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": empty, "AWS_SHARED_CREDENTIALS_FILE": empty,
		"AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(k, v)
	}
	t.Setenv("AWS_ENDPOINT_URL_"+id, s.URL)
}

func TestDescribeVolumes(t *testing.T) {
	api(t, func(form map[string][]string) (int, string) {
		page := func(items, next string) (int, string) {
			return 200, `<?xml version="1.0" encoding="UTF-8"?><DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><volumeSet>` +
				items + `</volumeSet>` + next + `</DescribeVolumesResponse>`
		}
		if len(form["NextToken"]) == 0 {
			return page(fmt.Sprintf(volumeXML, "vol-b", 3000, "gp2", 9000, ""), "<nextToken>more</nextToken>")
		}
		return page(fmt.Sprintf(volumeXML, "vol-a", 50, "gp3", 6000, "<throughput>250</throughput>")+
			fmt.Sprintf(volumeXML, "vol-c", 10, "gp3", 99000, "<throughput>125</throughput>"), "")
	})
	got, err := DescribeVolumes(t.Context(), "eu-west-1", []string{"vol-a", "vol-b", "vol-c", "vol-gone"})
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	if a := got[0]; a.ID != "vol-a" || a.Spec != (VolumeSpec{Type: "gp3", Size: 50 * units.GiB, IOPS: 6000, Rate: 250 * units.MiBPerSec}) || a.Device != "/dev/sdf" || a.Facts.Sustained.IOPS != 6000 || a.Doubt != "" {
		t.Errorf("%+v", a)
	}
	if b := got[1]; b.Facts.Sustained != (Limits{IOPS: 9000, Rate: 250 * units.MiBPerSec}) || b.Doubt != "" {
		t.Errorf("gp2: %+v", b)
	}
	// What the API says beats the catalogue's rules, which may have aged.
	if c := got[2]; c.Facts.Sustained.IOPS != 99000 || !strings.Contains(c.Doubt, "above its maximum") {
		t.Errorf("beyond the catalogue: %+v", c)
	}
}

// A captive portal answers anything, and with success.
func TestDescribeVolumesGarbage(t *testing.T) {
	for _, body := range []string{"", "<html><body>log in", "{}"} {
		api(t, func(map[string][]string) (int, string) { return 200, body })
		if got, err := DescribeVolumes(t.Context(), "eu-west-1", []string{"vol-a"}); err == nil || !strings.HasPrefix(err.Error(), "EC2 API: ") {
			t.Errorf("%q: %v %v", body, got, err)
		}
	}
	api(t, func(map[string][]string) (int, string) { return 502, "bad gateway" })
	if _, err := DescribeVolumes(t.Context(), "eu-west-1", []string{"vol-a"}); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("%v", err)
	}
	if _, err := DescribeVolumes(t.Context(), "evil.example/x?", []string{"vol-a"}); err == nil || !strings.Contains(err.Error(), "region") {
		t.Errorf("%v", err)
	}
}

func TestDescribeVolumesRefused(t *testing.T) {
	api(t, func(map[string][]string) (int, string) {
		return 403, `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized to perform this operation.</Message></Error></Errors><RequestID>r</RequestID></Response>`
	})
	_, err := DescribeVolumes(t.Context(), "eu-west-1", []string{"vol-a"})
	if err == nil || !strings.Contains(err.Error(), "UnauthorizedOperation") || strings.Contains(err.Error(), "operation error") {
		t.Errorf("%v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err = DescribeVolumes(t.Context(), "eu-west-1", []string{"vol-a"}); err == nil || !strings.Contains(err.Error(), "no credentials") {
		t.Errorf("%v", err)
	}
	if _, err = DescribeVolumes(t.Context(), "", []string{"vol-a"}); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("%v", err)
	}
	if got, err := DescribeVolumes(context.Background(), "", nil); got != nil || err != nil {
		t.Error("nothing asked, nothing said")
	}
}
