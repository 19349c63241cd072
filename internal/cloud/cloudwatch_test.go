package cloud

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"plimsoll/internal/sys/bounded"
)

// watch speaks GetMetricData of CloudWatch.
func watch(t *testing.T, answer func(form map[string][]string) (int, string)) {
	t.Helper()
	serve(t, "CLOUDWATCH", "monitoring", "GetMetricData", "2010-08-01", answer)
}

// page is an answer: results and the token of the next page.
func page(results, next string) string {
	if next != "" {
		next = "<NextToken>" + next + "</NextToken>"
	}
	return `<GetMetricDataResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><GetMetricDataResult><MetricDataResults>` + results +
		`</MetricDataResults><Messages/>` + next + `</GetMetricDataResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></GetMetricDataResponse>`
}

// result is the values of one metric; at and values go in pairs.
func result(id, label, status string, pairs ...string) string {
	var times, values string
	for i := 0; i+1 < len(pairs); i += 2 {
		times += "<member>" + pairs[i] + "</member>"
		values += "<member>" + pairs[i+1] + "</member>"
	}
	return `<member><Id>` + id + `</Id><Label>` + label + `</Label><StatusCode>` + status + `</StatusCode><Timestamps>` + times + `</Timestamps><Values>` + values + `</Values></member>`
}

