package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var runID = regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z`)

// Every "$ plimsoll" block of compare.md shows what the command prints after the imports that the
// page names.
func TestComparePageIsTrue(t *testing.T) {
	file, err := filepath.Abs("../../docs/compare.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := filepath.Abs("../../testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(seeds, "seeds"); err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile("(?s)```yaml\n(name: allowed.*?)```").FindSubmatch(page)
	if table == nil {
		t.Fatal("the page has no table of expected figures")
	}
	if err := os.WriteFile("allowed.yaml", table[1], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^plimsoll (import .*)$`).FindAllStringSubmatch(string(page), -1) {
		printed(t, line[1])
	}
	printed(t, "import seeds/striped-8xnvme-rounds.md --out rounds") // for what is asked below
	printed(t, "import seeds/MS-28k-r-r-15.log seeds/MS-28k-r-r-16.log --volumes 4xP4510 --level raid0 --chunk 512KiB "+
		"--out logs")
	shown := 0
	for block := range strings.SplitSeq(string(page), "```") {
		command, want, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(block, "console"), "\n"), "\n")
		command, typed := strings.CutPrefix(command, "$ plimsoll ")
		if !ok || !typed {
			continue
		}
		shown++
		raw, was := printed(t, command), want
		got := runID.ReplaceAllString(raw, "ID")
		if want = runID.ReplaceAllString(want, "ID"); !shows(want, got) && !rewrite(t, file, was, raw) {
			t.Errorf("plimsoll %s prints\n%s\nthe page shows\n%s", command, got, want)
		}
	}
	if shown != 2 {
		t.Errorf("%d commands, want 2", shown)
	}
	// What the issue asks for, whatever the page says.
	for command, wants := range map[string][]string{
		"compare --by instance ebs --details": {
			`c6a\.xlarge +1 +40,065 +100\.2 % +6,000 .*x2\.50 in bursts, x1\.00 sustained  cannot tell: one run per side`,
			`m6a\.xlarge +1 +40,041 `, `r6a\.xlarge +1 +40,067 `, `m5a\.xlarge +1 +16,030 +100\.2 %`,
		},
		"compare rounds --details": {`round-11 +1 +137,000`, `round-15 +1 +137,000`, `round-16 +1 +238,000`},
		"compare logs --details":   {`r-15-28k_r_r +1 +136,529`, `r-16-28k_r_r +MS-28k-r-r-16.log +238,133 INVALID +PL401`},
	} {
		got := printed(t, command)
		for _, want := range wants {
			if !regexp.MustCompile(want).MatchString(got) {
				t.Errorf("%s has no %s:\n%s", command, want, got)
			}
		}
		if regexp.MustCompile(`faster|slower|same within`).MatchString(got) {
			t.Errorf("%s has a word from one run each:\n%s", command, got)
		}
	}
}
