package cloud

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/yamlfile"
)

// ownFiles are a cloud of the user's own that states everything once.
func ownFiles() map[string]string {
	return map[string]string{
		fileTerms: "cloud: DC\nvendor: Data Centre\nshort: dc\nvolumes: block storage\nmegabytes: true\nburst_for_minutes: 30\n" +
			"burst_per_hours: 24\nburst_rule: credits\ntypes: [dc-sized]\nregion: here\n",
		fileMachines: "name,vcpus,memory_gib,arch,base_iops,base_mbs,max_iops,max_mbs,disks,local_count,local_gib,local_read_iops," +
			"local_write_iops,local_read_mbs,local_write_mbs,usd_hour,source,as_of,trust,note\n" +
			"dc-1,8,32,x86_64,80000,2000,90000,2500,16,2,900,90000,50000,900,500,0.5,a page,2026-11,partial,\n" +
			"dc-2,16,64,arm64,160000,4000,,,16,,,,,,,,a page,2026-11-27,verified,\n",
		fileLimits: "series,by,machine,type,read_iops,write_iops,read_mbs,write_mbs,shared,source,as_of,trust,note\n" +
			"dc,machine,dc-1,dc-pool,12000,6000,900,450,iops,a page,2026,partial,\n" +
			"dc,vcpus,16 or more,dc-pool,24000,12000,1800,900,all,a page,2026,partial,\n",
		fileAttach:   "series,up_to,disks,source,as_of\ndc,8 vCPUs,12,a page,2026\n",
		fileLocal:    "name,read_iops,write_iops,read_mbs,write_mbs,source,as_of,trust\ndc-1,1,1,1,1,a page,2026,partial\n",
		fileMeasured: "name,read_iops,write_iops,read_bps,write_bps,source,as_of,trust\ndc-1,1,1,1,1,a page,2026,partial\n",
		filePrices: "product,unit,above,usd,region,as_of,source,trust\ndc-sized,GiB-month,,0.1,here,2026-11,a page,partial\n" +
			"dc-pool,IOPS-month,3000,0.01,here,2026-11,a page,partial\ndc-2,hour,,1.5,here,2026-11,a page,partial\n",
		fileVolumes: `- type: dc-sized
  name: Block storage
  min_size: 50GB
  max_size: 32TB
  counted: 256KiB
  merges: true
  afr: 0.002
  typical: {read_us: 500, write_us: 600, synced_us: 900, source: a run}
  sized: {iops_per_gib: 50, least_iops: 100, most_iops: 25000, rate_per_gib: 0.5MB/s, rate: 480MB/s, burst_iops: 3000, burst_ios: 5400000}
  source: a page
  as_of: 2026-11
  trust: partial
- type: dc-set
  name: Set
  min_size: 1GiB
  max_size: 16TiB
  iops: {included: 3000, min: 3000, max: 16000, per_gib: 500}
  rate: {included: 125MiB/s, min: 125MiB/s, max: 1000MiB/s, per_iops: 0.25MiB/s}
  source: a page
  as_of: 2026-11
- type: dc-pool
  name: Pool
  min_size: 10GiB
  max_size: 64TiB
  pool: {read_iops_per_gib: 6, write_iops_per_gib: 6, rate_per_gib: 0.28MiB/s, iops: 3000, rate: 140MiB/s, least_read_iops: 75, least_write_iops: 150, least_rate: 12MiB/s, shared_rate: true}
  source: a page
  as_of: 2026-11
- type: dc-disk
  name: Disk
  min_size: 125GiB
  max_size: 16TiB
  hdd: {base: 40MiB/s, base_max: 500MiB/s, burst: 250MiB/s, burst_max: 500MiB/s}
  counted: 1MiB
  source: a page
  as_of: 2026-11
- type: dc-tier
  name: Tiers
  min_size: 1GiB
  max_size: 256GiB
  tiers:
    - {name: T1, size: 128GiB, iops: 500, rate: 100MB/s, burst_iops: 3500, burst_rate: 170MB/s}
    - {name: T2, size: 256GiB, iops: 1100, rate: 125MB/s}
  source: a page
  as_of: 2026-11
`,
	}
}

