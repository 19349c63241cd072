package fio

import (
	_ "embed"
	"fmt"
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

var allRows = sync.OnceValue(func() *optionRows {
	rows, err := parseOptionRows(optionText)
	if err != nil {
		panic("options.tsv: " + err.Error()) // it is part of the program
	}
	return rows
})

func parseOptionRows(text string) (*optionRows, error) {
	rows := &optionRows{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var err error
		switch {
		case strings.HasPrefix(line, "#"):
		case col[0] == "option" && len(col) == 14:
			err = rows.addOption(col[1:])
		case col[0] == "engine" && len(col) == 3, col[0] == "setting" && len(col) == 4:
			list := map[string]*[]optionSpan{"engine": &rows.engines, "setting": &rows.settings}[col[0]]
			err = eachSpan(col[len(col)-1], func(from, to int) { *list = append(*list, optionSpan{col[1], from, to}) })
		default:
			err = fmt.Errorf("%q is none of its lines", Clip(line))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return rows, nil
}

// eachSpan reads "3.1-3.7,3.12-"; an open end reaches the newest version.
func eachSpan(text string, visit func(from, to int)) error {
	for span := range strings.SplitSeq(text, ",") {
		first, last, ok := strings.Cut(span, "-")
		from, err := ParseVersion("fio-" + first)
		if err != nil || !ok {
			return fmt.Errorf("%q: want versions such as 3.1-3.7", Clip(span))
		}
		to := optionVersions[len(optionVersions)-1]
		if last != "" {
			if to, err = ParseVersion("fio-" + last); err != nil {
				return err
			}
		}
		visit(versionIndex(from), versionIndex(to))
	}
	return nil
}

func (rows *optionRows) addOption(col []string) error {
	r := optionRow{name: col[0], kind: optionType(col[2])}
	if col[1] != "-" {
		r.alias = col[1]
	}
	if profile, ok := strings.CutPrefix(col[3], "profile:"); ok {
		r.profile = profile
	} else if col[3] != "-" {
		r.engines = strings.Split(col[3], ",")
	}
	var failed error
	number := func(s string) float64 {
		switch s {
		case "DBL_MAX":
			return math.MaxFloat64
		case "DBL_MIN":
			return math.SmallestNonzeroFloat64
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			failed = err
		}
		return v
	}
	r.least, r.leastPart, r.mostPart = int64(number(col[5])), number(col[7]), number(col[8])
	if most, err := strconv.ParseUint(col[6], 10, 64); err == nil && most < math.MaxInt64 {
		r.most = int64(most)
	} else if err != nil {
		failed = err
	}
	r.longest, r.parts = int(number(col[9])), int(number(col[12]))
	r.seconds, r.time = strings.Contains(col[10], "s"), strings.Contains(col[10], "t")
	r.pow2 = strings.Contains(col[10], "p")
	if col[11] != "-" {
		for word := range strings.SplitSeq(col[11], "|") {
			cut := strings.LastIndexByte(word, '=')
			n, err := strconv.ParseUint(word[cut+1:], 10, 64)
			if cut < 0 || err != nil {
				return fmt.Errorf("word %q: want word=number", Clip(word))
			}
			r.words = append(r.words, optionWord{word[:cut], n})
		}
	}
	err := eachSpan(col[4], func(from, to int) {
		row := r
		row.from, row.to = from, to
		rows.options = append(rows.options, &row)
	})
	if err != nil {
		return err
	}
	return failed
}
