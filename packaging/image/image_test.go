package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program builds the plimsoll of this tree, static as it is released. It stands for fio as well
// where STATIC_FIO names none: what the archive looks like does not depend on it.
func program(t *testing.T, arch string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "plimsoll-"+arch)
	cmd := exec.Command("go", "build", "-C", "../..", "-trimpath", "-ldflags", "-s -w", "-o", bin, "./cmd/plimsoll")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func licences(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("terms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files are those of a tar archive.
func files(t *testing.T, r io.Reader) map[string]entry {
	t.Helper()
	all := map[string]entry{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = entry{h, data}
	}
}

type entry struct {
	head *tar.Header
	data []byte
}

// blob is what a descriptor of the image format leads to.
type blob struct {
	Digest   string
	Platform struct{ Architecture, OS string }
}

func (b blob) read(t *testing.T, all map[string]entry, into any) []byte {
	t.Helper()
	e, ok := all["blobs/"+strings.Replace(b.Digest, ":", "/", 1)]
	if !ok {
		t.Fatalf("the archive lacks %s", b.Digest)
	}
	if into != nil {
		if err := json.Unmarshal(e.data, into); err != nil {
			t.Fatal(err)
		}
	}
	return e.data
}

type manifest struct {
	Config blob
	Layers []blob
}

func TestImage(t *testing.T) {
	bin, dir := program(t, "amd64"), t.TempDir()
	fio := os.Getenv("STATIC_FIO")
	if fio == "" {
		fio = bin
	}
	args := func(out string) []string {
		return []string{"-version", "0.1.0", "-epoch", "1795000000", "-docs", licences(t), "-out", out, "amd64=" + bin + "," + fio}
	}
	one, two := filepath.Join(dir, "one.tar"), filepath.Join(dir, "two.tar")
	for _, out := range []string{one, two} {
		if err := run(args(out)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(two); err != nil || !bytes.Equal(data, again) {
		t.Error("two images of the same programs differ", err)
	}
	all := files(t, bytes.NewReader(data))
	var index struct{ Manifests []blob }
	if err := json.Unmarshal(all["index.json"].data, &index); err != nil || len(index.Manifests) != 1 {
		t.Fatalf("%v %+v", err, index)
	}
	// The archive is one image, or skopeo asks which one is meant: its architectures are an index below.
	var below struct{ Manifests []blob }
	index.Manifests[0].read(t, all, &below)
	if m := below.Manifests; len(m) != 1 || m[0].Platform.Architecture != "amd64" || m[0].Platform.OS != "linux" {
		t.Fatalf("the index below has %+v", m)
	}
	var m manifest
	below.Manifests[0].read(t, all, &m)
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	m.Config.read(t, all, &config)
	if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/usr/bin/plimsoll" {
		t.Errorf("it starts %v as %s", config.Config.Entrypoint, config.Config.User)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(m.Layers[0].read(t, all, nil)))
	if err != nil {
		t.Fatal(err)
	}
	tarred, err := io.ReadAll(unzipped)
	if err != nil || len(tarred)%512 != 0 || !bytes.HasSuffix(tarred, make([]byte, 1024)) {
		t.Errorf("the layer of %d bytes is not ended as tar wants it, %v", len(tarred), err)
	}
	layer := files(t, bytes.NewReader(tarred))
	for name, want := range map[string]struct {
		mode  int64
		owner int
	}{"usr/bin/plimsoll": {0o755, 0}, "usr/bin/fio": {0o755, 0}, "data/": {0o755, user}, "tmp/": {0o1777, 0}, "usr/share/doc/LICENSE": {0o644, 0}} {
		e, ok := layer[name]
		if !ok || e.head.Mode != want.mode || e.head.Uid != want.owner {
			t.Errorf("%s is missing, or its mode or owner is another: %+v", name, e.head)
		}
	}
	start(t, layer, os.Getenv("STATIC_FIO") != "")
}

// start runs the image as a pod does: its files alone, as its own user, with /proc, /sys and what every runtime puts
// into /dev.
func start(t *testing.T, layer map[string]entry, measure bool) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Log("SKIPPED: only root can start the image's programs in its own root")
		return
	}
	root := t.TempDir()
	for name, e := range layer {
		place := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			t.Fatal(err)
		}
		if e.head.Typeflag == tar.TypeDir {
			if err := errors.Join(os.MkdirAll(place, 0o755), os.Chown(place, e.head.Uid, e.head.Gid)); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(place, e.data, e.head.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(root, 0o755), os.Chmod(filepath.Dir(root), 0o755), os.Chmod(root+"/tmp", 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	pod := func(args string) (string, error) {
		out, err := exec.Command("unshare", "--mount", "sh", "-c",
			"mount -t proc proc "+root+"/proc && mount -t sysfs -o ro sys "+root+"/sys && mkdir -p "+root+"/dev && "+
				"mount -t tmpfs dev "+root+"/dev && mknod -m 666 "+root+"/dev/null c 1 3 && cd "+root+"/data && "+
				"exec chroot --userspec=65532:65532 "+root+" /usr/bin/plimsoll "+args).CombinedOutput()
		return string(out), err
	}
	if out, err := pod("version"); err != nil || !strings.HasPrefix(out, "plimsoll ") {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := pod("ceiling 4 --volumes 8xgp3 --level raid10"); err != nil || !strings.Contains(out, "IOPS") {
		t.Errorf("ceiling: %v\n%s", err, out)
	}
	if out, err := pod("why /data"); err == nil && !strings.Contains(out, "Not seen") {
		t.Errorf("why sees nothing of the host here, and does not say so:\n%s", out)
	}
	if measure {
		out, _ := pod("run rand-read-latency --data /data --out /data/runs --size 16MiB --runtime 1s --ramp 0s --cooldown 0s --shared-host test")
		if !strings.Contains(out, "IOPS") {
			t.Errorf("run:\n%s", out)
		}
		return
	}
	if err := os.Remove(root + "/usr/bin/fio"); err != nil {
		t.Fatal(err)
	}
	if out, err := pod("run rand-read-latency --data /data"); err == nil || !strings.Contains(out, "fio is not installed") {
		t.Errorf("without fio: %v\n%s", err, out)
	}
}

func TestWhatIsNoImage(t *testing.T) {
	bin, docs := program(t, "amd64"), licences(t)
	for _, c := range []struct{ arg, want string }{
		{"arm64=" + bin + "," + bin, "is for EM_X86_64, not for arm64"},
		{"riscv64=" + bin + "," + bin, "want amd64 or arm64"},
		{"amd64=" + bin + ",/etc/passwd", "/etc/passwd is no program"},
		{"amd64=" + bin, "want ARCH=PLIMSOLL,FIO"},
		{"amd64=" + bin + ",/bin/sh", "the image has no libraries"},
	} {
		out := filepath.Join(t.TempDir(), "image.tar")
		err := run([]string{"-version", "0.1.0", "-docs", docs, "-out", out, c.arg})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.arg, err, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: an archive was left", c.arg)
		}
	}
}
