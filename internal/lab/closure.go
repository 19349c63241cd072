package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// libraries are the loader and the libraries of programs, as ldd(1) finds them, by their full names without the
// leading slash.
func libraries(ctx context.Context, m *sys.Machine, programs ...string) ([]string, error) {
	argv := []string{"ldd"}
	for _, p := range programs {
		argv = append(argv, "/"+p)
	}
	out, err := m.Output(ctx, argv...)
	if failed, ok := errors.AsType[*sys.Failed](err); err != nil && (!ok || failed.Code != 1) { // 1: of one that is static
		return nil, err
	}
	var found []string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if strings.Contains(line, "=> not found") {
			return nil, fmt.Errorf("a program needs the library %s, which is not there", f[0])
		}
		for _, name := range f {
			if strings.HasPrefix(name, "/") && !strings.HasSuffix(name, ":") {
				found = text.Once(found, name[1:])
			}
		}
	}
	return found, nil
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
			found = text.Once(found, f)
		}
	}
	return found, lines.Err()
}

// moduleName is a module's name as the kernel has it: kernel/drivers/md/dm-mod.ko.xz is dm_mod.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}
