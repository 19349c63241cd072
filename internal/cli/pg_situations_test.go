package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
)

// pgSituation is a server at work whose limit is known by how it was made.
type pgSituation struct {
	name string
	// made is what is done before in bash: volumes, limits, other load.
	made string
	load string // postgres: of the scenario
	with string // flags
	// truth is what the first cause must be, and never what must not be said at all.
	truth, never string
}

const (
	commitLoad = `script: "select pg_logical_emit_message(true, 'x', repeat('x', 200));", clients: [%d]`
	tpcbLoad   = `builtin: tpcb-like, clients: [%d]`
	selectLoad = `builtin: select-only, clients: [%d]`
	updateLoad = `builtin: simple-update, clients: [%d]`
	log        = `PL701|commit latency|log IOPS|log throughput|the log's sync|slower syncs|wait for a sync|` +
		`log without syncs`
)

func clients(load string, n int) string { return fmt.Sprintf(load, n) }

// pgSituations are ordered so that a run that is cut has some of each kind.
var pgSituations = []pgSituation{
	{"row locks", "", clients(tpcbLoad, 50), "--pg-scale 1", "PL712", "PL702|idle CPU"},
	{"sync-bound", "vol wal; limit wal write_iops 300", clients(commitLoad, 8), "", log, "PL702|PL712"},
	{"CPU, reads alone", "", clients(selectLoad, 16), "--pg-scale 5", "^CPU|other load", "PL702|PL712"},
	{
		"synchronous_commit off", "", clients(commitLoad, 4),
		"--pg-set synchronous_commit=off", "PL709", "commit latency allows|PL701",
	},
	{"no barriers", "vol wal nobarrier", clients(commitLoad, 4), "", "PL709 invalid", ""},
	{
		"checkpoint storm", "", clients(updateLoad, 8),
		"--pg-scale 10 --pg-set max_wal_size=32MB", "PL703|PL708", "PL702|PL712",
	},
	{
		"slow data", "vol data; later 0 limit data read_iops 200", clients(selectLoad, 16),
		"--pg-scale 20 --pg-memory 128MiB --pg-set shared_buffers=16MB",
		"data volumes|data I/O", "PL702|PL712",
	},
	{
		"pgbench on purpose", "slow pgbench", clients(selectLoad, 1), "--pg-scale 1", "PL702|load generator", "PL712",
	},
	{
		"slow log below TPC-B", "vol wal; limit wal write_iops 150", clients(tpcbLoad, 16),
		"--pg-scale 20", log + "|PL703", "PL702|PL712",
	},
	{"fsync off", "", clients(commitLoad, 1), "--pg-set fsync=off", "PL709", "PL701"},
	{"one client", "vol wal; limit wal write_iops 200", clients(commitLoad, 1), "", log, "PL702|PL712"},
	{"full pages", "", updateBefore, "--pg-scale 10", "PL703", "PL702|PL712"},
	{
		"temporary files", "",
		`script: "select count(*) from (select generate_series(1, 200000) g order by g desc) s;", clients: [4]`,
		"--pg-set work_mem=64kB", "^CPU|temporary files|other load", "PL702|PL712",
	},
	{
		"small shared_buffers", "", clients(selectLoad, 16),
		"--pg-scale 20 --pg-set shared_buffers=1MB", "^CPU|data I/O|other load", "PL702|PL712",
	},
	{"too many clients", "", clients(selectLoad, 200), "--pg-scale 5", "^CPU|other load", "PL702|PL712"},
	{
		"other processes", "busy", clients(selectLoad, 4),
		"--pg-scale 2", "(?i)PL707.*other processes|other load", "PL702",
	},
	{
		"the log slows down", "vol wal; later 3 limit wal write_iops 100", clients(commitLoad, 8),
		"", "PL707.*synced write|PL706", "PL702|PL712",
	},
	{
		"other locks", "", `script: "select pg_advisory_xact_lock(1), pg_sleep(0.002);", clients: [16]`,
		"", "other locks", "PL702|PL712",
	},
	{"sessions that sleep", "", `script: "select pg_sleep(0.02);", clients: [4]`, "", "other waits", "PL702|PL712"},
	{
		"log throughput", "vol wal; limit wal write_bps 10485760",
		`script: "select pg_logical_emit_message(true, 'x', repeat('x', 200000));", clients: [4]`,
		"", log, "PL702|PL712",
	},
	{
		"full_page_writes off", "", clients(updateLoad, 4),
		"--pg-scale 5 --pg-set full_page_writes=off", "PL709", "PL703",
	},
	{"another server", "another", clients(commitLoad, 2), "", "PL710", "PL702|PL712"},
	{"log beside data", "", clients(commitLoad, 4), "", "PL704", "PL702|PL712"},
	{"failing transactions", "", `script: "select 1 / 0;", clients: [2]`, "", "division by zero|PL707", "PL702"},
	{"killed", "later 2 kills", clients(commitLoad, 2), "", "the server ended", ""},
	{
		"connections", "", `builtin: select-only, connect: each, clients: [16]`,
		"--pg-scale 2", "^CPU|other load", "PL712",
	},
	{"barriers", "vol wal; limit wal write_iops 300", clients(commitLoad, 16), "", log, "PL709|PL702|PL712"},
	{"fits in memory", "", clients(selectLoad, 2), "--pg-scale 2", "PL705", "PL712"},
}

