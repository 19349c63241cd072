package lab

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

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
	dir, err := sys.MakePath(to, 0o777)
	if err != nil {
		return err
	}
	into := &fetched{top: dir, below: map[string]*sys.Dir{}}
	defer into.close()
	r, w := io.Pipe()
	go func() {
		req := agent.Request{Argv: []string{"tar", "-C", path.Dir(name), "-cf", "-", path.Base(name)}}
		reply, err := g.Run(ctx, req, agent.Streams{Out: w})
		if err == nil && reply.Code != 0 {
			err = fmt.Errorf("lab guest: tar of %s: exit status %d", name, reply.Code)
		}
		w.CloseWithError(err) // nil is the end of the file
	}()
	err = into.extract(r)
	r.CloseWithError(err) // and the guest's tar need not go on
	if err != nil {
		return fmt.Errorf("fetch %s from the lab guest: %w", name, err)
	}
	return nil
}

// fetched is a directory of the host that files of a guest are put into. Whatever names the guest
// sends, and whatever others put there, nothing is written through a link: each directory is opened
// in the one above, and each file is new.
type fetched struct {
	top   *sys.Dir
	below map[string]*sys.Dir // by path, as far as they are open
}

func (f *fetched) close() {
	for _, d := range f.below {
		_ = d.Close() // only a handle
	}
	_ = f.top.Close()
}

// dir opens a directory of the tree, and makes it where it is missing.
func (f *fetched) dir(name string) (*sys.Dir, error) {
	if name == "." {
		return f.top, nil
	}
	if d := f.below[name]; d != nil {
		return d, nil
	}
	above, err := f.dir(path.Dir(name))
	if err != nil {
		return nil, err
	}
	if err := above.Mkdir(path.Base(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	d, err := above.OpenSub(path.Base(name))
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
		return nil, fmt.Errorf("%s is a link or a file: remove it, or name another directory with --out",
			filepath.Join(above.Name(), path.Base(name)))
	}
	if err != nil {
		return nil, err
	}
	f.below[name] = d
	return d, nil
}

func (f *fetched) extract(from io.Reader) error {
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
		switch h.Typeflag {
		case tar.TypeDir:
			_, err = f.dir(name)
		case tar.TypeReg:
			err = f.file(name, fs.FileMode(h.Mode).Perm(), archive)
		default: // results hold no links or devices
		}
		if err != nil {
			return err
		}
	}
}

// file writes a file in place of one that is there.
func (f *fetched) file(name string, mode fs.FileMode, from io.Reader) error {
	dir, err := f.dir(path.Dir(name))
	if err != nil {
		return err
	}
	if err := dir.Remove(path.Base(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := dir.Create(path.Base(name), mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
