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
		if strings.Contains(out.String(), "nothing to change: what check recommends here is in force") != (name == "both roles") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}
