package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Report is what pgbench and pg_test_fsync printed, or pgbench -l wrote, of a server that plimsoll
// did not start. Zero fields are not in it.
type Report struct {
	Script   string // "<builtin: TPC-B (sort of)>"
	Clients  int
	Threads  int
	Scale    int
	Duration time.Duration
	// Transactions per second, their latency, and how many there were.
	TPS          units.IOPS
	Transactions uint64
	Failed       uint64
	Mean, StdDev units.Latency
	Seconds      []result.PgSecond // of --progress
	Latency      fio.Latency       // of -l: every transaction
	Runs         int               // of pgbench in the text, of which the first is read; 0 of one
	// Methods are pg_test_fsync's means of one write of 8 KiB with its sync.
	Methods []result.SyncMethod
}

var (
	scriptForm   = regexp.MustCompile(`^transaction type: (.{1,80})`)
	runForm      = regexp.MustCompile(`(?m)^[ \t]*transaction type: `)
	clientsForm  = regexp.MustCompile(`^number of clients: ([0-9]{1,6})`)
	threadsForm  = regexp.MustCompile(`^number of threads: ([0-9]{1,6})`)
	scaleForm    = regexp.MustCompile(`^scaling factor: ([0-9]{1,9})`)
	durationForm = regexp.MustCompile(`^duration: ([0-9]{1,8}) s`)
	logForm      = regexp.MustCompile(`^[0-9]+ [0-9]+ [0-9]+ [0-9]+ [0-9]{9,10} [0-9]{1,6}(?: [0-9]+)*$`)
)

// Reads says whether a text is of pgbench or pg_test_fsync.
func Reads(data []byte) bool {
	head := data[:min(len(data), 1<<16)]
	first, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.Contains(head, []byte("\ntps = ")) || bytes.HasPrefix(head, []byte("tps = ")) ||
		bytes.Contains(head, []byte("Compare file sync methods using one 8kB write")) ||
		progressForm.Match(bytes.TrimSpace(first)) || logForm.Match(bytes.TrimSpace(first))
}

// Read reads what pgbench printed, its lines of --progress among it or alone, a log of pgbench -l,
// and what pg_test_fsync printed. What comes first counts where several runs are in a text.
func Read(data []byte) (*Report, error) {
	r := &Report{Methods: parseTestFsync(string(data))}
	first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	if logForm.Match(bytes.TrimSpace(first)) {
		return r, r.log(data)
	}
	if starts := runForm.FindAllIndex(data, -1); len(starts) > 1 {
		// The next run's lines of --progress come before its head: this one ends with its rate.
		r.Runs = len(starts)
		first := data[:starts[1][0]]
		rate := max(bytes.LastIndex(first, []byte("tps = ")), 0)
		line, _, _ := bytes.Cut(first[rate:], []byte("\n"))
		data = first[:rate+len(line)]
	}
	for line := range bytes.Lines(data) {
		r.line(strings.TrimSpace(string(line)))
	}
	if s, err := parseSummary(string(data)); err == nil {
		r.TPS, r.Transactions, r.Failed = units.IOPS(s.tps), uint64(s.transactions), uint64(s.failed)
		r.Mean, r.StdDev = units.Latency(s.mean), units.Latency(s.stddev)
	} else if n := len(r.Seconds); n > 0 { // it was stopped, or only the lines were kept
		for _, s := range r.Seconds {
			r.TPS += s.TPS / units.IOPS(n)
			r.Mean += s.Latency / units.Latency(n)
		}
	}
	if r.TPS == 0 && len(r.Methods) == 0 {
		return nil, errors.New("it has figures of neither pgbench nor pg_test_fsync")
	}
	return r, nil
}

// line takes a line of pgbench's head, or of --progress.
func (r *Report) line(s string) {
	if p, ok := parseProgress(s); ok {
		r.Seconds = append(r.Seconds, p)
		return
	}
	for _, f := range []struct {
		form *regexp.Regexp
		into *int
	}{{clientsForm, &r.Clients}, {threadsForm, &r.Threads}, {scaleForm, &r.Scale}} {
		if m := f.form.FindStringSubmatch(s); m != nil && *f.into == 0 {
			*f.into, _ = strconv.Atoi(m[1])
		}
	}
	if m := durationForm.FindStringSubmatch(s); m != nil && r.Duration == 0 {
		r.Duration = time.Duration(decimal(m[1])) * time.Second
	}
	if m := scriptForm.FindStringSubmatch(s); m != nil && r.Script == "" {
		r.Script = m[1]
	}
}

// log takes a file of pgbench -l: there is one of each thread, which may stand behind each other.
func (r *Report) log(data []byte) error {
	var from, to time.Duration
	clients := map[string]bool{}
	for line := range bytes.Lines(data) {
		id, _, _ := bytes.Cut(line, []byte(" "))
		clients[string(id)] = true
	}
	err := readLog(bytes.NewReader(data), &r.Latency, func(ended, took time.Duration) {
		if began := ended - took; from == 0 || began < from {
			from = began
		}
		to = max(to, ended)
	})
	if err != nil {
		return err
	}
	if r.Latency.N == 0 || to <= from {
		return errors.New("the log has no transaction that ended")
	}
	r.Clients, r.Transactions, r.Duration = len(clients), r.Latency.N, to-from
	r.TPS = units.IOPS(float64(r.Latency.N) / (to - from).Seconds())
	r.Mean = units.Latency(float64(r.Clients) * 1e9 / float64(r.TPS))
	return nil
}

