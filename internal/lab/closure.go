package lab

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// library resolves what a program links to, as ld.so(8) does, from the files of a root.
type library struct {
	root fs.FS
	dirs []string // without a leading slash
}

func newLibrary(root fs.FS) (*library, error) {
	l := &library{root: root}
	confs, err := fs.Glob(root, "etc/ld.so.conf.d/*.conf")
	if err != nil {
		return nil, err
	}
	for _, name := range confs {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			continue // a dangling link is no reason to give up
		}
		for line := range strings.Lines(string(text)) {
			if dir := strings.TrimSpace(line); strings.HasPrefix(dir, "/") {
				l.dirs = append(l.dirs, dir[1:])
			}
		}
	}
	l.dirs = append(l.dirs, "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/lib64", "lib", "usr/lib")
	return l, nil
}

// closure returns the programs' dynamic loader and libraries, by their full names without the
// leading slash.
func (l *library) closure(programs ...string) ([]string, error) {
	var found []string
	seen := map[string]bool{}
	for queue := slices.Clone(programs); len(queue) > 0; queue = queue[1:] {
		needs, interp, dirs, err := l.needs(queue[0])
		if err != nil {
			return nil, err
		}
		if interp != "" && !seen[interp] {
			seen[interp] = true
			found = append(found, interp)
		}
		for _, soname := range needs {
			if seen[soname] {
				continue
			}
			seen[soname] = true
			name := l.find(soname, dirs)
			if name == "" {
				return nil, fmt.Errorf("%s needs the library %s, which is not there", queue[0], soname)
			}
			found = append(found, name)
			queue = append(queue, name)
		}
	}
	return found, nil
}

// needs reads DT_NEEDED, DT_RPATH, DT_RUNPATH and the loader of one file; a script needs nothing.
func (l *library) needs(name string) (sonames []string, interp string, dirs []string, err error) {
	file, err := l.root.Open(name)
	if err != nil {
		return nil, "", nil, err
	}
	defer func() { _ = file.Close() }() // only read
	r, ok := file.(io.ReaderAt)
	if !ok {
		return nil, "", nil, fmt.Errorf("%s: cannot be read at random", name)
	}
	f, err := elf.NewFile(r)
	if _, notELF := errors.AsType[*elf.FormatError](err); notELF {
		return nil, "", nil, nil
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
			if err != nil {
				return nil, "", nil, fmt.Errorf("%s: %w", name, err)
			}
			interp = strings.TrimLeft(string(bytes.TrimRight(text, "\x00")), "/")
		}
	}
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		paths, _ := f.DynString(tag) // a static program has none
		for _, list := range paths {
			for dir := range strings.SplitSeq(list, ":") {
				dir = strings.ReplaceAll(dir, "$ORIGIN", "/"+path.Dir(name))
				dirs = append(dirs, strings.TrimLeft(path.Clean(dir), "/"))
			}
		}
	}
	sonames, _ = f.DynString(elf.DT_NEEDED)
	return sonames, interp, dirs, nil
}

func (l *library) find(soname string, first []string) string {
	for _, dir := range slices.Concat(first, l.dirs) {
		name := path.Join(dir, soname)
		if info, err := fs.Stat(l.root, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// moduleClosure returns the files of kernel modules and of those they depend on, below
// lib/modules/VERSION. A name that modules.dep does not know is built in, or absent; both are for
// modprobe in the guest to say.
func moduleClosure(dep io.Reader, names []string) ([]string, error) {
	files, needs := map[string]string{}, map[string][]string{}
	lines := bufio.NewScanner(dep)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		file, rest, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			return nil, fmt.Errorf("modules.dep: %q: want a file, a colon and the files it needs", lines.Text())
		}
		files[moduleName(file)] = file
		needs[file] = strings.Fields(rest)
	}
	var found []string
	for _, name := range names {
		file, ok := files[moduleName(name)]
		if !ok {
			continue
		}
		for _, f := range append([]string{file}, needs[file]...) { // modules.dep lists indirect ones, too
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found, lines.Err()
}

// moduleName is a module's name as the kernel has it: kernel/drivers/md/dm-mod.ko.xz is dm_mod.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}
