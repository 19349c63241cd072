package cli

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
)

// gather reads every output in files, directories and, for "-", standard input. Logs that belong together become one output; of a run
// that printed its figures again and again, only the last stays.
func gather(args []string, in io.Reader) ([]*fio.Output, error) {
	var outputs []*fio.Output
	for _, arg := range args {
		if arg == "-" {
			outs, err := fio.Read("-", in)
			if err != nil {
				return nil, err
			}
			outputs = append(outputs, source("standard input", outs)...)
			continue
		}
		files, err := filesBelow(arg)
		if err != nil {
			return nil, err
		}
		outs, err := readFiles(files)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, outs...)
	}
	return outputs, nil
}

// filesBelow is the file itself, or every regular file below a directory, in order of names.
func filesBelow(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.Type().IsRegular() || path == root && !d.IsDir()) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// readFiles reads files on all cores; the outputs keep the files' order, logs come last.
func readFiles(files []string) ([]*fio.Output, error) {
	logs := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !fio.IsLogName(f) || !looksLikeLog(f) })
	rest := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return slices.Contains(logs, f) })

	outs := make([][]*fio.Output, len(rest))
	errs := make([]error, len(rest))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				outs[i], errs[i] = readFile(rest[i])
			}
		})
	}
	for i := range rest {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := slices.Concat(outs...)
	if len(logs) > 0 {
		out, err := fio.ReadLogs(rootFS{}, logs)
		if err != nil {
			return nil, err
		}
		all = append(all, source(logs[0], []*fio.Output{out})...)
	}
	return all, nil
}

func readFile(name string) ([]*fio.Output, error) {
	f, err := sys.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	outs, err := fio.Read(name, f)
	return source(name, outs), errors.Join(err, f.Close())
}

func source(name string, outs []*fio.Output) []*fio.Output {
	outs, _ = fio.Final(outs)
	var apart []*fio.Output
	for _, o := range outs {
		o.PlaceMixed()
		apart = append(apart, o.Phases()...)
	}
	for _, o := range apart {
		o.Source = name
	}
	return apart
}

// looksLikeLog tells a log from other output with a log's name: people call fio's normal output x_lat.log too.
func looksLikeLog(name string) bool {
	f, err := sys.OpenRegular(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read from
	var first [1]byte
	_, err = f.Read(first[:])
	return err == nil && first[0] >= '0' && first[0] <= '9'
}

// rootFS opens files by the names that users give, absolute or relative.
type rootFS struct{}

func (rootFS) Open(name string) (fs.File, error) { return sys.OpenRegular(name) }