// With adds what another text says: the methods of pg_test_fsync to pgbench's figures, further logs
// of the same run.
func (r *Report) With(o *Report) error {
	switch {
	case o.TPS > 0 && r.TPS > 0 && r.Latency.N > 0 && o.Latency.N > 0:
		r.Clients, r.TPS, r.Transactions = r.Clients+o.Clients, r.TPS+o.TPS, r.Transactions+o.Transactions
	case o.TPS > 0 && r.TPS > 0:
		return errors.New("these are two runs of pgbench: name one")
	case o.TPS > 0:
		methods := slices.Concat(r.Methods, o.Methods)
		*r = *o
		r.Methods = methods
	default:
		r.Methods = append(r.Methods, o.Methods...)
	}
	return nil
}

// S is the time of one write and its sync, and where it is from: as given, else as pg_test_fsync has
// it for the server's default method, which ranks methods better than it measures one.
func (r *Report) S(given units.Latency) (units.Latency, string) {
	if given > 0 {
		return given, "given"
	}
	for _, m := range r.Methods {
		if m.Name == "fdatasync" {
			return m.Mean, "fdatasync's mean by pg_test_fsync; scenario 1 of the suite db measures it"
		}
	}
	return 0, ""
}

// ReadOnly says that nothing waits for the log.
func (r *Report) ReadOnly() bool { return strings.Contains(strings.ToLower(r.Script), "select only") }

// Demand is what the database asked of its log. A closed loop asks for as much as it gets.
func (r *Report) Demand(name string) (*workload.Demand, error) {
	switch {
	case r.TPS <= 0:
		return nil, errors.New("pg_test_fsync alone is not a demand: also name pgbench's output")
	case r.ReadOnly():
		return nil, errors.New("select only commits nothing that waits for the log")
	case r.Clients == 0:
		return nil, errors.New("it does not say how many clients there were: pgbench prints that at its end")
	}
	return &workload.Demand{
		Name: name, Role: "wal", Streams: []workload.Stream{workload.CommitStream(r.TPS, r.Clients)},
		AtLeast: []string{"clients in a closed loop: what the server gave, not what is needed"},
	}, nil
}

// Explain says what S, the clients and commit_delay explain of the transactions per second (group
// commit, docs/postgres.md).
func (r *Report) Explain(given units.Latency) []string {
	var lines []string
	say := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	clients := text.Plural(r.Clients, "client")
	if r.Runs > 1 {
		say("This is the first of the text's %d runs of pgbench: put each into a file of its own.", r.Runs)
	}
	if r.TPS > 0 {
		of := ""
		if r.Clients > 0 {
			of = " from " + clients
		}
		each := ""
		if r.Mean > 0 {
			each = fmt.Sprintf(", %v each", r.Mean)
		}
		say("%v transactions per second%s%s.", r.TPS, of, each)
	}
	if strings.Contains(r.Script, "TPC-B") && r.Scale > 0 && r.Clients > r.Scale {
		say("Row locks: %s on %s; each transaction updates one, so they wait for each other: use a scale of at "+
			"least the number of clients.", clients, text.Plural(r.Scale, "branch", "branches"))
	}
	s, from := r.S(given)
	if s == 0 {
		say("S, the time of a synced 8 KiB write, is not known: give it with --sync-latency, or with pg_test_fsync's output.")
		return lines
	}
	say("One synced 8 KiB write takes S = %v (%s).", s, from)
	if r.Clients == 0 || r.TPS <= 0 || r.ReadOnly() {
		return lines
	}
	m := ceiling.CommitsOf(r.Clients, s, 0, 0)
	share := text.Percent(float64(r.TPS / m.High))
	together := max(1, float64(r.TPS)*float64(s)/1e9)
	switch {
	case r.TPS < m.Low:
		say("With %s, that allows %v to %v commits per second, and never more than %v: the measured rate is %s of %v. "+
			"Something else is the limit: CPU, row locks, reads, or pgbench itself.", clients, m.Low,
			m.High, m.Bound, share, m.High)
	case r.TPS <= m.Bound:
		say("With %s, that allows %v to %v commits per second, and never more than %v: S and the number of clients explain "+
			"the measured rate. A flush carries at least %s commits.", clients, m.Low, m.High, m.Bound,
			units.Number(together))
	default:
		say("That never allows more than %v commits per second: S was shorter while pgbench ran, or not every transaction "+
			"waited for its sync (synchronous_commit).", m.Bound)
	}
	if r.Clients > 1 {
		delay := s / 2
		say("commit_delay of %v, half of S, lets one flush carry everyone's commits: up to %v per second where S is what "+
			"limits. Each commit then takes that much longer; with fewer than commit_siblings other transactions it "+
			"has no effect.", delay,
			units.IOPS(float64(r.Clients)*1e9/float64(s+delay)))
	}
	return lines
}
