package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Found is what someone else measured, and what is known beside fio's output.
type Found struct {
	Outputs []*fio.Output
	// Job is the job file of all outputs, where the user names one; Beside gives that of one
	// output, nil for none.
	Job    *fio.JobFile
	Beside func(*fio.Output) *fio.JobFile
	// Documents are the texts around results, by the name of the file.
	Documents map[string]*Document
	// Instances are the types that the user names for results, by a part of the result's name, of
	// the type that the text names, or else of the heading or the file.
	Instances []NamedInstance
	// Pick chooses and orders the results that Import keeps.
	Pick Pick
	// Stated is the scenario whose thresholds a result is judged by, nil for none, and why. The field
	// may be nil.
	Stated func(*result.Result) (s *suite.Scenario, why string)
	// Volumes likewise.
	Volumes []NamedVolumes
}

// NamedInstance is an instance type for the results that Of names.
type NamedInstance struct{ Of, Type string }

// Import makes a bundle below out of outputs that someone else measured: each becomes a scenario
// with its result. run gives what is known beside them: topology, labels, tool, time.
func Import(out string, run Run, found Found) (*Bundle, error) {
	results, err := found.into(&run)
	if err != nil {
		return nil, err
	}
	w, err := Create(out, run)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if err := w.dir.Chmod(".", modeOf(found.sources())); err != nil {
		return nil, err
	}
	for i, s := range w.Run.Suite.Scenarios {
		if err := w.Add(s, results[i]); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return w.Finish(Finished, run.Created)
}

// sources are the files that the outputs were read from.
func (f Found) sources() (names []string) {
	for _, o := range f.Outputs {
		names = append(names, o.Source)
	}
	return names
}

// modeOf is the mode of a bundle's directory: nobody else may enter it where not everybody may read, or
// reach, one of the files whose text is in it.
func modeOf(names []string) fs.FileMode {
	if slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		file, err1 := filepath.EvalSymlinks(name)
		file, err2 := filepath.Abs(file)
		return err1 != nil || err2 != nil || !sys.ReadByAll(file)
	}) {
		return 0o700
	}
	return 0o755
}

// into gives a run a scenario for each result.
func (f Found) into(run *Run) ([]*result.Result, error) {
	results, err := f.results(&run.Topology)
	if err != nil {
		return nil, err
	}
	if !f.Pick.Empty() {
		if f.Pick.judges() {
			if err := f.judge(*run, results); err != nil {
				return nil, err
			}
		}
		if results, err = f.Pick.Of(results); err != nil {
			return nil, err
		}
		for i, r := range results {
			r.ID = i + 1
		}
	}
	return results, f.scenarios(run, results)
}

// scenarios gives a run those of results, with their ceilings.
func (f Found) scenarios(run *Run, results []*result.Result) error {
	run.Ceilings = map[int]ceiling.Ceiling{}
	stated, why := 0, ""
	for _, r := range results {
		s := suite.Scenario{ID: r.ID, Name: r.Name, Title: r.Title, Role: r.Role, AsIs: true, Runtime: r.Planned}
		var like *suite.Scenario
		differs, judged := "", ""
		if f.Stated != nil {
			like, differs = f.Stated(r)
		}
		if like != nil {
			stated++
			s.Thresholds, s.Main = like.Thresholds, like.Main
			judged = "it ran the same load as " + like.Name + ", so it is judged by that scenario's thresholds"
		} else if differs != "" {
			why = r.Name + ": " + differs
		}
		if like == nil && len(r.Expects) > 0 {
			s.Thresholds, judged = r.Expects, "what its table calls the target judges it"
		}
		if judged != "" && !slices.Contains(r.Doubts, judged) { // where it was judged to be picked
			r.Doubts = append(r.Doubts, judged)
		}
		run.Suite.Scenarios = append(run.Suite.Scenarios, s)
		if c := ceiling.Of(cmp.Or(r.Topology, &run.Topology), r.Role, r.Workloads); c.Known() {
			run.Ceilings[s.ID] = c
		}
	}
	if f.Stated != nil && stated == 0 {
		return errors.New(text.Join(": ", "no result matches the load of any scenario in the suite", why))
	}
	return nil
}

