package runs

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/report/page"
)

func inFormat(t *testing.T, f page.Format, d *page.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, f, d, page.Options{Details: true}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// No document is silent as annotations, and one that failed has an error.
func TestEveryKindIsAnnotated(t *testing.T) {
	t.Setenv("PLIMSOLL_SHOTS", "all kinds")
	all := kinds(t)
	all["hostile headline"] = &page.Document{Kind: "run", Head: page.Headline{Word: "50 % of\n::error::it\r, INVALID", Tone: "invalid"}}
	command := regexp.MustCompile(`^::(error|warning|notice) [^:\r\n]*title=[^:,\r\n]+::[^\r\n]+$`)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got := inFormat(t, page.GitHub, all[name])
		if got == "" {
			t.Errorf("%s says nothing", name)
		}
		for line := range strings.Lines(got) {
			if !command.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("%s: no annotation: %q", name, line)
			}
		}
		tone := all[name].Head.Tone
		if failed := tone == "fail" || tone == "invalid"; failed != strings.Contains(got, "::error ") {
			t.Errorf("%s is %q: %q", name, tone, got)
		}
	}
	for name, want := range map[string]string{
		"claim":            "::warning title=plimsoll::Yes, but only for 30 min once every 24 h: ",
		"sweep":            "::warning title=plimsoll::rand-read: peak ",
		"demand not met":   "::error title=plimsoll::None meets the demand. ",
		"probe":            "::notice title=plimsoll::md127: slow volume: nvme7n1 reaches 72.8 IOPS alone, 24.3 %25 of ",
		"suites":           "::notice title=plimsoll::10 suites\n",
		"hostile headline": "::error title=plimsoll::50 %25 of",
	} {
		if got := inFormat(t, page.GitHub, all[name]); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %q, want one of %q", name, got, want)
		}
	}
}
