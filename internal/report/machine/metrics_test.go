package machine

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose/live"
)

// What is written is OpenMetrics, replaced as a whole and counted up, and the rules and the dashboard of docs ask for
// what is in it and for nothing else.
func TestOpenMetrics(t *testing.T) {
	var last string
	m := Minutes{Out: &strings.Builder{}, Path: `/da"ta`, Metrics: func(text string) error { last = text; return nil }}
	minute := live.Minute{
		Span: time.Minute, Slow: 42 * time.Second, Whose: live.Theirs, First: "PL204", Subject: "nvme8n1", Wait: 634e6,
		Used: &[]live.LimitUse{{Of: "nvme8n1", Limit: "3,000 IOPS", Share: 0.97}},
	}
	m.Add(minute)
	m.Add(minute)
	for _, want := range []string{
		"# TYPE plimsoll_slow_seconds counter\n", "plimsoll_slow_seconds_total{path=\"/da\\\"ta\",whose=\"theirs\"} 84\n",
		"plimsoll_slow_seconds_total{path=\"/da\\\"ta\",whose=\"yours\"} 0\n", "plimsoll_io_wait_seconds{path=\"/da\\\"ta\"} 0.634\n",
		"plimsoll_first_cause{path=\"/da\\\"ta\",code=\"PL204\",subject=\"nvme8n1\"} 1\n",
		"plimsoll_limit_used_ratio{path=\"/da\\\"ta\",of=\"nvme8n1\",limit=\"3,000 IOPS\"} 0.97\n",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in\n%s", want, last)
		}
	}
	sample := regexp.MustCompile(`^([a-z_]+)\{[a-z_]+="(?:[^"\\]|\\.)*"(?:,[a-z_]+="(?:[^"\\]|\\.)*")*\} [0-9.e+-]+$`)
	var written []string
	for line := range strings.Lines(strings.TrimSuffix(last, "# EOF\n")) {
		if found := sample.FindStringSubmatch(strings.TrimSuffix(line, "\n")); found != nil {
			written = append(written, found[1])
		} else if !strings.HasPrefix(line, "# TYPE ") && !strings.HasPrefix(line, "# UNIT ") {
			t.Errorf("%q is no sample", line)
		}
	}
	if !strings.HasSuffix(last, "# EOF\n") {
		t.Error("no end")
	}
	t.Run("the format's own parser", func(t *testing.T) {
		const read = "import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as f\n" +
			"print(sum(len(m.samples) for m in f(sys.stdin.read())))"
		if exec.Command("python3", "-c", "import prometheus_client.openmetrics.parser").Run() != nil {
			t.Skip("SKIPPED: python3 has no prometheus_client: pip install prometheus_client")
		}
		cmd := exec.Command("python3", "-c", read)
		cmd.Stdin = strings.NewReader(last)
		out, err := cmd.CombinedOutput()
		if n := strings.TrimSpace(string(out)); err != nil || n != strconv.Itoa(len(written)) {
			t.Errorf("%d samples were written, its parser says: %v %s", len(written), err, out)
		}
	})
	for _, name := range []string{"plimsoll.rules.yml", "plimsoll.dashboard.json"} {
		data, err := os.ReadFile("../../../docs/prometheus/" + name)
		if err != nil {
			t.Fatal(err)
		}
		asked := regexp.MustCompile(`\bplimsoll_[a-z_]+\b`).FindAllString(string(data), -1)
		if len(asked) < 3 {
			t.Errorf("%s asks for %v", name, asked)
		}
		for _, a := range asked {
			if a != "plimsoll_slow" && !slices.Contains(written, a) {
				t.Errorf("%s asks for %s, which is not written", name, a)
			}
		}
	}
}