func writeOwn(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others may read it
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // the same
			t.Fatal(err)
		}
	}
}

// A spoiled is one mistake in one of ownFiles: its text.
type spoiled struct{ file, what, text string }

// spoiledTables are mistakes in each cell and each column of the tables, and in whole rows.
func spoiledTables(files map[string]string) (all []spoiled) {
	words := map[string]string{ // of columns that hold one of some words
		"arch": "vax", "trust": "surely", "shared": "some", "by": "size", "as_of": "soon", "unit": "hours", "up_to": "many", "type": "dc-nil",
		"machine": "nobody", "series": "nobody",
	}
	free := []string{"source", "note", "product", "region", "name"}
	numeric := regexp.MustCompile(`^[0-9.]+$`)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(file, ".csv") {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(files[file], "\n"), "\n")
		add := func(what string, lines ...string) {
			all = append(all, spoiled{file, what, strings.Join(lines, "\n") + "\n"})
		}
		head, rows := strings.Split(lines[0], ","), lines[1:]
		for i, column := range head {
			with := func(line int, cell string) []string {
				out := slices.Clone(lines)
				cells := strings.Split(out[line], ",")
				cells[i] = cell
				out[line] = strings.Join(cells, ",")
				return out
			}
			for _, name := range []string{column + "x", "", head[(i+1)%len(head)]} { // unknown, missing, twice
				add(fmt.Sprintf("the head %q for %s", name, column), with(0, name)...)
			}
			for r := range rows {
				cell := strings.Split(rows[r], ",")[i]
				bad, word := words[column]
				switch {
				case numeric.MatchString(cell) && column != "as_of" || column == "above":
					for _, v := range []string{"many", "-5", "NaN", "Inf", "1e99", "80k", "0x10", "1_000", " 5", "5 IOPS"} {
						if column == "above" && v == "80k" {
							continue // IOPS may have k
						}
						add(fmt.Sprintf("%s %q", column, v), with(r+1, v)...)
					}
					if slices.Contains([]string{"vcpus", "disks", "local_count"}, column) {
						add(column+" in part", with(r+1, "1.5")...)
					}
				case word:
					add(fmt.Sprintf("%s %q", column, bad), with(r+1, bad)...)
				case !slices.Contains(free, column) && cell != "":
					add("nothing is known of "+column, with(r+1, "?")...)
				}
			}
		}
		for r := range rows {
			add("a row twice", append(slices.Clone(lines), rows[r])...)
			add("a cell too few", append(slices.Clone(lines), rows[r][:strings.LastIndex(rows[r], ",")])...)
			add("a cell too many", append(slices.Clone(lines), rows[r]+",")...)
			add("a quote left open", append(slices.Clone(lines), `"`+rows[r])...)
		}
		add("a head twice", append([]string{lines[0] + "," + head[len(head)-1]}, func() []string {
			var out []string
			for _, r := range rows {
				out = append(out, r+",")
			}
			return out
		}()...)...)
		add("nothing", "")
	}
	return all
}

// yamlValue is a key with a plain value in a line of YAML.
var yamlValue = regexp.MustCompile(`([a-z_]+): ([^,{}\[\]\n]+)`)

