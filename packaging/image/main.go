// Command image writes a container image for several architectures as one OCI archive: no daemon, no
// base image, and the same bytes for the same input.
//
//	image -version 0.1.0 -epoch 1795000000 -docs DIR -out plimsoll.oci.tar amd64=PLIMSOLL,FIO arm64=PLIMSOLL,FIO
//
// An image holds plimsoll, fio, their licences, and the directories that a measurement writes to:
// /data and /tmp. It runs as a user without rights, unless the pod says otherwise.
package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is who the image runs as by default; group as well. Kubernetes' runAsNonRoot wants a number.
const user = 65532

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&o.version, "version", "", "`VERSION` for the labels")
	flags.Int64Var(&o.epoch, "epoch", 0, "`SECONDS` since 1970 that every file and the image are of")
	flags.StringVar(&o.docs, "docs", "", "`DIR` with the licences that go along")
	flags.StringVar(&o.out, "out", "", "archive `FILE` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.version == "" || o.docs == "" || o.out == "" || flags.NArg() == 0 {
		return errors.New("want -version, -docs, -out and ARCH=PLIMSOLL,FIO for each architecture")
	}
	for _, arg := range flags.Args() {
		arch, files, _ := strings.Cut(arg, "=")
		plimsoll, fio, ok := strings.Cut(files, ",")
		if !ok {
			return fmt.Errorf("%q: want ARCH=PLIMSOLL,FIO", arg)
		}
		o.programs = append(o.programs, programs{arch, plimsoll, fio})
	}
	return o.write()
}

type options struct {
	version   string
	epoch     int64
	docs, out string
	programs  []programs
}

// programs are the files of one architecture, named as Go does.
type programs struct{ arch, plimsoll, fio string }

func (o options) write() error {
	none := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	index := none
	for _, p := range o.programs {
		img, err := o.image(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img,
			Descriptor: v1.Descriptor{
				Platform: &v1.Platform{OS: "linux", Architecture: p.arch},
			},
		})
	}
	// One image of several architectures: who reads the archive takes each entry of its own index
	// for an image.
	all := mutate.AppendManifests(none, mutate.IndexAddendum{
		Add:        index,
		Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": o.version}},
	})
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, all); err != nil {
		return err
	}
	return o.archive(dir)
}

func (o options) image(p programs) (v1.Image, error) {
	data, err := o.layer(p)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	made := v1.Time{Time: time.Unix(o.epoch, 0).UTC()}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.AppendLayers(img, layer)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, &v1.ConfigFile{
		Architecture: p.arch, OS: "linux", Created: made,
		History: []v1.History{{Created: made, CreatedBy: "make image"}},
		RootFS:  must(img.ConfigFile()).RootFS,
		Config: v1.Config{
			Entrypoint: []string{"/usr/bin/plimsoll"},
			Env:        []string{"PATH=/usr/bin", "HOME=/data"},
			WorkingDir: "/data",
			User:       fmt.Sprintf("%d:%d", user, user),
			Labels: map[string]string{
				"org.opencontainers.image.title":       "plimsoll",
				"org.opencontainers.image.description": "Proves what storage can carry before a database is put on it",
				"org.opencontainers.image.licenses":    "Apache-2.0 AND GPL-2.0-only",
				"org.opencontainers.image.version":     o.version,
			},
		},
	})
}

// must is for what an image in memory cannot fail at.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// machines are the ELF machines of the architectures: a program for another one would say "exec
// format error" only when a pod starts.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// fits says why a file is no static program for an architecture.
func fits(name, arch string) error {
	want, ok := machines[arch]
	if !ok {
		return fmt.Errorf("no image for %q: want amd64 or arm64", arch)
	}
	file, err := elf.Open(name)
	if err != nil {
		return fmt.Errorf("%s is no program: %w", name, err)
	}
	defer file.Close()
	if file.Machine != want {
		return fmt.Errorf("%s is for %s, not for %s", name, file.Machine, arch)
	}
	if libs, err := file.ImportedLibraries(); err == nil && len(libs) > 0 {
		return fmt.Errorf("%s needs %s, and the image has no libraries: want a static program", name, libs[0])
	}
	return nil
}

// layer is the one layer of an image, as tar.
func (o options) layer(p programs) ([]byte, error) {
	for _, name := range []string{p.plimsoll, p.fio} {
		if err := fits(name, p.arch); err != nil {
			return nil, err
		}
	}
	var data bytes.Buffer
	w := &writer{tar: tar.NewWriter(&data), time: time.Unix(o.epoch, 0).UTC()}
	for _, dir := range []string{"etc", "proc", "sys", "dev", "usr", "usr/bin", "usr/share", "usr/share/doc"} {
		w.dir(dir, 0o755, 0)
	}
	w.dir("data", 0o755, user)
	w.dir("tmp", 0o1777, 0)
	w.text("etc/passwd", fmt.Sprintf("root:x:0:0:root:/:\nplimsoll:x:%d:%d:plimsoll:/data:\n", user, user))
	w.text("etc/group", fmt.Sprintf("root:x:0:\nplimsoll:x:%d:\n", user))
	w.file("usr/bin/plimsoll", p.plimsoll, 0o755)
	w.file("usr/bin/fio", p.fio, 0o755)
	names, err := filepath.Glob(filepath.Join(o.docs, "*"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		w.file("usr/share/doc/"+filepath.Base(name), name, 0o644)
	}
	err = errors.Join(w.err, w.tar.Close()) // which writes the end
	return data.Bytes(), err
}

// archive puts the directory of an image layout into the file that is asked for, as a whole.
func (o options) archive(dir string) error {
	temp := o.out + ".part"
	file, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	defer file.Close()
	w := &writer{tar: tar.NewWriter(file), time: time.Unix(o.epoch, 0).UTC()}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		short := must(filepath.Rel(dir, name))
		if d.IsDir() {
			w.dir(short, 0o755, 0)
		} else {
			w.file(short, name, 0o644)
		}
		return w.err
	})
	if err := errors.Join(err, w.tar.Close(), file.Close()); err != nil {
		return err
	}
	return os.Rename(temp, o.out)
}

// writer writes entries whose owner and time are fixed, and keeps its first error.
type writer struct {
	tar  *tar.Writer
	time time.Time
	err  error
}

func (w *writer) add(h tar.Header, content io.Reader) {
	if w.err != nil {
		return
	}
	h.ModTime, h.Format = w.time, tar.FormatUSTAR
	if w.err = w.tar.WriteHeader(&h); w.err == nil && content != nil {
		_, w.err = io.Copy(w.tar, content)
	}
}

func (w *writer) dir(name string, mode int64, owner int) {
	w.add(tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner}, nil)
}

func (w *writer) text(name, content string) {
	w.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}, strings.NewReader(content))
}

func (w *writer) file(name, from string, mode int64) {
	if w.err != nil {
		return
	}
	file, err := os.Open(from)
	if err != nil {
		w.err = err
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		w.err = err
		return
	}
	w.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: info.Size()}, file)
}