// judge gives results their verdicts, and keeps nothing.
func (f Found) judge(run Run, results []*result.Result) error {
	run.Suite.Scenarios = nil
	if err := f.scenarios(&run, results); err != nil {
		return err
	}
	b := Bundle{Run: run}
	for i, s := range run.Suite.Scenarios {
		one := run.scenario(s)
		one.Result = results[i]
		b.Scenarios = append(b.Scenarios, one)
	}
	b.Judge()
	return nil
}

// Results are the outputs as results with their names and verdicts, without keeping them.
func (f Found) Results() ([]*result.Result, error) {
	run := Run{Imported: []string{"-"}}
	results, err := f.results(&run.Topology)
	if err != nil {
		return nil, err
	}
	return results, f.judge(run, results)
}

func (f Found) results(whole *topology.Topology) ([]*result.Result, error) {
	outputs := JoinFragments(f.Outputs)
	results := make([]*result.Result, len(outputs))
	for i, o := range outputs {
		if results[i] = f.result(o); figureless(o) && o.Void == "" {
			results[i].Invalidate("the text has no figure for it")
		}
		results[i].ID = i + 1
	}
	labelFolders(results)
	name(results, outputs)
	for i, o := range outputs {
		if err := f.place(results[i], o, whole); err != nil {
			return nil, err
		}
	}
	name(results, outputs) // now that the machines are known
	ends := map[string]int{}
	for i, o := range outputs {
		if doc := f.Documents[o.Source]; doc != nil {
			results[i].Doubts = append(results[i].Doubts, doc.denied(results[i], o, len(outputs) == 1)...)
			results[i].Memory = doc.inMemory(o, ends[o.Source], len(outputs) == 1)
			ends[o.Source] = o.End
			if doubt := doc.mounted(o, results[i].Workloads); doubt != "" {
				results[i].Doubt("%s", doubt)
			}
		}
	}
	return results, nil
}

// labelFolders labels results of files in several folders with theirs, below the one that holds all.
func labelFolders(results []*result.Result) {
	var common []string
	folders := make([][]string, len(results))
	for i, r := range results {
		folders[i] = strings.Split(filepath.ToSlash(filepath.Dir(r.Source)), "/")
		if i == 0 {
			common = folders[0]
		}
		same := 0
		for same < min(len(common), len(folders[i])) && common[same] == folders[i][same] {
			same++
		}
		common = common[:same]
	}
	if !slices.ContainsFunc(folders, func(f []string) bool { return len(f) > len(common) }) {
		return
	}
	for i, r := range results {
		r.Label("dir", cmp.Or(strings.Join(folders[i][len(common):], "/"), "."))
	}
}

// result works out what the jobs of an output asked for, and fills in its figures.
func (f Found) result(o *fio.Output) *result.Result {
	if len(o.Jobs)+len(o.Groups) == 0 && o.AllClients != nil {
		o = onlyTotal(o)
	}
	r := &result.Result{Title: heading(o), Role: topology.Data, State: result.Done, Start: o.Time, Source: o.Source}
	f.loads(r, o)
	if o.Table {
		o = written(o, r.Workloads)
	}
	result.FromOutput(r, o)
	r.Expects = expected(o)
	r.Planned = planned(r, o)
	if o.Program == "" && !o.Table && o.Format != fio.Logs {
		lacks := part.Missing{}
		if len(r.Workloads) == 0 {
			lacks.Add(part.Head)
		}
		if len(o.Disks) == 0 {
			lacks.Add(part.DiskStats)
		}
		r.Lack(lacks)
	}
	if o.Void != "" {
		r.Invalidate(o.Void)
	}
	if len(o.Jobs) == 0 {
		r.Invalidate("fio's output holds no job's result" + failure(o.Messages))
	}
	return r
}

// figureless says that an output has rows, and no figure of what they did.
func figureless(o *fio.Output) bool {
	return len(o.Jobs) > 0 && len(o.Groups) == 0 && !slices.ContainsFunc(o.Jobs, func(j fio.Job) bool {
		did := j.Sync.Lat.Measured() || j.Mixed != nil || j.Error != 0 || j.TotalErrors > 0
		for _, d := range j.Directions() {
			c := d.Completion()
			did = did || len(j.Buckets) > 0 || d.N > 0 || d.IOPS > 0 || d.BW > 0 || d.Bytes > 0 || c.Measured() ||
				d.BWSamples.Mean > 0
		}
		return did
	})
}