var updateBefore = `builtin: simple-update, clients: [4], before: checkpoint, transactions: 1000`

// pgMade are the functions of made, for a directory of its own in $w. What they make goes when the shell ends.
const pgMade = `
set -e; unset PLIMSOLL_PG_BINS PLIMSOLL_PG_ONLY; data=$w/data; wal=$w/wal; mkdir -p -m 755 $data $wal; g=$(basename $w); devs=
blkio=/sys/fs/cgroup/blkio; [ -d $blkio ] || blkio=/sys/fs/cgroup; mkdir $blkio/$g
trap 'set +e; kill $(jobs -p) 2>/dev/null; wait; echo $$ > $blkio/cgroup.procs; umount $data $wal 2>/dev/null
for l in $devs; do losetup -d $l; done; rmdir $blkio/$g; rm -rf $w' EXIT
vol() { truncate -s 2G $w/$1.img; l=$(losetup --direct-io=on -f --show $w/$1.img); devs="$devs $l"; mkfs.ext4 -q -E lazy_itable_init=0 $l
  mount -o ${2:-barrier} $l $w/$1; chmod 755 $w/$1; eval "dev_$1=$(cat /sys/block/${l#/dev/}/dev)"; }
limit() { eval "d=\$dev_$1"; if [ -e $blkio/cgroup.controllers ]; then s=${2/write_/w}; echo +io > $blkio/cgroup.subtree_control
  echo "$d ${s/read_/r}=$3" > $blkio/$g/io.max; else echo "$d $3" > $blkio/$g/blkio.throttle.${2}_device; fi; }
begun() { for p in $(pgrep -x pgbench); do grep -qs "/$g\$" /proc/$p/cgroup && tr '\0' ' ' </proc/$p/cmdline | grep -q ' -n ' && return; done; false; }
later() { (until begun; do sleep 0.2; done; sleep $1; shift; "$@") & }
kills() { kill -9 $(ps -eo pid,args | awk -v d=$data/.plimsoll '/-D/ && index($0, d) {print $1; exit}'); }
busy() { for i in $(seq $(nproc)) 1; do nice -n -10 sh -c 'while :; do :; done' & done; }
slow() { mkdir -m 755 $w/bin; ln -s $bin/* $w/bin; rm $w/bin/pgbench; gcc -shared -fPIC -O1 -o $w/burn.so -x c - <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int PQsendQueryPrepared(void *c, const char *s, int n, const void *v, const void *l, const void *f, int r) {
  struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a);
  do clock_gettime(CLOCK_MONOTONIC, &b); while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < 3000000);
  return ((int (*)(void *, const char *, int, const void *, const void *, const void *, int))dlsym(RTLD_NEXT, "PQsendQueryPrepared"))(c, s, n, v, l, f, r); }
C
  printf '#!/bin/sh\nexec env LD_PRELOAD=%s %s/pgbench "$@"\n' $w/burn.so $bin > $w/bin/pgbench; chmod 755 $w/bin/pgbench $w/burn.so; bin=$w/bin; }
another() { u=$(stat -c %U $data); mkdir -m 700 $w/other; [ "$(id -u)" = 0 ] && chown postgres $w/other; as="setpriv --reuid postgres --regid postgres --clear-groups"
  $as $bin/initdb -D $w/other --no-sync >/dev/null; PGDATA=$w/other $as $bin/postgres -c listen_addresses= -c unix_socket_directories=$w/other >/dev/null 2>&1 &
  until [ -e $w/other/postmaster.pid ]; do sleep 0.2; done; }
`

