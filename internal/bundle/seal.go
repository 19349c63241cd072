package bundle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/verdict"
)

// sums is the file of checksums in each scenario's directory, and in the bundle's own, in the form
// of sha256sum -c. They show damage; they are no signature, since who changes a file on purpose can
// change its sum.
const sums = "SHA256SUMS"

// largest is up to what size a file is compared with its checksum whenever a bundle is read. Of
// larger ones, the raw documents of long runs, only the presence is checked; sha256sum -c checks
// them.
const largest = 64 << 20

// seal writes the checksums of a directory's files: of those named, or of all when none is.
func seal(dir string, names ...string) error {
	if len(names) == 0 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type().IsRegular() && e.Name() != sums {
				names = append(names, e.Name())
			}
		}
	}
	var text []byte
	for _, name := range names {
		sum, err := sumOf(filepath.Join(dir, name), 0)
		if err != nil {
			return err
		}
		text = sumLine(text, sum, name)
	}
	return writeFile(filepath.Join(dir, sums), text)
}

// sumLine adds a file's line to the text of checksums.
func sumLine(text []byte, sum, name string) []byte { return fmt.Appendf(text, "%s  %s\n", sum, name) }

// sumOf is a file's checksum, "" for one that is larger than limit, when there is one.
func sumOf(name string, limit int64) (string, error) {
	f, err := sys.OpenRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err != nil || limit > 0 && info.Size() > limit {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// parseSums reads checksums: names by their sums. A name that leads elsewhere is an error.
func parseSums(data []byte) (map[string]string, error) {
	all := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		raw, err := hex.DecodeString(sum)
		if !ok || err != nil || len(raw) != sha256.Size || !filepath.IsLocal(name) {
			return nil, fmt.Errorf("line %d: want a checksum and a name", n)
		}
		all[name] = sum
	}
	return all, lines.Err()
}

// damage is what is wrong with the files of a directory of the bundle: missing, changed, not to be
// read, or, of those that it consists of, not named by its checksums.
func damage(bundle, dir string, limit int64, files ...string) (found []string) {
	at := func(name string) string { return filepath.Join(dir, name) }
	data, err := sys.ReadFile(filepath.Join(bundle, at(sums)), sys.ConfigLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{at(sums) + " is missing"}
	}
	var want map[string]string
	if err == nil {
		want, err = parseSums(data)
	}
	if err != nil {
		return []string{at(sums) + " cannot be read"}
	}
	for name, sum := range want {
		got, err := sumOf(filepath.Join(bundle, at(name)), limit)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found = append(found, at(name)+" is missing")
		case err != nil:
			found = append(found, at(name)+" cannot be read")
		case got != "" && got != sum:
			found = append(found, at(name)+" was changed")
		}
	}
	for _, name := range files {
		if _, named := want[name]; !named {
			found = append(found, at(sums)+" lacks "+name)
		}
	}
	slices.Sort(found)
	return found
}

// dirs are the directories below the bundle that hold a result of the scenario: one, or one for each
// round.
func (s *Scenario) dirs() (dirs []string) {
	for _, r := range s.Rounds {
		dirs = append(dirs, r.Dir)
	}
	if len(dirs) == 0 && s.Result != nil {
		dirs = []string{DirName(s.Scenario)}
	}
	return dirs
}

// inspect fills in what is wrong with the bundle's files. One that is sealed consists of run.json,
// its findings and the results, and its checksums name each.
func (b *Bundle) inspect(sealed bool) {
	b.Damaged = nil
	files := []string{"run.json", "findings.json"}
	for _, s := range b.Scenarios {
		dirs := s.dirs()
		for _, dir := range dirs {
			b.Damaged = append(b.Damaged, damage(b.Dir, dir, largest, "result.json")...)
			if len(s.Rounds) == 0 { // the checksums of rounds hold by themselves: older runs do not name them
				files = append(files, filepath.Join(dir, sums))
			}
		}
		if len(dirs) == 0 && b.Run.State == Finished {
			b.Damaged = append(b.Damaged, filepath.Join(DirName(s.Scenario), "result.json")+" is missing")
		}
	}
	if sealed {
		b.Damaged = append(b.Damaged, damage(b.Dir, "", largest, files...)...)
	}
}

// Inspect makes a run invalid, of which only run.json was read, where its files are damaged as far as a look at
// the small ones shows.
func (r *Run) Inspect(dir string) {
	if r.State != Finished {
		return
	}
	const small = 1 << 20
	found := damage(dir, "", small, "run.json", "findings.json")
	for _, below := range []string{"*", "*/*"} {
		all, _ := filepath.Glob(filepath.Join(dir, below, sums)) // the pattern is a good one
		for _, file := range all {
			found = append(found, damage(filepath.Dir(file), "", small, "result.json")...)
		}
	}
	if len(found) > 0 {
		r.Verdict = verdict.Invalid
	}
}

// Same says that another directory holds this very run, and not one of the same second and name of another host.
func (b *Bundle) Same(o *Bundle) bool {
	r, n := &b.Run, &o.Run
	return r.ID == n.ID && r.Created.Equal(n.Created) && r.Finished.Equal(n.Finished) &&
		r.Topology.Host.Name == n.Topology.Host.Name
}

// judgeDamage makes a damaged run invalid: what is missing might have failed.
func (b *Bundle) judgeDamage() {
	if len(b.Damaged) == 0 {
		return
	}
	const most = 4
	text := "The run's files are damaged: " + strings.Join(b.Damaged[:min(len(b.Damaged), most)], ", ")
	if more := len(b.Damaged) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	b.Run.Verdict = verdict.Invalid
	for i := range b.Scenarios {
		b.Scenarios[i].Verdict = verdict.Invalid
	}
	b.Run.Reasons = append([]string{text + "."}, b.Run.Reasons...)
	b.Run.Reasons = b.Run.Reasons[:min(len(b.Run.Reasons), 3)]
}

// settle finds a run that says running although nobody holds its directory: its process was killed.
func (r *Run) settle(dir string) {
	if r.State != Running {
		return
	}
	if release, err := sys.Lock(dir); err == nil {
		release()
		r.State = Interrupted
	}
}