// failure is what fio said of an error, "" where it said nothing.
func failure(messages []string) string {
	for _, m := range messages {
		_, why, ok := strings.Cut(m, ", error=")
		if on := ioError.FindStringSubmatch(m); on != nil {
			why, ok = on[1], true
		}
		if ok {
			return fmt.Sprintf(" but errors: %s (%s)", why, text.Plural(len(messages), "message"))
		}
	}
	return ""
}

// ioError is how fio says of an I/O that it failed, and why.
var ioError = regexp.MustCompile(`io_u error on file .*: ([^:]+): (?:read|write|trim|sync) offset=`)

// onlyTotal takes the total of all clients for the row of an output of which nothing else is quoted.
func onlyTotal(o *fio.Output) *fio.Output {
	own := *o
	own.Jobs, own.AllClients = []fio.Job{*o.AllClients}, nil
	own.Doubt("only the total of all clients is quoted, in which fio adds up jobs that ran one after the other as " +
		"if they had run together")
	return &own
}

// place finds the machine and the volumes that a result was measured on: what the user names for it,
// else what the run states, else what the text says.
func (f Found) place(r *result.Result, o *fio.Output, whole *topology.Topology) error {
	guessed, err := f.machine(r, o, whole)
	if err != nil {
		return err
	}
	for _, n := range f.Volumes {
		if contains([]string{r.Name, r.Title, o.Source, r.Labels["instance"]}, n.Of) {
			return below(r, whole, n.Decl)
		}
	}
	if err := onStorage(r, whole, f.Documents[o.Source], o); err != nil {
		return err
	}
	elsewhere(r, o, whole, guessed)
	return nil
}

// elsewhere leaves the limits of a machine out where nothing says that a result's volumes are those
// on its storage network: it has drives of its own, or is only named in a text around a run of which
// fio counted no device, as of a file on a filesystem of another machine (NFS, Lustre, FUSE).
func elsewhere(r *result.Result, o *fio.Output, whole *topology.Topology, guessed bool) {
	at := cmp.Or(r.Topology, whole)
	facts, ok := cloud.InstanceLimits(at.Instance.Type)
	if !ok || len(at.Arrays) > 0 || r.Labels[volumeType] != "" {
		return
	}
	i, why := at.Instance, ""
	switch own := facts.Local; {
	case own.Count > 0 && !own.Temp:
		why = "it has " + text.Plural(own.Count, "local drive")
	case guessed && len(o.Groups) > 0 && len(o.Disks) == 0:
		why = "fio counted no device, as on a network filesystem"
	default:
		return
	}
	ownTopology(r, whole).Instance = topology.Instance{Type: i.Type, ID: i.ID, Cloud: i.Cloud, Origin: i.Origin}
	r.Doubt("what %s allows over its storage network is left out: %s, and nothing says that its volumes were measured; "+
		"--volumes names them", i.Type, why)
}

// ownTopology gives a result a topology of its own, which is as it was.
func ownTopology(r *result.Result, whole *topology.Topology) *topology.Topology {
	own := *cmp.Or(r.Topology, whole)
	r.Topology = &own
	return &own
}

// volumeType is the label of what a text says of a result's device.
const volumeType = "volume type"

// contains says that a text holds a part, whatever the case.
func contains(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(part))
	})
}

// machine gives a result the machine that it ran on; guessed where only the text names it.
func (f Found) machine(r *result.Result, o *fio.Output, whole *topology.Topology) (guessed bool, err error) {
	doc := f.Documents[o.Source]
	if doc != nil {
		if typ, line := doc.volume(o); line > 0 {
			r.Label(volumeType, typ+" ("+inText(line)+")")
			if other, ok := doc.otherwise(typ); ok {
				r.Doubt("line %d calls its volume %s, and line %d says %s, which matches no device in the text: one of "+
					"them may be "+
					"wrong", line, typ, other.line, other.typ)
			}
		}
	}
	typ, line := "", 0
	texts := []string{r.Name, r.Title, o.Source}
	if doc != nil {
		if typ, line = doc.instance(o); line > 0 { // the heading of a document may name several
			texts = []string{r.Name, typ}
		}
	}
	for _, n := range f.Instances {
		if contains(texts, n.Of) {
			return false, on(r, whole, n.Type, topology.Origin{Kind: topology.Declared, Where: "--instance"})
		}
	}
	if whole.Instance.Type != "" || line == 0 {
		return false, nil
	}
	r.Doubt("the instance is assumed to be %s, %s; --instance overrides this", typ, inText(line))
	return true, on(r, whole, typ, topology.Origin{Kind: topology.Declared, Where: inText(line)})
}

