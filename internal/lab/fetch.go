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

	"plimsoll/internal/lab/agent"
)

// Fetch copies a directory or file of the guest, /root/runs say, to the directory to of the host as
// to/runs. What is there already is replaced file by file. It returns fs.ErrNotExist when the guest
// has no such thing.
func (g *Guest) Fetch(ctx context.Context, name, to string) error {
	if r, err := g.Exec(ctx, "test", "-e", name); err != nil || r.Code != 0 {
		return errors.Join(err, fmt.Errorf("lab guest: %s: %w", name, fs.ErrNotExist))
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(to) // a guest cannot write beside it, whatever names it sends
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // holds nothing back
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
		switch h.Typeflag {
		case tar.TypeDir:
			if err := root.MkdirAll(name, 0o777); err != nil {
				return err
			}
		case tar.TypeReg:
			if err := extractFile(root, name, fs.FileMode(h.Mode).Perm(), archive); err != nil {
				return err
			}
		default: // results hold no links or devices
		}
	}
}

func extractFile(root *os.Root, name string, mode fs.FileMode, from io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