// TestPgSituations is not one of make test: make pg-situations runs it. Each of PLIMSOLL_PG_BINS is a server's
// directory of programs; a situation takes 15 to 40 s with each, and its row is printed when it ends.
func TestPgSituations(t *testing.T) {
	bins := strings.Fields(os.Getenv("PLIMSOLL_PG_BINS"))
	if len(bins) == 0 || os.Getuid() != 0 {
		t.Skip("SKIPPED: make pg-situations runs this, as root")
	}
	only := regexp.MustCompile(os.Getenv("PLIMSOLL_PG_ONLY"))
	right, contradictions := 0, 0
	var wrong, busy []string
	fmt.Println("| situation | truth | server | first cause | right | s |\n| --- | --- | --- | --- | --- | --- |")
	for _, bin := range bins {
		for _, s := range pgSituations {
			if !only.MatchString(s.name) {
				continue
			}
			begun := time.Now()
			first, whole := s.measure(t, bin)
			row := "no"
			switch {
			case regexp.MustCompile(s.truth).MatchString(first):
				row = "yes"
				right++
			case strings.HasPrefix(first, "PL707"): // nothing can be said of it
				row = "machine busy"
				busy = append(busy, s.name)
			default:
				wrong = append(wrong, s.name)
			}
			for _, c := range whole.contradictions(s) {
				contradictions++
				row += "; contradicted: " + c
			}
			version := filepath.Base(filepath.Dir(bin))
			cell := func(text string) string { return strings.ReplaceAll(text, "|", " or ") }
			fmt.Printf("| %s | %s | %s | %s | %s | %.0f |\n", s.name, cell(s.truth), version, cell(fmt.Sprintf("%.150s", first)),
				cell(row), time.Since(begun).Seconds())
		}
	}
	all := right + len(wrong)
	fmt.Printf("%d of %d right, %d contradictions, %d not judged\n", right, all, contradictions, len(busy))
	if 10*right < 9*all || contradictions > 0 {
		t.Errorf("%d of %d right (wrong: %q), %d contradictions", right, all, wrong, contradictions)
	}
	if len(busy) > all/10 {
		t.Errorf("the machine is too busy for %q: PL707 is all that was said", busy)
	}
}

// pgReport is what plimsoll says in JSON of one scenario.
type pgReport struct {
	Findings  []finding.Finding `json:"findings"`
	Scenarios []struct {
		Ceiling *ceiling.Ceiling `json:"ceiling"`
		Result  struct {
			Reasons  []string         `json:"reasons"`
			Postgres *result.Postgres `json:"postgres"`
		} `json:"result"`
	} `json:"scenarios"`
}

// measure runs the situation, and returns the first cause that is named: a reason why nothing is said, a finding
// that is more than an info, else what most of an account's gap is, else what the ceiling is from.
func (s pgSituation) measure(t *testing.T, bin string) (string, *pgReport) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "pg-situation-") //nolint:usetesting // the server's user must reach it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	suite := "name: s\ncooldown: 0s\npostgres: {}\nscenarios:\n" +
		"  - {id: 31, name: s, role: data, runtime: 6s, postgres: {" + s.load + "}}\n"
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(suite), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "w=" + dir + "; bin=" + bin + pgMade + s.made + `
echo $BASHPID > $blkio/$g/cgroup.procs
timeout -k 5 120 plimsoll run $w/s.yaml --data $data --wal $wal --pg-bin $bin --quick --format json --progress none \
	--out $w/runs ` + s.with + ` || true`
	var out, said bytes.Buffer
	c := exec.Command("bash", "-c", script)
	c.Stdout, c.Stderr = &out, &said
	err = c.Run()
	r := &pgReport{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil || len(r.Scenarios) == 0 {
		return fmt.Sprintf("nothing was measured: %v %s", err, strings.Join(strings.Fields(said.String()), " ")), r
	}
	if err != nil {
		t.Logf("%s: %v %s", s.name, err, said.String())
	}
	return r.first(s), r
}

