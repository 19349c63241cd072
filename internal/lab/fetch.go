package lab

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
)

// Fetch copies a directory or file of the guest, /root/runs say, to the directory to of the host as
// to/runs. What is there already stays; where the guest has other content for it, the error names it, and the rest is
// copied. It returns fs.ErrNotExist when the guest has no such thing.
func (g *Guest) Fetch(ctx context.Context, name, to string) error {
	if r, err := g.Exec(ctx, "test", "-e", name); err != nil || r.Code != 0 {
		return errors.Join(err, fmt.Errorf("lab guest: %s: %w", name, fs.ErrNotExist))
	}
	root, err := sys.MakeRoot(to, 0o777)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	r, w := io.Pipe()
	go func() {
		req := agent.Request{Argv: []string{"tar", "-C", path.Dir(name), "-cf", "-", path.Base(name)}}
		reply, err := g.Run(ctx, req, agent.Streams{Out: w})
		if err == nil && reply.Code != 0 {
			err = fmt.Errorf("lab guest: tar of %s: exit status %d", name, reply.Code)
		}
		w.CloseWithError(err) // nil is the end of the file
	}()
	err = extract(root, path.Base(name), r)
	r.CloseWithError(err) // and the guest's tar need not go on
	if err != nil {
		return fmt.Errorf("fetch %s from the lab guest: %w", name, err)
	}
	return nil
}

// extract puts what a guest sends below a directory of the host, in the one that was asked for. Whatever names it
// sends, and whatever others put there, nothing is written through a link, and each file is new.
func extract(root *os.Root, asked string, from io.Reader) error {
	archive := tar.NewReader(from)
	var stays error
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return stays
		}
		if err != nil {
			return err
		}
		name := path.Clean(h.Name)
		if name != asked && !strings.HasPrefix(name, asked+"/") {
			return fmt.Errorf("the guest sent a name that leads elsewhere: %.80q", h.Name)
		}
		dir := name
		if h.Typeflag == tar.TypeReg {
			dir = path.Dir(name)
		}
		for p := dir; p != "."; p = path.Dir(p) {
			if info, err := root.Lstat(p); err == nil && !info.IsDir() {
				return fmt.Errorf("%s is a link or a file: remove it, or name another directory with --out",
					filepath.Join(root.Name(), p))
			}
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeReg: // results hold no links or devices
			if err = root.MkdirAll(dir, 0o777); err == nil && dir != name {
				err = file(root, name, archive)
			}
		}
		if errors.Is(err, errStays) {
			stays = cmp.Or(stays, err)
		} else if err != nil {
			return err
		}
	}
}

var errStays = errors.New("it already exists and stays: move it away, or name another directory with --out")

// file writes a new file, which cannot be run. One that is there stays; if it is not the same, the error says so.
func file(root *os.Root, name string, from io.Reader) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return same(root, name, from)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// same compares a regular file that is there with what the guest has for it.
func same(root *os.Root, name string, from io.Reader) error {
	stays := fmt.Errorf("%s: %w", filepath.Join(root.Name(), name), errStays)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return errors.Join(stays, err)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return errors.Join(stays, err)
	}
	defer f.Close() //nolint:errcheck // only read
	is, has := sha256.New(), sha256.New()
	_, err = io.Copy(is, f)
	_, sent := io.Copy(has, from)
	if err = errors.Join(err, sent); err != nil || !bytes.Equal(is.Sum(nil), has.Sum(nil)) {
		return errors.Join(stays, err)
	}
	return nil
}