func first(form map[string][]string, key string) string {
	if v := form[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Both of the instance and those of two volumes come in two pages, of which the second has the
// newer value of one and none of the other.
func TestBurstBalances(t *testing.T) {
	var end time.Time
	ago := func(minutes int) string {
		return end.Add(-time.Duration(minutes) * time.Minute).Format("2006-01-02T15:04:05Z")
	}
	calls := 0
	watch(t, func(form map[string][]string) (int, string) {
		calls++
		var err error
		if end, err = time.Parse(time.RFC3339, first(form, "EndTime")); err != nil {
			t.Error(err)
		}
		if start, err := time.Parse(time.RFC3339, first(form, "StartTime")); err != nil || end.Sub(start) != time.Hour {
			t.Errorf("from %v to %v: %v", start, end, err)
		}
		var asked []string
		for i := 1; first(form, fmt.Sprintf("MetricDataQueries.member.%d.Id", i)) != ""; i++ {
			of := func(key string) string {
				return first(form, fmt.Sprintf("MetricDataQueries.member.%d.MetricStat.%s", i, key))
			}
			asked = append(asked, strings.Join([]string{
				of("Metric.Namespace"), of("Metric.MetricName"), of("Metric.Dimensions.member.1.Name"), of("Metric.Dimensions.member.1.Value"), of("Period"), of("Stat"),
			}, " "))
		}
		want := "AWS/EC2 EBSIOBalance% InstanceId i-0abc 300 Minimum; AWS/EC2 EBSByteBalance% InstanceId i-0abc 300 Minimum; " +
			"AWS/EBS BurstBalance VolumeId vol-a 60 Minimum; AWS/EBS BurstBalance VolumeId vol-idle 60 Minimum"
		if got := strings.Join(asked, "; "); got != want {
			t.Errorf("asked for\n%s\nwant\n%s", got, want)
		}
		if first(form, "NextToken") == "" {
			return 200, page(result("m2", "BurstBalance", "PartialData", ago(9), "61.5", ago(10), "62")+result("m0", "EBSIOBalance%", "Complete", ago(5), "100.0"), "more")
		}
		return 200, page(result("m2", "BurstBalance", "Complete", ago(3), "15.25")+result("m1", "EBSByteBalance%", "Complete", ago(5), "0")+result("m3", "BurstBalance", "Complete"), "")
	})
	b, err := BurstBalances(t.Context(), "eu-west-1", "i-0abc", []string{"vol-a", "vol-idle"})
	if err != nil || calls != 2 {
		t.Fatal(err, calls)
	}
	if v, ok := b.Volumes["vol-a"]; len(b.Volumes) != 1 || !ok || v.Left != 0.1525 || !v.At.Equal(end.Add(-3*time.Minute)) {
		t.Errorf("volumes %+v", b.Volumes)
	}
	// Nothing left is a value, and not the lack of one.
	if b.InstanceIO == nil || b.InstanceIO.Left != 1 || b.InstanceRate == nil || b.InstanceRate.Left != 0 {
		t.Errorf("instance %+v %+v", b.InstanceIO, b.InstanceRate)
	}
}

// More metrics than a call takes are asked for in several.
func TestBurstBalancesOfMany(t *testing.T) {
	var volumes []string
	for i := range 700 {
		volumes = append(volumes, fmt.Sprintf("vol-%03d", i))
	}
	var counts []int
	watch(t, func(form map[string][]string) (int, string) {
		n := 0
		for first(form, fmt.Sprintf("MetricDataQueries.member.%d.Id", n+1)) != "" {
			n++
		}
		counts = append(counts, n)
		last := strconv.Itoa(n - 1)
		return 200, page(result("m"+last, "BurstBalance", "Complete", first(form, "StartTime"), "50"), "")
	})
	b, err := BurstBalances(t.Context(), "eu-west-1", "", volumes)
	if err != nil || fmt.Sprint(counts) != "[500 200]" {
		t.Fatal(err, counts)
	}
	if len(b.Volumes) != 2 || b.Volumes["vol-499"].Left != 0.5 || b.Volumes["vol-699"].Left != 0.5 {
		t.Errorf("%v", b.Volumes)
	}
}

func TestBurstBalancesRefused(t *testing.T) {
	document := func(code, message string) string {
		return `<ErrorResponse xmlns="http://monitoring.amazonaws.com/doc/2010-08-01/"><Error><Type>Sender</Type><Code>` + code + `</Code><Message>` + message +
			`</Message></Error><RequestId>r</RequestId></ErrorResponse>`
	}
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{403, document("AccessDenied", "User: arn:aws:sts::1:assumed-role/db/i-0abc is not authorized to perform: cloudwatch:GetMetricData"), "CloudWatch: AccessDenied: User: arn:aws:sts::1:assumed-role/db/i-0abc is not authorized to perform: cloudwatch:GetMetricData"},
		{403, document("AccessDenied", "no"), "CloudWatch: AccessDenied: no: the permission cloudwatch:GetMetricData is missing"},
		{400, document("Throttling", "Rate exceeded"), "CloudWatch: Throttling: Rate exceeded"},
		{502, "bad gateway", "CloudWatch: HTTP: 502 Bad Gateway"},
		{200, "<html><body>log in</body></html>", "CloudWatch: the answer is not XML: expected element type <GetMetricDataResponse> but have <html>"},
		{200, "", "CloudWatch: the answer is not XML: EOF"},
		{200, page("", "again"), "CloudWatch: the answer has no end after 20 pages"},
	} {
		watch(t, func(map[string][]string) (int, string) { return c.status, c.body })
		if b, err := BurstBalances(t.Context(), "eu-west-1", "i-0abc", nil); err == nil || err.Error() != c.want {
			t.Errorf("%v %v, want %s", b, err, c.want)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := BurstBalances(t.Context(), "eu-west-1", "i-0abc", nil); err == nil || err.Error() != "CloudWatch: no credentials: give the instance a role with cloudwatch:GetMetricData" {
		t.Errorf("%v", err)
	}
}

// With nothing to ask for nobody is asked: here there is no region, which would be an error.
func TestBurstBalancesOfNothing(t *testing.T) {
	if b, err := BurstBalances(t.Context(), "", "", nil); err != nil || len(b.Volumes) != 0 {
		t.Error(b, err)
	}
}

func TestEndpoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	const services = "[default]\nservices = mine\nendpoint_url = http://file\n[services mine]\ncloudwatch =\n  endpoint_url = http://file-cloudwatch\n"
	if err := os.WriteFile(file, []byte(services), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ all, own, file, ignore, region, want string }{
		{"", "", "", "", "eu-west-1", "https://monitoring.eu-west-1.amazonaws.com"},
		{"", "", "", "", "cn-north-1", "https://monitoring.cn-north-1.amazonaws.com.cn"},
		{"http://all", "", "", "", "eu-west-1", "http://all"},
		{"http://all", "http://own", "", "", "eu-west-1", "http://own"},
		{"", "", file, "", "eu-west-1", "http://file-cloudwatch"},
		{"http://all", "", file, "", "eu-west-1", "http://all"},
		{"http://all", "http://own", file, "true", "eu-west-1", "https://monitoring.eu-west-1.amazonaws.com"},
	} {
		for k, v := range map[string]string{
			"AWS_ENDPOINT_URL": c.all, "AWS_ENDPOINT_URL_CLOUDWATCH": c.own, "AWS_CONFIG_FILE": c.file, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": c.ignore,
			"AWS_REGION": c.region, "AWS_PROFILE": "", "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(t.TempDir(), "none"),
		} {
			t.Setenv(k, v)
		}
		cfg, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := cloudWatch.endpoint(t.Context(), cfg); got != c.want {
			t.Errorf("%+v: %s (base %s)", c, got, aws.ToString(cfg.BaseEndpoint))
		}
	}
}

// Whatever comes, a balance is a share, of the time that was asked for.
func FuzzMetricAnswer(f *testing.F) {
	to := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	from := to.Add(-balanceWindow)
	good := result("m0", "BurstBalance", "Complete", "2026-11-21T11:55:00Z", "42")
	for _, s := range []string{
		page(good, ""), page(result("m1", "", "", "2026-11-21T11:55:00Z", "NaN"), "x"), page(result("m-1", "", "", "2027-01-01T00:00:00Z", "1e999"), ""),
		page(result("m99999999999999999999", "", ""), ""), strings.Replace(page(good, ""), "<member>42</member>", "", 1), "<a>", "",
	} {
		f.Add([]byte(s))
	}
	bounded.Fuzz(f, func(t *testing.T, text []byte) {
		var a metricAnswer
		if xml.Unmarshal(text, &a) != nil {
			return
		}
		found := make([]*Balance, 2)
		a.into(found, from, to)
		for _, b := range found {
			if b != nil && (math.IsNaN(b.Left) || b.Left < 0 || b.Left > 1 || b.At.After(to) || b.At.Before(from.Add(-5*time.Minute))) {
				t.Errorf("%+v", *b)
			}
		}
	})
}

// A service that never answers is given up when the time is over, and the error says so in plain
// words.
func TestBurstBalancesBudget(t *testing.T) {
	release := make(chan struct{})
	watch(t, func(map[string][]string) (int, string) {
		<-release
		return 500, ""
	})
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := BurstBalances(ctx, "eu-west-1", "i-0abc", nil); err == nil || err.Error() != "CloudWatch: no answer in 5 s" {
		t.Error(err)
	}
}
