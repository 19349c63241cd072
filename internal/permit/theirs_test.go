package permit

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

// A link of another user's leads to no place that is measured, cleaned or named in commands to be typed, and a folder
// of plimsoll's name that is another's is met by none of them; links and folders of the caller's own are followed.
func TestPlacesThatOthersChose(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a link to somebody else")
	}
	const nobody = 65534
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"victim/.plimsoll", "theirs/.plimsoll", "open/.plimsoll"} {
		must(os.MkdirAll(at(name), 0o700))
	}
	write(t, at("victim/.plimsoll/data.dat"), "keep")
	must(os.Symlink(at("victim"), at("planted")))
	must(os.Lchown(at("planted"), nobody, nobody))
	must(os.Symlink(at("victim"), at("own")))
	must(os.Chown(at("theirs/.plimsoll"), nobody, nobody))
	must(os.Chmod(at("open/.plimsoll"), 0o777))
	must(os.MkdirAll(at("linked"), 0o700))
	must(os.Symlink(at("victim/.plimsoll"), at("linked/.plimsoll")))
	read, err := suite.Select([]string{"rand-read-latency"}, suite.Selection{})
	must(err)
	written := read.Scenarios[0]
	for _, c := range []struct{ path, says string }{
		{"planted", "planted is a link of "},
		{"theirs", "theirs/.plimsoll belongs to "},
		{"open", "open/.plimsoll can be written to by others"},
		{"linked", "linked/.plimsoll is not plimsoll's directory"},
		{"own", ""},
		{"victim", ""},
	} {
		_, err := Open(&topology.Topology{}, topology.Target{Role: topology.Data, Path: at(c.path)}, nil, Consent{})
		_, _, sketch := Sketched(&block.Tree{}, at(c.path), written)
		for what, err := range map[string]error{"open": err, "sketch": sketch} {
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %s: %v, want %q", c.path, what, err, c.says)
			}
		}
	}
	if _, _, err := Sketched(&block.Tree{}, at("not/there"), written); err != nil {
		t.Error(err)
	}
	for name, call := range map[string]func() error{
		"clean": func() error { return Clean(at("planted"), false, func(Leftover) {}) },
		"join":  func() error { _, _, err := Join(at("planted"), "f", "h"); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "is a link of ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(at("victim/.plimsoll/data.dat")); err != nil {
		t.Error(err)
	}
	if made, _ := fs.Glob(os.DirFS(base), "victim/.plimsoll/fleet-*"); len(made) > 0 {
		t.Errorf("made %q", made)
	}
}

// What a job of a suite names itself is refused as run refuses it, before its commands are printed: fio adds the files
// of a section to that of the scenario.
func TestSketchesOfJobsThatNameFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "precious"), "precious")
	for job, says := range map[string]string{
		"[a]\nrw=randread\nbs=4k":                                      "",
		"[a]\nrw=randwrite\nbs=4k\nfilename=" + dir + "/precious":      "precious exists, plimsoll did not make it",
		"[a]\nrw=randread\nfilename=" + dir + "/precious":              "would rewrite it",
		"[a]\nrw=randwrite\n[b]\nrw=read\nfilename=" + dir + "/none/x": "none does not exist",
		"[a]\nrw=randread\nexec_prerun=id":                             "would run a shell command",
		"[a]\nrw=randread\nwrite_iolog=/tmp/x":                         "write_iolog",
	} {
		text := "scenarios:\n  - {id: 1, name: s, size: 4MiB, job: " + strconv.Quote(job) + "}\n"
		s, err := suite.Parse("s.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, file, err := Sketched(&block.Tree{}, dir, s.Scenarios[0])
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "plimsoll run refuses this job")) {
			t.Errorf("%s: %q, %v: want %q", job, file, err, says)
		}
	}
}
