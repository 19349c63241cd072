package sys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An error of writing names the file that was asked for: the temporary one means nothing to a user.
func TestWriteErrorNamesTheFile(t *testing.T) {
	d, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	err = d.put("x.html", []byte("x"), func(f *os.File) error { return f.Truncate(-1) }, d.Rename)
	if want := filepath.Join(d.Name(), "x.html"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "-write-") {
		t.Errorf("%v: want it about %s", err, want)
	}
}