// spoiledYAML are mistakes in each value and each key of the other files.
func spoiledYAML(files map[string]string) (all []spoiled) {
	free := []string{"name", "source", "cloud", "vendor", "short", "volumes", "region", "type"}
	for _, file := range []string{fileTerms, fileVolumes} {
		text := files[file]
		for _, at := range yamlValue.FindAllStringSubmatchIndex(text, -1) {
			key, value := text[at[2]:at[3]], text[at[4]:at[5]]
			with := func(what, key, value string) {
				all = append(all, spoiled{file, what, text[:at[2]] + key + ": " + value + text[at[1]:]})
			}
			with("unknown key for "+key, key+"x", value)
			with("a map for "+key, key, "{a: b}")
			with("a list for "+key, key, "[[1]]")
			if slices.Contains(free, key) {
				continue
			}
			with(key+" is a word", key, "many")
			if value[0] < '0' || value[0] > '9' || key == "as_of" {
				continue
			}
			for _, v := range []string{"-5", "-5GiB", "-5MB/s", ".nan", ".inf", "1e99", "5 parsecs", "5XB/s", "NaN"} {
				with(key+" is "+v, key, v)
			}
		}
		for _, line := range strings.SplitAfter(text, "\n") { // a key twice
			if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "    ") || file == fileTerms && line != "" {
				all = append(all, spoiled{file, "twice: " + line, strings.Replace(text, line, line+line, 1)})
			}
		}
	}
	machines := files[fileMachines]
	for what, change := range map[string][2]string{
		"two units":               {"base_mbs,max_iops,max_mbs", "base_mbs,base_mibs,max_iops"},
		"a burst below the base":  {"90000,2500", "70000,2500"},
		"an instance of AWS":      {"dc-1,8", "m5.large,8"},
		"a row over two lines":    {"a page,2026-11,partial,\ndc-2", "\"a\npage\",2026-11,partial,\ndc-2"},
		"a column of another cap": {"max_iops", "v2_iops"},
	} {
		all = append(all, spoiled{fileMachines, what, strings.Replace(machines, change[0], change[1], 1)})
	}
	volumes := files[fileVolumes]
	for what, change := range map[string][2]string{
		"a type twice":             {"type: dc-set", "type: dc-sized"},
		"no name of a type":        {"type: dc-set", `type: ""`},
		"a type of AWS":            {"type: dc-set", "type: gp3"},
		"sizes that cross":         {"min_size: 50GB", "min_size: 50TB"},
		"no largest size":          {"  max_size: 32TB\n", ""},
		"no source":                {"  source: a page\n", ""},
		"no day":                   {"  as_of: 2026-11\n", ""},
		"two rules":                {"  pool: {", "  hdd: {base: 40MiB/s, base_max: 500MiB/s}\n  pool: {"},
		"sized and ordered":        {"  sized: {", "  iops: {max: 5}\n  sized: {"},
		"included above the most":  {"included: 3000, min", "included: 30000, min"},
		"the least above the most": {"min: 3000", "min: 17000"},
		"rates that cross":         {"min: 125MiB/s, max: 1000MiB/s", "min: 1250MiB/s, max: 1000MiB/s"},
		"tiers that fall":          {"T1, size: 128GiB", "T1, size: 512GiB"},
		"a tier of no size":        {"T2, size: 256GiB, ", "T2, "},
		"a failure rate above 1":   {"afr: 0.002", "afr: 2"},
		"sized without IOPS":       {"iops_per_gib: 50, least_iops: 100, most_iops: 25000, ", ""},
		"least above most":         {"least_iops: 100", "least_iops: 100000"},
		"base above its most":      {"base_max: 500MiB/s", "base_max: 5MiB/s"},
	} {
		all = append(all, spoiled{fileVolumes, what, strings.Replace(volumes, change[0], change[1], 1)})
	}
	return all
}

