package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stamp is what web/build.sh writes beside the script.
type stamp struct{ ECharts, Zrender, TSLib, ESBuild, SHA256 string }

func readStamp(t *testing.T, name string) stamp {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var s stamp
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScriptIsTheOneThatItsStampNames(t *testing.T) {
	sum := sha256.Sum256([]byte(chartScript))
	s := readStamp(t, "assets/charts.json")
	if got := hex.EncodeToString(sum[:]); got != s.SHA256 {
		t.Errorf("assets/charts.js has SHA-256 %s and charts.json says %s: run make web", got, s.SHA256)
	}
	var wanted struct {
		Dependencies    map[string]string
		DevDependencies map[string]string
	}
	data, err := os.ReadFile("../../../web/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &wanted); err != nil {
		t.Fatal(err)
	}
	if s.ECharts != wanted.Dependencies["echarts"] || s.ESBuild != wanted.DevDependencies["esbuild"] {
		t.Errorf("charts.js was built from echarts %s with esbuild %s, and web/package.json asks for %v and %v: run make web",
			s.ECharts, s.ESBuild, wanted.Dependencies, wanted.DevDependencies)
	}
	// The page's policy forbids these, and its own element would end at the last.
	for _, bad := range []string{"new Function(", "eval(", "</script"} {
		if strings.Contains(chartScript, bad) {
			t.Errorf("charts.js holds %q", bad)
		}
	}
}

// TestScriptIsCurrent builds the script again from a copy of web/ and compares it with the
// committed one.
func TestScriptIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED: %s is not installed, so nothing has checked that assets/charts.js is what web/ builds", tool)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS("../../../web/src")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "build.sh"} {
		data, err := os.ReadFile(filepath.Join("../../../web", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: npm ci did not work, so nothing has checked that assets/charts.js is what web/ builds: %v\n%s", err, out)
	}
	built := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "build.sh"), built).CombinedOutput(); err != nil {
		t.Fatalf("web/build.sh: %v\n%s", err, out)
	}
	if got := readStamp(t, filepath.Join(built, "charts.json")); got != readStamp(t, "assets/charts.json") {
		t.Errorf("web/ builds %+v, and assets/ holds %+v: run make web", got, readStamp(t, "assets/charts.json"))
	}
}
