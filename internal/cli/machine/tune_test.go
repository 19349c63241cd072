package machine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/sys"
)

// What tune shows is what it has set: of four settings of which the second is refused the first alone, and none
// that looks like success (review of 2026-11-26, M4).
func TestTuneShowsWhatItSet(t *testing.T) {
	for name, c := range map[string]struct {
		of    string
		flags []string
		may   int // writes that are allowed
		shown int
		fails bool
		says  string // on the standard error
	}{
		"all may be set": {"c2-md10nvme", nil, 4, 4, false, "4 settings changed, until the next boot"},
		"one may":        {"c2-md10nvme", nil, 1, 1, true, "2 more were not tried"},
		"none may":       {"c2-md10nvme", nil, 0, 0, true, "3 more were not tried"},
		// One path in both roles, read-ahead of 8 MiB: check judges none, and tune does not call it right (M2).
		"both roles": {"c1-virtio", nil, 0, 0, false, ""},
		"a look":     {"c2-md10nvme", []string{"--dry-run"}, 0, 4, false, ""},
	} {
		archive, err := os.ReadFile("../../diagnose/rules/testdata/machines/" + c.of + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		root := block.Captured(archive).(fstest.MapFS)
		done := 0
		m := &sys.Machine{
			Root: root, Now: time.Now,
			Run: func(_ context.Context, _ io.Writer, argv ...string) error {
				return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
			},
			Put: func(name string, data []byte) error {
				if done++; done > c.may {
					return fs.ErrPermission
				}
				root[name[1:]] = &fstest.MapFile{Data: data}
				return nil
			},
		}
		var out, errs bytes.Buffer
		cmd := NewTune(&form.Env{Machine: m, In: strings.NewReader(""), Out: &out, Err: &errs})
		cmd.SetArgs(append([]string{"/data", "--state", filepath.Join(t.TempDir(), "tune.json")}, c.flags...))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err = cmd.ExecuteContext(t.Context())
		if n := strings.Count(out.String(), " -> "); n != c.shown || (err != nil) != c.fails {
			t.Errorf("%s: %d shown, want %d; %v\n%s", name, n, c.shown, err, out.String())
		}
		if said := fmt.Sprint(errs.String(), err); !strings.Contains(said, c.says) {
			t.Errorf("%s: %q, want %q", name, said, c.says)
		}
		if strings.Contains(out.String(), "nothing to change: what check recommends here is already set") != (name == "both roles") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}

// Who sets again what check would set is a note of check, of a captured machine too: tuned with its profile, and
// not one that agrees or does not run.
func TestCheckNamesOtherOwners(t *testing.T) {
	archive, err := os.ReadFile("../../diagnose/rules/testdata/machines/c3-lvmhdd.txtar")
	if err != nil {
		t.Fatal(err)
	}
	const (
		active  = "etc/tuned/active_profile"
		profile = "etc/tuned/db/tuned.conf"
		wanted  = "etc/systemd/system/multi-user.target.wants/tuned.service"
	)
	for name, c := range map[string]struct {
		files map[string]string
		named bool
	}{
		"nobody":         {nil, false},
		"tuned":          {map[string]string{active: "db\n", wanted: "", profile: "[sysctl]\nvm.swappiness=10\n"}, true},
		"tuned agrees":   {map[string]string{active: "db\n", wanted: "", profile: "[sysctl]\nvm.swappiness=1\n"}, false},
		"tuned is off":   {map[string]string{active: "db\n", profile: "[sysctl]\nvm.swappiness=10\n"}, false},
		"a later sysctl": {map[string]string{"etc/sysctl.d/zzz.conf": "vm.swappiness=60\n"}, true},
	} {
		root := block.Captured(archive).(fstest.MapFS)
		for file, text := range c.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
			if file == wanted {
				root[file] = &fstest.MapFile{Data: []byte("/usr/lib/systemd/system/tuned.service"), Mode: fs.ModeSymlink}
			}
		}
		there := &sys.Machine{Root: root, Now: time.Now}
		var copied, out, errs bytes.Buffer
		if err := block.Capture(&copied, there); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "m.txtar")
		if err := os.WriteFile(file, copied.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := NewCheck(&form.Env{Machine: there, In: strings.NewReader(""), Out: &out, Err: &errs})
		cmd.SetArgs([]string{"/data", "--captured", file, "--format", "json"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(name, err, errs.String())
		}
		if said := strings.Join(strings.Fields(out.String()), " "); strings.Contains(said,
			"another owner of a setting") != c.named {
			t.Errorf("%s: %s", name, said)
		}
	}
}
