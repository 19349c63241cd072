package cloud

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/sys"
	"plimsoll/internal/yamlfile"
)

// Provider is a cloud that rents out machines and volumes: a directory of the catalogue, or one of the
// user's own below Dir (docs/clouds.md), and whom a machine asks about itself.
type Provider struct {
	asker
	terms  *Terms
	types  func() []VolumeType
	sheets map[string]func() *sheet
	all    func() []InstanceFacts
	prices func() *Prices
}

// Dir is where a person keeps clouds of their own, below the current directory.
const Dir = "clouds"

// The files of a cloud; all but the machines or the volumes may be missing.
const (
	fileTerms    = "cloud.yaml"   // or cloud.json, as the catalogue has both: YAML takes 180 ms, JSON one
	fileVolumes  = "volumes.yaml" // or volumes.json
	fileMachines = "machines.csv"
	fileLimits   = "limits.csv"   // of machines, by type of volume
	fileAttach   = "attach.csv"   // how many volumes a machine attaches
	fileLocal    = "local.csv"    // what is published of local drives, all of a machine together
	fileMeasured = "measured.csv" // what was measured of them
	fileHistory  = "history.csv"  // limits that were published before
	filePrices   = "prices.csv"
)

// reader reads one of a cloud's files; its error is fs.ErrNotExist where there is none.
type reader func(file string) ([]byte, error)

// open takes a cloud's terms. All else is read when it is first asked for, and wrong is what is wrong in it.
func open(name string, read reader) (*Provider, error) {
	d := &Provider{
		terms: &Terms{
			Cloud: name, Short: name, Vendor: name, Volumes: "volumes", API: "its provider", IOLeft: "its provider",
			ByLeft: "its provider", VolLeft: "its provider",
		},
		sheets: map[string]func() *sheet{},
	}
	d.asker = nobody{d.terms}
	err := decode(read, fileTerms, d.terms)
	for _, file := range []string{fileMachines, fileLimits, fileAttach, fileLocal, fileMeasured, fileHistory} {
		d.sheets[file] = sync.OnceValue(func() *sheet { return newSheet(read(file)) })
	}
	d.types = sync.OnceValue(func() []VolumeType {
		var all []VolumeType
		_ = decode(read, fileVolumes, &all) // check says what is wrong
		for i := range all {
			all[i].Provider = cmp.Or(all[i].Provider, d.terms.Vendor)
		}
		return all
	})
	d.all = sync.OnceValue(d.machines)
	d.prices = sync.OnceValue(func() *Prices { return d.priced(read) })
	return d, err
}

// decode reads a YAML file of a cloud, or the same as JSON. One that is missing changes nothing.
func decode(read reader, file string, into any) error {
	if data, err := read(strings.TrimSuffix(file, "yaml") + "json"); err == nil {
		return json.Unmarshal(data, into)
	}
	data, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = yamlfile.Decode(data, into); err != nil {
			err = yamlfile.Wrong(file, data, err)
		}
	}
	return err
}

var builtin = sync.OnceValue(func() map[string]*Provider {
	all := map[string]*Provider{}
	for name, ask := range map[string]asker{"aws": EC2{}, "azure": Azure{}, "gcp": Google{}, "other": nil} {
		read := func(file string) ([]byte, error) { return catalogue.ReadFile("catalogue/" + name + "/" + file) }
		all[name], _ = open(name, read) // a test reads them
		all[name].asker = ask
	}
	return all
})

// AWS is Amazon's cloud.
func AWS() *Provider { return builtin()["aws"] }

// Own are the clouds that lie in Dir, by name. The error says what is wrong in one, with its line, or that
// somebody else may have put them there: then there are none.
var Own = sync.OnceValues(func() ([]*Provider, error) { return In(Dir) })

// In are the clouds that lie in a directory, by name.
func In(dir string) ([]*Provider, error) {
	var all []*Provider
	files, _ := filepath.Glob(filepath.Join(dir, "*", fileMachines))
	volumes, _ := filepath.Glob(filepath.Join(dir, "*", fileVolumes))
	var names []string
	for _, file := range slices.Concat(files, volumes) {
		names = append(names, filepath.Base(filepath.Dir(file)))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		read := func(file string) ([]byte, error) {
			if file == fileHistory || filepath.Ext(file) == ".json" {
				return nil, fs.ErrNotExist // only the catalogue has them
			}
			return sys.ReadFound(filepath.Join(dir, name, file), sys.ConfigLimit)
		}
		d, err := open(name, read)
		if err == nil {
			err = d.check(name, read)
		}
		if m, ok := errors.AsType[*yamlfile.Mistake](err); ok {
			m.File = filepath.Join(dir, name, m.File)
		}
		if err != nil {
			return nil, err
		}
		d.defaults(filepath.Join(dir, name))
		all = append(all, d)
	}
	return all, nil
}

