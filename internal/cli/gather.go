package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/fio"
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
	f, err := os.Open(name)
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
		apart = append(apart, phases(o)...)
	}
	outs = apart
	for _, o := range outs {
		o.Source = name
		for i := range o.Jobs {
			placeMixed(o, &o.Jobs[i])
		}
	}
	return outs
}

// phases takes an output apart whose jobs ran one after another, as stonewall makes them: each then has a status group of its own, and
// rates of different times do not add up. The statistics of the disks are those of all phases.
func phases(o *fio.Output) []*fio.Output {
	var ids []int
	for i := range o.Jobs {
		j := &o.Jobs[i]
		_, together := j.Options["new_group"]
		_, stonewall := j.Options["stonewall"]
		if together && !stonewall || j.Group < 0 {
			return []*fio.Output{o}
		}
		if !slices.Contains(ids, j.Group) {
			ids = append(ids, j.Group)
		}
	}
	if len(ids) < 2 {
		return []*fio.Output{o}
	}
	var parts []*fio.Output
	for n, id := range ids {
		p := *o
		if n > 0 {
			p.Unread, p.Messages, p.Progress, p.Series, p.AllClients, p.Extra = nil, nil, nil, nil, nil, nil
		}
		p.Jobs, p.Groups, p.Doubts = nil, nil, nil
		for _, j := range o.Jobs {
			if j.Group == id {
				p.Jobs = append(p.Jobs, j)
			}
		}
		for _, g := range o.Groups {
			if g.ID == id {
				p.Groups = append(p.Groups, g)
			}
		}
		for _, d := range o.Doubts {
			of := slices.IndexFunc(o.Jobs, func(j fio.Job) bool { return j.Name != "" && strings.HasPrefix(d, j.Name+": ") })
			if of < 0 && n == 0 || of >= 0 && o.Jobs[of].Group == id {
				p.Doubts = append(p.Doubts, d)
			}
		}
		if name := p.Jobs[0].Name; name != "" {
			p.Title = strings.TrimPrefix(strings.TrimSuffix(o.Title, ":")+": "+name, ": ")
		}
		parts = append(parts, &p)
	}
	return parts
}

// placeMixed gives what unified_rw_reporting adds up a direction, so that it counts in sums: the one that the job asked for, else reads.
func placeMixed(o *fio.Output, j *fio.Job) {
	if j.Mixed == nil || j.Read.N+j.Write.N+j.Trim.N > 0 {
		return
	}
	asked := j.Options["rw"]
	if asked == "" {
		asked = o.Global["rw"]
	}
	switch strings.TrimPrefix(asked, "rand") {
	case "read":
		j.Read = *j.Mixed
	case "write":
		j.Write = *j.Mixed
	case "trim":
		j.Trim = *j.Mixed
	default:
		j.Read = *j.Mixed
		o.Doubts = append(o.Doubts, j.Name+": fio reported reads and writes as one (unified_rw_reporting); the sum stands as reads")
	}
}

// looksLikeLog tells a log from other output with a log's name: people call fio's normal output x_lat.log too.
func looksLikeLog(name string) bool {
	f, err := os.Open(name)
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

func (rootFS) Open(name string) (fs.File, error) { return os.Open(name) }