// Each mistake in a cloud of the user's own is refused with its file, its line and a caret; none is silently taken.
func TestMistakesInOwnClouds(t *testing.T) {
	dir := t.TempDir()
	good := ownFiles()
	writeOwn(t, filepath.Join(dir, "good", "dc"), good)
	if all, err := In(filepath.Join(dir, "good")); err != nil || len(all) != 1 || len(all[0].types()) != 5 {
		t.Fatalf("%d clouds: %v", len(all), err)
	}
	cases := append(spoiledTables(good), spoiledYAML(good)...)
	where := filepath.Join(dir, "bad")
	taken, placeless := 0, 0
	writeOwn(t, filepath.Join(where, "dc"), good)
	for i, c := range cases {
		if i%3 > 0 && os.Getenv("PLIMSOLL_CASES") == "" {
			continue // make bench tries all
		}
		writeOwn(t, filepath.Join(where, "dc"), map[string]string{c.file: c.text})
		_, err := In(where)
		writeOwn(t, filepath.Join(where, "dc"), map[string]string{c.file: good[c.file]})
		m, placed := errors.AsType[*yamlfile.Mistake](err)
		switch {
		case err == nil:
			taken++
			t.Errorf("%s, %s: it is taken", c.file, c.what)
		case !placed || m.Line == 0 || c.what != "nothing" && !strings.HasSuffix(m.Excerpt(), "^") || m.File != filepath.Join(where, "dc", c.file):
			placeless++
			t.Errorf("%s, %s: no place: %v", c.file, c.what, err)
		}
	}
	t.Logf("%d mistakes: %d taken, %d without a place", len(cases), taken, placeless)
	if len(cases) < 600 {
		t.Errorf("only %d mistakes", len(cases))
	}
}

// What a table needs and lacks as a whole column, a limit in two units, and a file that cannot be read are refused,
// too; a mistake in a price list says its line once.
func TestWhatOwnCloudsLack(t *testing.T) {
	good := ownFiles()
	without := func(file, column string) string {
		var out []string
		lines := strings.Split(strings.TrimSuffix(good[file], "\n"), "\n")
		i := slices.Index(strings.Split(lines[0], ","), column)
		for _, line := range lines {
			out = append(out, strings.Join(slices.Delete(strings.Split(line, ","), i, i+1), ","))
		}
		return strings.Join(out, "\n") + "\n"
	}
	two := strings.NewReplacer("read_mbs,", "read_mbs,read_mibs,", ",900,450,", ",900,900,450,", ",1800,900,",
		",1800,,900,")
	for _, c := range []struct{ file, text, want string }{
		{fileLimits, without(fileLimits, "type"), "limits.csv:1: want the column type as well"},
		{fileLimits, without(fileLimits, "machine"), "limits.csv:1: want the column machine as well"},
		{fileLimits, without(fileLimits, "series"), "limits.csv:1: want the column series ahead of the others"},
		{fileMachines, without(fileMachines, "name"), "machines.csv:1: want the column name ahead of the others"},
		{fileLocal, without(fileLocal, "name"), "local.csv:1: want the column name ahead of the others"},
		{fileAttach, without(fileAttach, "up_to"), ""},
		{fileLimits, two.Replace(good[fileLimits]), "limits.csv:2: read_mbs and read_mibs: want one of MB/s and MiB/s"},
		{filePrices, good[filePrices] + "dc-sized,years,,1,here,2026,a page,\n", `prices.csv:5: unit "years": want`},
		{
			fileVolumes, strings.Replace(good[fileVolumes], "source: a page\n  as_of: 2026-11\n- type: dc-pool",
				"as_of: 2026-11\n- type: dc-pool", 1), "volumes.yaml:13: dc-set: state source and as_of",
		},
		{
			fileVolumes, good[fileVolumes] + "- {type: x, min_size: 1GiB, max_size: 1GiB, tiers: [], source: s, as_of: 2026}\n",
			": x: state one of iops and rate",
		},
	} {
		dir := t.TempDir()
		writeOwn(t, filepath.Join(dir, "dc"), good)
		writeOwn(t, filepath.Join(dir, "dc"), map[string]string{c.file: c.text})
		_, err := In(dir)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) ||
			strings.Contains(got, "price list line") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	dir := t.TempDir()
	delete(good, fileVolumes)
	writeOwn(t, filepath.Join(dir, "dc"), good)
	if err := os.Mkdir(filepath.Join(dir, "dc", fileVolumes), 0o755); err != nil { //nolint:gosec // others may read it
		t.Fatal(err)
	}
	if _, err := In(dir); err == nil {
		t.Error("a directory for volumes.yaml is taken")
	}
}