// on gives a result an instance of its own, with the volumes of the run.
func on(r *result.Result, whole *topology.Topology, typ string, from topology.Origin) error {
	t, err := topology.FromDeclaration(
		&topology.Declaration{Instance: &topology.DeclaredInstance{Type: typ, Origin: from}},
	)
	if err != nil {
		return err
	}
	t.Instance.Origin.Where = from.Where + "; " + t.Instance.Origin.Where
	ownTopology(r, whole).Instance = t.Instance
	r.Label("instance", typ)
	return nil
}

// heading is what stood above an output.
func heading(o *fio.Output) string { return strings.TrimSpace(strings.TrimSuffix(o.Title, ":")) }

// name names results by their jobs, and those that would be called the same also by what they
// differ in: the machine, the heading, the file, what the job did; last by a number. Names of files
// that are no more than a hash say nothing.
func name(results []*result.Result, outputs []*fio.Output) {
	names := make([]fullName, len(results))
	for i, r := range results {
		names[i].job = cmp.Or(jobNames(outputs[i]), r.Title, fileName(outputs[i]), "output")
	}
	for _, of := range []func(int) string{
		func(i int) string { return results[i].Labels["instance"] },
		func(i int) string { return fileName(outputs[i]) },
		func(i int) string { return short(results[i].Title) },
		func(i int) string { return what(results[i].Workloads) },
	} {
		tellApart(names, of)
	}
	taken, last := map[string]bool{}, map[string]int{} // all numbers up to the last are taken
	for i, r := range results {
		base := names[i].String()
		r.Name = base
		for n := max(last[base], 1) + 1; taken[r.Name]; n++ {
			r.Name = slug(fmt.Sprintf("%.43s-%d", base, n))
			last[base] = n
		}
		taken[r.Name] = true
	}
}

// fullName is the name of a job and what tells it from others of that name, which stands ahead:
// tables cut the end of a name off.
type fullName struct {
	apart []string
	job   string
}

func (n fullName) String() string {
	return slug(strings.Join(append(slices.Clone(n.apart), n.job), "-"))
}

// tellApart adds a text to names that several results have, where the text differs between them.
func tellApart(names []fullName, of func(int) string) {
	same := map[string][]int{}
	for i, n := range names {
		same[n.String()] = append(same[n.String()], i)
	}
	for _, list := range same {
		texts := map[string]bool{}
		for _, i := range list {
			texts[of(i)] = true
		}
		if len(texts) < 2 {
			continue
		}
		for _, i := range list {
			if text := of(i); text != "" {
				names[i].apart = append(names[i].apart, text)
			}
		}
	}
}

// jobNames are the names of the jobs of an output: one, or the first few of several.
func jobNames(o *fio.Output) string {
	var names []string
	for _, j := range o.Jobs {
		for _, name := range append([]string{j.Name}, slices.Sorted(maps.Keys(j.Others))...) {
			if name != allJobs && len(names) <= 3 {
				names = text.Once(names, name)
			}
		}
	}
	if len(names) > 3 {
		names = append(names[:3], "others")
	}
	return strings.Join(names, "-")
}

// fileName is the name of an output's file without its ending; none for standard input or a name
// that is a hash.
func fileName(o *fio.Output) string {
	base := filepath.Base(o.Source)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	if base == "." || base == "-" || base == stdin || hash(base) {
		return ""
	}
	return base
}

// stdin is the source of what was read from standard input.
const stdin = "standard input"

// hash says that a name is a digest: 16 or more hexadecimal digits, with letters and digits among
// them.
func hash(s string) bool {
	return len(s) >= 16 && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "abcdef") &&
		strings.ContainsAny(s, "0123456789")
}

// short is a heading that is short enough to become part of a name.
func short(title string) string {
	if len(title) > 32 {
		return ""
	}
	return title
}

// what says in short what jobs did: "randwrite-16k-libaio-16x32".
func what(loads []fio.Workload) string {
	if len(loads) == 0 {
		return ""
	}
	w := loads[0]
	return fmt.Sprintf("%s-%s-%s-%dx%d", w.RW(), blockSize(w), w.Engine, max(w.Jobs, 1), max(w.Depth, 1))
}
