package lab

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/sys"
)

func TestDebianSource(t *testing.T) {
	const others = "cloud-sdk-bookworm main https://a.example\nbookworm-security main http://s.example\nbookworm contrib http://c.example\n"
	apt := ""
	source := func(release string) (suite, mirror string, err error) {
		return debianSource(t.Context(), &sys.Machine{
			Root: fstest.MapFS{"etc/os-release": {Data: []byte(release)}},
			Run: func(_ context.Context, out io.Writer, _ ...string) error {
				_, err := io.WriteString(out, apt)
				return err
			},
		})
	}
	const bookworm = "ID=debian\nVERSION_CODENAME=bookworm\n"
	for _, apt = range []string{"bookworm main http://m.example/debian\nbookworm main http://second.example", others + "bookworm main http://m.example/debian\n"} {
		if suite, mirror, err := source(bookworm); err != nil || suite != "bookworm" || mirror != "http://m.example/debian" {
			t.Errorf("%q: %q %q %v", apt, suite, mirror, err)
		}
	}
	for _, apt = range []string{"", others, "trixie main http://m.example\n"} {
		if _, _, err := source(bookworm); err == nil || !strings.Contains(err.Error(), "no source") {
			t.Errorf("%q: %v", apt, err)
		}
	}
	apt = "../x main http://m.example\n"
	for _, release := range []string{"ID=arch\n", "VERSION_CODENAME=../x\n"} {
		if _, _, err := source(release); err == nil {
			t.Errorf("%q passes for a Debian", release)
		}
	}
}

// A mirror that does not answer, or has no such release, is distinguished from a build that fails:
// tests skip then.
func TestReach(t *testing.T) {
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debian/dists/bookworm/InRelease" {
			http.NotFound(w, r)
		}
	}))
	defer mirror.Close()
	for _, url := range []string{mirror.URL + "/debian", mirror.URL + "/debian/", "file:/srv/mirror"} {
		if err := reach(t.Context(), url, "bookworm"); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := reach(t.Context(), mirror.URL+"/debian", "nosuch"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("another release: %v", err)
	}
	mirror.Close()
	if err := reach(t.Context(), mirror.URL+"/debian", "bookworm"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a mirror that is gone: %v", err)
	}
}

func TestSystemOfSpec(t *testing.T) {
	for text, says := range map[string]string{
		"volumes: [{name: a}]":                               "",
		"system: small\nvolumes: [{name: a, count: 24}]":     "",
		"system: debian\nvolumes: [{name: a, count: 23}]":    "",
		"system: debian\nvolumes: [{name: a, count: 24}]":    "24 volumes: want 1 to 23",
		"system: ubuntu\nvolumes: [{name: a}]":               `system "ubuntu": want small or debian`,
		"system: [debian, small]\nvolumes: [{name: a}]":      "lab.yaml",
		"system: Debian\nvolumes: [{name: a}]\nscale: 0.125": `system "Debian"`,
	} {
		_, err := ParseSpec("lab.yaml", []byte(text))
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if !slices.Contains(debianPackages, debianKernel) {
		t.Error("a Debian without a kernel")
	}
}
