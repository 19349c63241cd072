package fio

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// installedVersion is what the fio in PATH calls itself: scripts/fio-versions.sh runs these tests
// with several.
func installedVersion(t testing.TB) string {
	t.Helper()
	return strings.TrimSpace(string(runFio(t, t.TempDir(), "--version")))
}

// needFio skips a test for which the installed fio is too old, and says why.
func needFio(t testing.TB, least Version, why string) {
	t.Helper()
	v, err := ParseVersion(installedVersion(t))
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
	needFio(t, Version{3, 18}, "knows no slat_percentiles")
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
func ReadText(r io.Reader) ([]*Output, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t := &textReader{}
	for line := range bytes.Lines(data) {
		t.n++
		t.split(strings.TrimSuffix(string(line), "\n"))
	}
	t.finish()
	return t.outs, nil
}
