package lab

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/sys/bounded"
)

func TestDebianSource(t *testing.T) {
	const stanzas = "# comment\nTypes: deb deb-src\nURIs: http://m.example/debian\n http://second.example/\nSuites: bookworm bookworm-updates\nComponents: main\n"
	for name, c := range map[string]struct {
		files  map[string]string
		mirror string
		says   string
	}{
		"stanzas": {map[string]string{"sources.list.d/debian.sources": stanzas}, "http://m.example/debian", ""},
		"the suite on a line of its own": {map[string]string{
			"sources.list.d/debian.sources": "Types: deb\nURIs: x:/\nSuites:\n sid\n bookworm\nComponents: main",
		}, "x:/", ""},
		"a line":              {map[string]string{"sources.list": "# x\ndeb-src http://no.example bookworm main\ndeb http://m.example bookworm main contrib\n"}, "http://m.example", ""},
		"a line with options": {map[string]string{"sources.list": "deb [arch=amd64 signed-by=/k] http://m.example bookworm main\n"}, "http://m.example", ""},
		"another's packages first": {map[string]string{
			"sources.list.d/a.list": "deb https://a.example cloud-sdk-bookworm main\n", "sources.list": "deb http://m.example bookworm main",
		}, "http://m.example", ""},
		"security only":   {map[string]string{"sources.list": "deb http://s.example bookworm-security main\n"}, "", "no source"},
		"switched off":    {map[string]string{"sources.list.d/debian.sources": stanzas + "Enabled: no\n"}, "", "no source"},
		"not the main":    {map[string]string{"sources.list": "deb http://m.example bookworm contrib\n"}, "", "no source"},
		"nothing":         {nil, "", "no source"},
		"another release": {map[string]string{"sources.list": "deb http://m.example trixie main\n"}, "", "no source"},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"etc/os-release": {Data: []byte("ID=debian\nVERSION_CODENAME=bookworm\n")}}
			for file, text := range c.files {
				root["etc/apt/"+file] = &fstest.MapFile{Data: []byte(text)}
			}
			suite, mirror, err := debianSource(root)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				return
			}
			if err != nil || suite != "bookworm" || mirror != c.mirror {
				t.Errorf("%q %q %v, want bookworm %q", suite, mirror, err, c.mirror)
			}
		})
	}
	for _, release := range []string{"ID=arch\n", "VERSION_CODENAME=../x\n"} {
		if _, _, err := debianSource(fstest.MapFS{"etc/os-release": {Data: []byte(release)}}); err == nil {
			t.Errorf("%q passes for a Debian", release)
		}
	}
}

// What is found is a word of the text, whatever the text is.
func FuzzDebianSource(f *testing.F) {
	f.Add("Types: deb\nURIs: http://m.example\nSuites: bookworm\nComponents: main\n")
	f.Add("deb [a=b] http://m.example bookworm main\n")
	f.Add("deb ] [ bookworm")
	f.Add("\n \n:\n URIs")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		for _, uri := range []string{findInLines(text, "bookworm"), findInStanzas(text, "bookworm")} {
			if uri != "" && (len(strings.Fields(uri)) != 1 || !strings.Contains(text, uri) || !strings.Contains(text, "bookworm")) {
				t.Errorf("%q in %q", uri, text)
			}
		}
	})
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