func (r *pgReport) first(s pgSituation) string {
	if why := r.Scenarios[0].Result.Reasons; len(why) > 0 {
		return why[0]
	}
	var account *finding.Account
	first, busy := "", ""
	for _, f := range r.Findings {
		text, made := fmt.Sprintf("%s %s: %s", f.Code, f.Severity, f.Message), strings.Contains(s.truth, string(f.Code))
		switch {
		case slices.Contains([]finding.Code{"PL704", "PL705", "PL710"}, f.Code):
			// That data and log are on one device, or data in memory, is no cause but where that was made.
			if made {
				return text
			}
		case !strings.HasPrefix(string(f.Code), "PL7"): // of the machine
		case f.Code == "PL707" && !made:
			busy = text // by others: what is said besides is judged all the same
		case f.Account != nil:
			account = f.Account
		case made || f.Severity.Rank() > finding.Info.Rank() || f.Code == "PL701":
			first = cmp.Or(first, text)
		}
	}
	if first != "" {
		return first
	}
	if account != nil && len(account.Factors) > 0 && (busy == "" || account.Factors[0].Cause != finding.OtherLoad) {
		f := account.Factors[0]
		return fmt.Sprintf("%s %s: %s", f.Cause, f.Who, f.How)
	}
	if c := r.Scenarios[0].Ceiling; busy == "" && c != nil && c.Binding() != nil {
		return string(c.Binding().Kind)
	}
	return cmp.Or(busy, "nothing")
}

// contradictions are a figure above its ceiling that is not called invalid, and what must not be said.
func (r *pgReport) contradictions(s pgSituation) (all []string) {
	never, invalid := regexp.MustCompile(s.never), false
	for _, f := range r.Findings {
		invalid = invalid || f.Severity == finding.Invalid
		if text := string(f.Code) + " " + f.Message; s.never != "" && never.MatchString(text) {
			all = append(all, text)
		}
	}
	if len(r.Scenarios) == 0 || invalid || r.Scenarios[0].Ceiling == nil {
		return all
	}
	peak, b := r.Scenarios[0].Result.Postgres.Peak(), r.Scenarios[0].Ceiling.Binding()
	if peak != nil && b != nil && peak.TPS > 1.05*b.IOPS {
		all = append(all, fmt.Sprintf("%v TPS of a ceiling of %v", peak.TPS, b.IOPS))
	}
	return all
}

// What a situation must not be called, and a figure above a ceiling that is not invalid, are counted.
func TestContradictionsAreCounted(t *testing.T) {
	const above = `{"scenarios": [{"ceiling": {"bounds": [{"kind": "CPU", "iops": 100}]},
		"result": {"postgres": {"steps": [{"clients": 4, "transactions": 1, "tps": 106}]}}}], "findings": [%s]}`
	locks := pgSituation{never: "PL702|idle CPU"}
	for report, want := range map[string]int{
		fmt.Sprintf(above, ``): 1,
		fmt.Sprintf(above, `{"code": "PL702", "severity": "warning", "message": "pgbench"}`):          2,
		fmt.Sprintf(above, `{"code": "PL711", "severity": "info", "message": "limited by idle CPU"}`): 2,
		fmt.Sprintf(above, `{"code": "PL707", "severity": "invalid", "message": "x"}`):                0,
		strings.Replace(fmt.Sprintf(above, ``), "106", "104", 1):                                      0,
		`{"findings": [{"code": "PL702", "message": "x"}]}`:                                           1,
	} {
		var r pgReport
		if err := json.Unmarshal([]byte(report), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.contradictions(locks); len(got) != want {
			t.Errorf("%s: %q, want %d", report, got, want)
		}
	}
}
