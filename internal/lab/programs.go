package lab

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/sys"
)

// programSets are what a spec's programs: may name: what few guests need comes in after the start,
// so that the image of all others stays small.
var programSets = []string{"postgresql"}

// postgresPrograms are those of PostgreSQL that plimsoll runs, and its shell.
var postgresPrograms = strings.Fields("initdb postgres pgbench psql pg_test_fsync pg_test_timing")

// putPrograms copies the spec's programs from the host into the guest, with their libraries.
func (g *Guest) putPrograms(ctx context.Context) error {
	for _, name := range g.cfg.Spec.Programs {
		t, err := postgresTree(ctx, g.m)
		if err == nil {
			err = g.dropPresent(ctx, t)
		}
		if err != nil {
			return fmt.Errorf("%s: programs: %s: %w", g.cfg.Spec.Name, name, err)
		}
		r, w := io.Pipe()
		go func() { _ = w.CloseWithError(writeTar(w, t)) }() // the reader gets the error
		_, err = g.must(ctx, r, "sh", "-c", `tar -x -C / &&
			echo postgres:x:26:26::/var/lib/postgresql:/bin/sh >>/etc/passwd && echo postgres:x:26: >>/etc/group`)
		_ = r.Close() // ends the writer, if it has not ended
		if err != nil {
			return fmt.Errorf("%s: programs: %s: %w", g.cfg.Spec.Name, name, err)
		}
	}
	return nil
}

// dropPresent leaves out what the guest has: its own loader and libraries are in use.
func (g *Guest) dropPresent(ctx context.Context, t tree) error {
	var names strings.Builder
	for name := range t {
		fmt.Fprintln(&names, name)
	}
	present, err := g.must(ctx, strings.NewReader(names.String()), "sh", "-c",
		`while read -r f; do if [ -e "/$f" ]; then echo "$f"; fi; done`)
	for name := range strings.Lines(present) {
		delete(t, strings.TrimSuffix(name, "\n"))
	}
	return err
}

// postgresTree is the newest PostgreSQL of Debian's packages, without its compiler.
func postgresTree(ctx context.Context, m *sys.Machine) (tree, error) {
	root := m.Root
	found, err := fs.Glob(root, "usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("no /usr/lib/postgresql/*/bin/postgres: install postgresql")
	}
	slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) }) // 9.6 was the last of another length
	home := path.Dir(path.Dir(found[len(found)-1]))
	var files []string
	for _, name := range postgresPrograms {
		files = append(files, home+"/bin/"+name)
	}
	modules, err := fs.Glob(root, home+"/lib/*.so")
	if err != nil {
		return nil, err
	}
	files = append(files, slices.DeleteFunc(modules, func(name string) bool {
		return strings.HasPrefix(path.Base(name), "llvmjit") // and with it a hundred megabytes
	})...)
	needed, err := libraries(ctx, m, files...)
	if err != nil {
		return nil, err
	}
	files = append(files, needed...)
	share := "usr/share/postgresql/" + path.Base(home)
	err = fs.WalkDir(root, share, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t := tree{}
	for _, name := range append(files, "usr/share/zoneinfo/UTC", "usr/share/zoneinfo/GMT") {
		if err := t.copy(root, name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// writeTar writes copied files, whose directories tar makes.
func writeTar(to io.Writer, t tree) error {
	w := tar.NewWriter(to)
	for _, n := range t.sorted() {
		if n.open == nil {
			continue
		}
		if err := w.WriteHeader(&tar.Header{Name: n.name, Mode: int64(n.mode.Perm()), Size: n.size}); err != nil {
			return err
		}
		from, err := n.open()
		if err != nil {
			return err
		}
		_, err = io.Copy(w, from)
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
	}
	return w.Close()
}
