package lab

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
)

// What a guest sends is written below the directory, into new files, and through no link, whatever
// names it sends and whatever lies there already.
func TestFetchedFilesStayBelow(t *testing.T) {
	base := t.TempDir()
	victim, out := filepath.Join(base, "victim"), filepath.Join(base, "out")
	for _, dir := range []string{victim, filepath.Join(out, "runs/a"), filepath.Join(out, "inside")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	precious := filepath.Join(victim, "run.json")
	err := errors.Join(
		os.WriteFile(precious, []byte("precious"), 0o600), os.WriteFile(filepath.Join(out, "inside/x"), []byte("precious"), 0o600),
		os.Symlink(precious, filepath.Join(out, "runs/a/link")), os.Link(precious, filepath.Join(out, "runs/a/hard")),
		unix.Mkfifo(filepath.Join(out, "runs/a/fifo"), 0o600), os.Symlink("../../victim", filepath.Join(out, "runs/way")),
		os.WriteFile(filepath.Join(out, "runs/a/same"), []byte("new"), 0o600),
		os.Symlink("../inside", filepath.Join(out, "runs/near")),
		os.WriteFile(filepath.Join(out, "runs/a/old"), []byte("old"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	send := func(name string) error {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 3, Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		root, err := sys.MakeRoot(out, 0o777)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = root.Close() }()
		return extract(root, "runs", &archive)
	}
	for _, name := range []string{"runs/a/same", "runs/b/c/new", "runs/a/../a/dots"} {
		if err := send(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		info, err := os.Lstat(filepath.Join(out, name))
		if err != nil || !info.Mode().IsRegular() || info.Size() != 3 || info.Mode()&0o111 != 0 {
			t.Errorf("%s: %v %v, want a new file", name, info, err)
		}
	}
	for name, words := range map[string]string{
		"runs/way/run.json": "is a link or a file: remove it", "runs/near/x": "is a link or a file: remove it",
		"runs/a/link": "link: it already exists and stays", "runs/a/hard": "hard: it already exists",
		"runs/a/fifo": "fifo: it already exists", "runs/a/old": "old: it already exists", "runs": "it already exists",
		".bashrc": "leads elsewhere", "inside/x": "leads elsewhere", "runs2/x": "leads elsewhere",
		"../victim/run.json": "leads elsewhere", "/etc/plimsoll-test": "leads elsewhere", "runs/a/old/x": "is a link or a file",
	} {
		if err := send(name); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", name, err, words)
		}
	}
	for _, name := range []string{"runs/a/link", "runs/a/fifo", "runs/way"} {
		if info, err := os.Lstat(filepath.Join(out, name)); err != nil || info.Mode().IsRegular() {
			t.Errorf("%s is gone: %v %v", name, info, err)
		}
	}
	for _, name := range []string{precious, filepath.Join(out, "inside/x")} {
		if data, err := os.ReadFile(name); string(data) != "precious" || err != nil {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
}

// A directory that was kept, and came out of an archive, leads nowhere by the names that QEMU opens.
func TestKeptFilesLeadNowhere(t *testing.T) {
	for _, kind := range []string{"symbolic link", "hard link", "FIFO", "file"} {
		base := t.TempDir()
		victim, dir := filepath.Join(base, "victim"), filepath.Join(base, "kept")
		console := filepath.Join(dir, "console.log")
		err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(victim, nil, 0o600))
		switch kind {
		case "symbolic link":
			err = errors.Join(err, os.Symlink(victim, console))
		case "hard link":
			err = errors.Join(err, os.Link(victim, console))
		case "FIFO":
			err = errors.Join(err, unix.Mkfifo(console, 0o600))
		default:
			err = errors.Join(err, os.WriteFile(console, nil, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := checkKept(dir); (err != nil) != (kind != "file") ||
			err != nil && !strings.Contains(err.Error(), console+" is not a regular file") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// FuzzFetched: whatever archive a guest sends, nothing is written next to the directory.
func FuzzFetched(f *testing.F) {
	for _, h := range []tar.Header{
		{Name: "runs/a", Typeflag: tar.TypeReg, Size: 1},
		{Name: "../x", Typeflag: tar.TypeReg},
		{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
		{Name: "a", Typeflag: tar.TypeDir},
	} {
		var archive bytes.Buffer
		w := tar.NewWriter(&archive)
		if err := w.WriteHeader(&h); err != nil {
			f.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Bytes())
	}
	base := f.TempDir()
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		root, err := sys.MakeRoot(filepath.Join(base, "below"), 0o777)
		if err != nil {
			t.Fatal(err)
		}
		_ = extract(root, "runs", bytes.NewReader(data[:min(len(data), 2048)])) // it need not be one
		_ = root.Close()
		entries, err := os.ReadDir(base)
		if err := errors.Join(err, os.RemoveAll(filepath.Join(base, "below"))); err != nil || len(entries) != 1 {
			t.Errorf("%v %v", entries, err)
		}
	})
}
