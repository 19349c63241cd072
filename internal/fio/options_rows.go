package fio

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// optionType is how fio reads an option's value, by the name that it has in fio's tables.
type optionType string

// The types of fio's options.
const (
	typeNumber     optionType = "INT"
	typeLarge      optionType = "ULL"
	typeSize       optionType = "STR_VAL"
	typeTime       optionType = "STR_VAL_TIME"
	typeZones      optionType = "STR_VAL_ZONE"
	typeBool       optionType = "BOOL"
	typeFlag       optionType = "STR_SET"
	typeWord       optionType = "STR"
	typeWordLarge  optionType = "STR_ULL"
	typeWords      optionType = "STR_MULTI"
	typeText       optionType = "STR_STORE"
	typeFractions  optionType = "FLOAT_LIST"
	typeRange      optionType = "RANGE"
	typeSoftlyGone optionType = "SOFT_DEPRECATED"
	typeGone       optionType = "DEPRECATED"
)

// counts says that the parts of the option's value are numbers.
func (r *optionRow) counts() bool {
	return slices.Contains([]optionType{typeNumber, typeLarge, typeSize, typeTime, typeZones}, r.kind)
}

// optionRow is an option as a span of fio's versions has it.
type optionRow struct {
	name, alias         string
	kind                optionType
	engines             []string // empty for fio's own
	profile             string   // the only profile that looks at it
	from, to            int      // indexes into optionVersions, both included
	least, most         int64    // of each part; most 0 for no limit
	leastPart, mostPart float64  // of fractions
	longest             int      // characters and the end mark; 0 for any number
	seconds, time, pow2 bool
	words               []optionWord
	parts               int // places that the value goes to: 3 for read, write and trim
}

type optionWord struct {
	text   string
	number uint64
}

// wordList is the option's words without their numbers.
func (r *optionRow) wordList() (list []string) {
	for _, w := range r.words {
		list = append(list, w.text)
	}
	return list
}

// optionSpan is a name with the versions that have it.
type optionSpan struct {
	name     string
	from, to int
}

// optionRows is options.tsv.
type optionRows struct {
	options           []*optionRow
	engines, settings []optionSpan
}

// optionVersions are the versions whose tables are known, oldest first. The last stands for the
// newest commit at hand, which is beyond 3.42.
var optionVersions = func() (known []Version) {
	for number := range strings.FieldsSeq("2.1 2.2 2.21 3.1 3.7 3.12 3.16 3.19 3.25 3.28 3.30 3.33 3.35 3.36 3.38 3.39 " +
		"3.40 3.41 3.42 3.43") {
		v, _ := ParseVersion("fio-" + number)
		known = append(known, v)
	}
	return known
}()

// versionIndex is the newest of optionVersions that is not newer than v; the oldest for older ones.
func versionIndex(v Version) int {
	for i, known := range slices.Backward(optionVersions) {
		if !v.Before(known) {
			return i
		}
	}
	return 0
}

//go:embed options.tsv
var optionText string

// allRows are those of the table, which is part of the program: a line that is none of its panics.
var allRows = sync.OnceValue(func() *optionRows {
	rows := &optionRows{}
	for line := range strings.Lines(optionText) {
		switch col := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); {
		case strings.HasPrefix(line, "#"):
		case col[0] == "option":
			rows.addOption(col[1:14])
		case col[0] == "engine":
			eachSpan(col[2], func(from, to int) { rows.engines = append(rows.engines, optionSpan{col[1], from, to}) })
		case col[0] == "setting":
			eachSpan(col[3], func(from, to int) { rows.settings = append(rows.settings, optionSpan{col[1], from, to}) })
		default:
			panic("options.tsv: " + line)
		}
	}
	return rows
})

// eachSpan reads "3.1-3.7,3.12-"; an open end reaches the newest version.
func eachSpan(text string, visit func(from, to int)) {
	for span := range strings.SplitSeq(text, ",") {
		first, last, _ := strings.Cut(span, "-")
		from, to := knownVersion(first), len(optionVersions)-1
		if last != "" {
			to = knownVersion(last)
		}
		visit(from, to)
	}
}

// knownVersion is the index of a version that the table names.
func knownVersion(number string) int {
	v, err := ParseVersion("fio-" + number)
	if err != nil {
		panic("options.tsv: " + err.Error())
	}
	return versionIndex(v)
}

func (rows *optionRows) addOption(col []string) {
	r := optionRow{name: col[0], kind: optionType(col[2])}
	if col[1] != "-" {
		r.alias = col[1]
	}
	if profile, ok := strings.CutPrefix(col[3], "profile:"); ok {
		r.profile = profile
	} else if col[3] != "-" {
		r.engines = strings.Split(col[3], ",")
	}
	number := func(s string) float64 {
		switch s {
		case "DBL_MAX":
			return math.MaxFloat64
		case "DBL_MIN":
			return math.SmallestNonzeroFloat64
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic("options.tsv: " + err.Error())
		}
		return v
	}
	r.least, r.leastPart, r.mostPart = int64(number(col[5])), number(col[7]), number(col[8])
	if most, _ := strconv.ParseUint(col[6], 10, 64); most < math.MaxInt64 { // else it bounds nothing
		r.most = int64(most)
	}
	r.longest, r.parts = int(number(col[9])), int(number(col[12]))
	r.seconds, r.time = strings.Contains(col[10], "s"), strings.Contains(col[10], "t")
	r.pow2 = strings.Contains(col[10], "p")
	if col[11] != "-" {
		for word := range strings.SplitSeq(col[11], "|") {
			cut := strings.LastIndexByte(word, '=')
			n, _ := strconv.ParseUint(word[cut+1:], 10, 64)
			r.words = append(r.words, optionWord{word[:cut], n})
		}
	}
	eachSpan(col[4], func(from, to int) {
		row := r
		row.from, row.to = from, to
		rows.options = append(rows.options, &row)
	})
}
