package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
)

// Writer fills a bundle while its run goes on. One process at a time holds it.
type Writer struct {
	Dir     string
	Run     Run
	dir     *sys.Dir // the same directory, whatever its name leads to by now
	release func()
	round   int // see InRound
}

// Create makes a new bundle below out, named after the time, the suite and the host, and writes
// run.json. Close it.
func Create(out string, run Run) (*Writer, error) {
	id := fmt.Sprintf("%s-%s", run.Created.UTC().Format("20060102T150405Z"), slug(run.Suite.Name))
	if host := run.Topology.Host.Name; host != "" { // that of an import is often not known
		id += "-" + slug(host)
	}
	dir, id, err := makeRun(out, id, modeOf(run.Suite.Sources()))
	if err != nil {
		return nil, err
	}
	run.Schema, run.ID = Schema, id
	w := &Writer{Dir: filepath.Join(out, id), Run: run, dir: dir}
	return w, w.start()
}

// makeRun makes a directory below out that no other run has, and holds it. Its name is id, with a number behind
// it where there is one of that name.
func makeRun(out, id string, mode fs.FileMode) (dir *sys.Dir, name string, err error) {
	runs, err := sys.MakePath(out, 0o755)
	if err != nil {
		return nil, "", err
	}
	defer runs.Close() //nolint:errcheck // only a handle
	for n := 1; n < 1000; n++ {
		name = id
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		if dir, err = runs.MakeOwnSub(name, mode); !errors.Is(err, os.ErrExist) {
			return dir, name, err
		}
	}
	return nil, "", fmt.Errorf("%s: a thousand runs of one second", filepath.Join(out, id))
}

// Reopen resumes a bundle that was interrupted: it drops what an aborted scenario left and
// returns what is there.
func Reopen(dir string) (*Writer, *Bundle, error) {
	if _, err := Open(dir); err != nil { // its error has the name that the user knows
		return nil, nil, err
	}
	held, err := sys.OpenPath(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := held.CheckOwn(); err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	// What counts is in the directory that is held: another may have had its name before.
	b, err := Open(held.Path())
	if err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	b.Dir = dir
	w := &Writer{Dir: dir, Run: b.Run, dir: held}
	if err := w.start(); err != nil {
		return nil, nil, err
	}
	left, err := filepath.Glob(held.Path(".*.tmp"))
	_, _, unswept := held.EndWrites(false)
	err = errors.Join(err, unswept)
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return w, b, err
}

func (w *Writer) start() error {
	if err := w.dir.CheckOwn(); err != nil {
		return errors.Join(err, w.dir.Close())
	}
	release, err := w.dir.LockSelf()
	if err != nil {
		return errors.Join(err, w.dir.Close())
	}
	w.release = func() {
		release()
		_ = w.dir.Close()
	}
	w.Run.State = Running
	if err := os.Remove(w.dir.Path(sums)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.Save()
}

// Info is that of the bundle's directory, which is held.
func (w *Writer) Info() (fs.FileInfo, error) { return w.dir.Info() }

// Save writes run.json.
func (w *Writer) Save() error { return writeJSON(w.dir.Path("run.json"), w.Run) }

// Close lets go of the bundle.
func (w *Writer) Close() { w.release() }

// DirName is the directory of a scenario below the bundle.
func DirName(s suite.Scenario) string { return fmt.Sprintf("%02d-%s", s.ID, slug(s.Name)) }

// Begin makes the directory that a scenario's files are written to. It is not part of the bundle
// until Keep.
func (w *Writer) Begin(s suite.Scenario) (string, error) {
	dir := w.dir.Path("." + DirName(s) + ".tmp")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o755)
}

// Keep writes the result into a scenario's directory and makes it part of the bundle.
func (w *Writer) Keep(s suite.Scenario, dir string, r *result.Result) error {
	r.Dir = w.dirName(s)
	if err := writeJSON(filepath.Join(dir, "result.json"), r); err != nil {
		return err
	}
	if err := seal(dir); err != nil {
		return err
	}
	if err := w.dir.Root.RemoveAll(r.Dir); err != nil { // an invalid result that a resumed run measured again
		return err
	}
	if err := w.dir.Rename(filepath.Base(dir), r.Dir); err != nil {
		return err
	}
	return errors.Join(sys.SyncDir(w.dir.Path(filepath.Dir(r.Dir))), sys.SyncDir(w.dir.Path()))
}

// Add makes a result part of a bundle that is being imported, beside which its source still is: nothing is synced
// before Flush, and a directory costs five system calls in place of fifty.
func (w *Writer) Add(s suite.Scenario, r *result.Result) error {
	r.Dir = w.dirName(s)
	if err := w.dir.Mkdir(r.Dir, 0o755); err != nil {
		return err
	}
	data, err := jsonText(r.Dir, r)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	return errors.Join(w.add(filepath.Join(r.Dir, "result.json"), data),
		w.add(filepath.Join(r.Dir, sums), sumLine(nil, hex.EncodeToString(sum[:]), "result.json")))
}

// add writes a new file.
func (w *Writer) add(name string, data []byte) error {
	f, err := w.dir.Create(name, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Flush makes what was added last.
func (w *Writer) Flush() error { return w.dir.SyncAll() }

// Drop removes what an aborted scenario wrote.
func (w *Writer) Drop(dir string) error { return os.RemoveAll(dir) }

// Finish judges the run, writes the verdict and the findings, and returns the whole bundle.
func (w *Writer) Finish(state State, now time.Time) (*Bundle, error) {
	w.Run.State, w.Run.Finished = state, now
	if err := w.Save(); err != nil {
		return nil, err
	}
	b, err := open(w.dir.Path())
	if err != nil {
		return nil, err
	}
	b.inspect(false) // it is sealed below, with its verdict
	b.Judge()
	w.Run, b.Dir = b.Run, w.Dir
	err = errors.Join(writeJSON(w.dir.Path("findings.json"), b.Findings), w.Save())
	if err != nil {
		return b, err
	}
	names := []string{"run.json", "findings.json"}
	for _, s := range b.Scenarios {
		for _, dir := range s.dirs() {
			names = append(names, filepath.Join(dir, sums))
		}
	}
	return b, seal(w.dir.Path(), names...)
}

// slug turns any text into a short file name: hostile host and job names end here.
func slug(s string) string {
	clean := strings.Trim(notOfSlug.ReplaceAllString(s, "-"), "-.")
	return cmp.Or(clean[:min(len(clean), 48)], "unnamed")
}

var notOfSlug = regexp.MustCompile(`[^A-Za-z0-9_.-]`)
