package bundle

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/foreign"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/script"
	"plimsoll/internal/sys"
)

// Gather reads every output in files, directories and, for "-", standard input, and the documents
// that hold them. Logs that belong together become one output; of a run that printed its figures
// again and again, only the last stays.
func Gather(args []string, in io.Reader) ([]*fio.Output, map[string]*Document, error) {
	var outputs []*fio.Output
	documents := map[string]*Document{}
	for _, arg := range args {
		if arg == "-" {
			head, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
			if err != nil {
				return nil, nil, err
			}
			outs, err := output.Read("-", io.MultiReader(bytes.NewReader(head), in))
			if err != nil {
				return nil, nil, err
			}
			outs = source(stdin, outs)
			around(documents, outs, head)
			outputs = append(outputs, outs...)
			continue
		}
		files, err := filesBelow(arg)
		if err != nil {
			return nil, nil, err
		}
		outs, err := readFiles(files)
		if err != nil {
			return nil, nil, err
		}
		// Of a document without any output of fio a table counts, if it was named: next to logs it
		// repeats what they say.
		if len(outs) == 0 && len(files) == 1 && files[0] == arg && isProse(arg) {
			data, err := sys.Text(arg)
			if err != nil {
				return nil, nil, err
			}
			outs = source(arg, foreign.ReadTable(data))
		}
		outputs = append(outputs, outs...)
	}
	looked := map[string]bool{}
	for _, o := range outputs {
		if _, known := documents[o.Source]; known || looked[o.Source] || !prose(o) {
			continue
		}
		looked[o.Source] = true
		data, err := sys.Text(o.Source)
		if err != nil {
			return nil, nil, err
		}
		if isProse(o.Source) || quotes(data) || memoryDisk.Match(data) {
			around(documents, []*fio.Output{o}, data)
		}
	}
	return outputs, documents, nil
}

// PassedOver are the files below what was named that no output came of, by why; of a single file that was named there
// is an error instead.
func PassedOver(args []string, outputs []*fio.Output) map[string][]string {
	files := map[string][]string{}
	sources := map[string]bool{}
	for _, o := range outputs {
		sources[o.Source] = true
		for _, u := range o.Unread {
			sources[filepath.Join(filepath.Dir(o.Source), u.File)] = true
		}
	}
	for _, arg := range args {
		below, err := filesBelow(arg)
		if err != nil || len(below) == 1 && below[0] == arg {
			continue
		}
		for _, f := range below {
			why := "holds no result"
			switch info, err := sys.Stat(f); {
			case sources[f] || output.IsLogName(f):
				continue
			case err != nil || info.Size() == 0:
				why = "empty"
			case script.NamesJob(f):
				continue // what was to be done, not what came of it
			case isProse(f):
				why = "holds no output of fio; tables are read only from files that are named"
			}
			files[why] = append(files[why], f)
		}
	}
	return files
}

// around reads the text around outputs that stood in text.
func around(documents map[string]*Document, outs []*fio.Output, data []byte) {
	if len(outs) > 0 && outs[0].Format == fio.Text && len(data) <= maxDocument {
		documents[outs[0].Source] = ReadDocument(outs[0].Source, data, os.LookupEnv)
	}
}

// maxDocument is the size up to which the text around results is read.
const maxDocument = 4 << 20

// prose says that an output is text in a file that may hold more than it.
func prose(o *fio.Output) bool {
	info, err := sys.Stat(o.Source)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxDocument && o.Format == fio.Text
}

// quotes says whether a section of a job file, or fio's command, stands in any other file.
func quotes(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if (bytes.HasSuffix(line, []byte("]")) || bytes.Contains(line, []byte("fio -"))) && quotedJob.Match(line) {
			return true
		}
	}
	return false
}

var quotedJob = regexp.MustCompile(`^\[[\w .-]+\]$|^(?:[$#>] *)?(?:sudo )?fio -`)

func isProse(name string) bool {
	ends := strings.Fields(".md .markdown .mdx .rst .txt .html .htm .csv .tsv")
	return slices.Contains(ends, strings.ToLower(filepath.Ext(name)))
}

// Unread says of files of which nothing was read what a table in them needs; empty where they have none.
func Unread(names []string) string {
	for _, name := range names {
		if data, err := sys.Text(name); err == nil && isProse(name) && foreign.HasTable(data) {
			return ": of a table, only columns or rows named IOPS, bandwidth, latency or p99 in English are read, " +
				"with read or write in their names or fio's command above them"
		}
	}
	return ""
}

// filesBelow is the file itself, or every regular file below a directory, in order of names. Runs
// of plimsoll below it are left out.
func filesBelow(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root {
			if sys.Exists(filepath.Join(path, "run.json")) {
				return filepath.SkipDir
			}
		}
		if err == nil && (d.Type().IsRegular() || path == root && !d.IsDir()) {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// readFiles reads files on all cores; the outputs keep the files' order, logs come last.
func readFiles(files []string) ([]*fio.Output, error) {
	logs := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !output.IsLogName(f) || !looksLikeLog(f) })
	rest := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return slices.Contains(logs, f) })

	outs := make([][]*fio.Output, len(rest))
	errs := make([]error, len(rest))
	var wg sync.WaitGroup
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, name := range rest {
		busy <- struct{}{}
		wg.Go(func() {
			outs[i], errs[i] = readFile(name)
			<-busy
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	all := slices.Concat(outs...)
	if len(logs) > 0 {
		out, err := output.ReadLogs(rootFS{}, logs, versionBeside(logs[0], all))
		if err != nil {
			return nil, err
		}
		all = append(all, source(logs[0], []*fio.Output{out})...)
	}
	return all, nil
}

// versionBeside is the version of fio that all outputs in the directory of a log name, "" where they
// differ or name none.
func versionBeside(log string, outs []*fio.Output) string {
	version := ""
	for _, o := range outs {
		if o.Version == "" || filepath.Dir(o.Source) != filepath.Dir(log) {
			continue
		}
		if version != "" && version != o.Version {
			return ""
		}
		version = o.Version
	}
	return version
}

func readFile(name string) ([]*fio.Output, error) {
	f, err := sys.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	outs, err := output.Read(name, f)
	return source(name, outs), errors.Join(err, f.Close())
}

func source(name string, outs []*fio.Output) (apart []*fio.Output) {
	outs, _ = output.Final(outs)
	for _, o := range outs {
		o.PlaceMixed()
		apart = append(apart, o.Phases()...)
	}
	for _, o := range apart {
		o.Source = name
	}
	return apart
}

// looksLikeLog tells a log from other output with a log's name: people call fio's normal output
// x_lat.log too.
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
