package lab

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
)

// Fetch copies a directory or file of the guest, /root/runs say, to the directory to of the host as
// to/runs. What is there already is replaced file by file. It returns fs.ErrNotExist when the guest
// has no such thing.
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
	err = extract(root, r)
	r.CloseWithError(err) // and the guest's tar need not go on
	if err != nil {
		return fmt.Errorf("fetch %s from the lab guest: %w", name, err)
	}
	return nil
}

// extract puts what a guest sends below a directory of the host. Whatever names it sends, and whatever others put
// there, nothing is written through a link, and each file is new.
func extract(root *os.Root, from io.Reader) error {
	archive := tar.NewReader(from)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Clean(h.Name)
		if !filepath.IsLocal(name) {
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
				err = file(root, name, fs.FileMode(h.Mode).Perm(), archive)
			}
		}
		if err != nil {
			return err
		}
	}
}

// file writes a file in place of one that is there.
func file(root *os.Root, name string, mode fs.FileMode, from io.Reader) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
