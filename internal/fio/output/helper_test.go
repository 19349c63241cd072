package output

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	fiotext "plimsoll/internal/fio/text"
)

// installedVersion is what the fio in PATH calls itself: scripts/fio-versions.sh runs these tests
// with several.
func installedVersion(t testing.TB) string {
	t.Helper()
	return strings.TrimSpace(string(runFio(t, t.TempDir(), "--version")))
}

// needFio skips a test for which the installed fio is too old, and says why.
func needFio(t testing.TB, least fio.Version, why string) {
	t.Helper()
	v, err := fio.ParseVersion(installedVersion(t))
	if err != nil {
		t.Fatal(err)
	}
	if v.Before(least) {
		t.Skipf("%s %s", v, why)
	}
}

// slatPercentiles is what 3.16 (Ubuntu 20.04) lacks and 3.25 (Debian 11) has.
func slatPercentiles(t testing.TB) {
	t.Helper()
	needFio(t, fio.Version{Major: 3, Minor: 18}, "knows no slat_percentiles")
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ReadText reads fio's normal output from whatever it was pasted into, as Read does with what is no
// document.
func ReadText(r io.Reader) ([]*fio.Output, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t := &fiotext.Reader{}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		t.Line(n, strings.TrimSuffix(string(line), "\n"))
	}
	t.Finish()
	return t.Take(), nil
}