// defaults are the terms of a cloud of the user's own that it does not state: all of its volumes are looked
// at, and what none of them states is not known.
func (d *Provider) defaults(from string) {
	t := d.terms
	if len(t.Types) == 0 {
		for _, v := range d.types() {
			t.Types = append(t.Types, v.Type)
		}
		t.Types = append(t.Types, "local")
	}
	if t.Example == "" {
		t.Example = t.Types[0]
	}
	lacks := map[string]string{"older": from + " does not say which machine types are of a previous generation"}
	if !slices.ContainsFunc(d.types(), func(v VolumeType) bool { return v.Typical != nil }) {
		lacks["latency"] = from + " has no latency for its volumes: state typical in " + fileVolumes
		lacks["sync-commits"] = lacks["latency"] + ", or say what a run measured with --sync-latency"
	}
	if !slices.ContainsFunc(d.types(), func(v VolumeType) bool { return v.AFR > 0 }) {
		lacks["afr"] = from + " has no failure rate for its volumes: state afr in " + fileVolumes
	}
	maps.Copy(lacks, t.Lacks)
	t.Lacks = lacks
}

// own are those of Own that can be used.
func own() []*Provider {
	all, _ := Own()
	return all
}

// Terms are what its file of terms says of the cloud.
func (d *Provider) Terms() *Terms { return d.terms }

// Machines are the facts of all machine types, in the order of their table; of those with two controllers
// the limits of the one that counts where none is named.
func (d *Provider) Machines() []InstanceFacts { return d.all() }

// Prices are those of the cloud's list, and of its machines' table.
func (d *Provider) Prices() *Prices { return d.prices() }

func (d *Provider) priced(read reader) *Prices {
	p := noPrices()
	if list, err := read(filePrices); err == nil {
		_ = p.readCSV(bytes.NewReader(list)) // check says what is wrong
	}
	p.Region = cmp.Or(d.terms.Region, p.Region)
	if d.terms.Prices.Source != "" {
		p.InstanceSource = d.terms.Prices
	}
	for r := range d.sheet(fileMachines).rows() {
		if usd, err := ParseUSD(r.text("usd_hour")); err == nil && usd > 0 {
			p.Instances[r.text("name")] = usd
			p.InstanceSource = cmp.Or(p.InstanceSource, r.from())
		}
	}
	return p
}

// sheet is a CSV file whose lines are found by their first cell without reading the others: a process
// looks up few of thousands of machine types.
type sheet struct {
	head  []string
	lines []string
	at    map[string][]int // lines by the first cell in lower case
}

func newSheet(data []byte, err error) *sheet {
	s := &sheet{at: map[string][]int{}}
	if err != nil {
		return s
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		first, _, _ := strings.Cut(line, ",")
		switch {
		case line == "":
		case s.head == nil:
			s.head = strings.Split(line, ",")
		default:
			key := strings.ToLower(first)
			s.at[key] = append(s.at[key], len(s.lines))
			s.lines = append(s.lines, line)
		}
	}
	return s
}

func (s *sheet) row(line int) row {
	text := s.lines[line]
	if !strings.Contains(text, `"`) {
		return row{s.head, strings.Split(text, ",")}
	}
	cells, _ := csv.NewReader(strings.NewReader(text)).Read() // check says what is wrong
	return row{s.head, cells}
}

// rows are all rows, in the file's order.
func (s *sheet) rows() func(yield func(row) bool) {
	return func(yield func(row) bool) {
		for i := range s.lines {
			if !yield(s.row(i)) {
				return
			}
		}
	}
}

// of are the rows whose first cell is name, in whatever case.
func (s *sheet) of(name string) []row {
	var rows []row
	for _, i := range s.at[strings.ToLower(name)] {
		rows = append(rows, s.row(i))
	}
	return rows
}

func (d *Provider) sheet(file string) *sheet { return d.sheets[file]() }

type row struct{ head, cells []string }

func (r row) text(column string) string {
	if i := slices.Index(r.head, column); i >= 0 && i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// num is 0 for an empty cell: unknown.
func (r row) num(column string) float64 {
	v, _ := strconv.ParseFloat(r.text(column), 64)
	return v
}

// trust is the level as tables have it, in short or as a word: a page that was read and an API that answers
// in bytes are verified; a rounded or second-hand figure, and all of a table that does not say, is partial.
func (r row) trust() Trust {
	if !slices.Contains(r.head, "trust") {
		return Partial
	}
	short := r.text("trust")
	return cmp.Or(
		map[string]Trust{"v": Verified, "p": Verified, "e": Verified, "r": Partial, "s": Partial}[short],
		Trust(short),
	)
}

// from is where the row's figures are from; the catalogue's tables name sources in short.
func (r row) from() Provenance {
	named := r.text("source")
	return Provenance{Source: cmp.Or(sources()[named], named), AsOf: r.text("as_of"), Trust: r.trust()}
}

var sources = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for r := range newSheet(catalogue.ReadFile("catalogue/sources.csv")).rows() {
		all[r.text("code")] = r.text("source")
	}
	return all
})
