package permit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of fio's own are listed by name and size, and one is removed only when it is named and is
// what it looks like.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int64) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600), os.Truncate(file, size)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	seed, deep := put("fio_test_file.0.0", 1<<30), put("sub/28k_r_r.15.7", 100<<20)
	small, named, own := put("libc.2.36", 4096), put("base/PG_VERSION", 1<<21), put(".plimsoll/data.0.0", 1<<21)
	precious := put("precious", 1<<21)
	link, hard := filepath.Join(dir, "link.0.0"), filepath.Join(dir, "hard.0.0")
	if err := errors.Join(os.Symlink(precious, link), os.Link(precious, hard)); err != nil {
		t.Fatal(err)
	}
	found, err := OtherFiles(dir)
	var got []string
	for _, o := range found {
		got = append(got, o.Path)
	}
	if want := strings.Join([]string{seed, hard, deep}, " "); err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	for _, file := range []string{small, named, precious, link, hard, filepath.Join(dir, "none.0.0"), filepath.Join(dir, "sub")} {
		if err := RemoveOther(file); err == nil || !strings.Contains(err.Error(), "--destroy "+file) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := errors.Join(RemoveOther(seed), RemoveOther(deep)); err != nil {
		t.Error(err)
	}
	for _, file := range []string{small, named, own, precious, link, hard} {
		if _, err := os.Lstat(file); err != nil {
			t.Error(err)
		}
	}
	for _, file := range []string{seed, deep} {
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s is still there", file)
		}
	}
}
