package fio

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What fio's own code wants of a value beyond its type. --parse-only does not run most of it.

// ownCheck says whether fio's own code takes a value that is right by its type.
type ownCheck func(value string, v Version) bool

// ownChecks are by the option's main name, and need a value. Each was seen to refuse the same values in fio
// 3.33 and later; for older versions only what they refuse too.
var ownChecks = map[string]ownCheck{
	"rw":                  directionTakes,
	"random_distribution": distributionTakes,
	"file_service_type":   serviceTakes,
	"steadystate":         formTakes(`^[a-z_]+:\s*[+-]?[\d.]`),
	"ignore_error":        errorsTake,
	"replay_skip":         formTakes(`^(?:read|write|trim|sync)(?:,(?:read|write|trim|sync))*$`),
	"buffer_pattern":      patternTakes(`"[^"]*"|0[xX][0-9a-fA-F]+|[+-]?\d+`),
	"verify_pattern":      patternTakes(`%o|"[^"]*"|0[xX][0-9a-fA-F]+|[+-]?\d+`),
	"bssplit":             splitTakes,
	"numa_mem_policy":     sinceSums(formTakes(`^(?:default|local|(?:bind|interleave|prefer):.+)$`)),
	"io_size":             withinWhole,
	"dp_scheme":           formTakes(`[/.]`),
	"write_mode":          formTakes(`^[a-z]`),
}

func formTakes(form string) ownCheck {
	r := regexp.MustCompile(form)
	return func(value string, _ Version) bool { return r.MatchString(value) }
}

// sinceSums is a check that older versions do not make.
func sinceSums(check ownCheck) ownCheck {
	return func(value string, v Version) bool { return v.Before(sumsKnown) || check(value, v) }
}

var leadingReal = regexp.MustCompile(`^\s*[+-]?(?:\d+\.?\d*|\.\d+)`)

// directionTakes looks at what stands behind the colon of rw=randread:8.
func directionTakes(value string, v Version) bool {
	_, behind, ok := strings.Cut(value, ":")
	if !ok {
		return true
	}
	if _, digits := leading(behind); !digits && strings.HasPrefix(value, "rand") {
		return behind != "" && v.Before(signedNumbers)
	}
	return behind != ""
}

func realOf(s string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(leadingReal.FindString(s)), 64)
	return x, err == nil
}

// distributionTakes looks at the parameter of random_distribution=zipf:1.2.
func distributionTakes(value string, v Version) bool {
	word, rest, has := strings.Cut(value, ":")
	word, _, _ = strings.Cut(word, ",")
	switch word {
	case "zoned", "zoned_abs":
		return has && zonesAddUp(rest, word == "zoned_abs")
	case "sequence":
		return has
	}
	if !has || word == "random" {
		return true
	}
	rest, centre, two := strings.Cut(rest, ":")
	x, ok := realOf(rest)
	if at, fine := realOf(centre); two && !v.Before(zonesKnown) && (!fine || at < 0 || at > 1) {
		return false
	}
	return ok && parameterTakes(word, x)
}

// zonesAddUp reads zones as 60/10:40/90: shares of the I/Os, which must be 100 % in all, and of the file,
// 100 % at most, or sizes. What it cannot read, such as one list for each direction, is left to fio.
func zonesAddUp(zones string, sizes bool) bool {
	if zones == "" || strings.ContainsAny(zones, ",(") {
		return true
	}
	var ios, file int64
	for zone := range strings.SplitSeq(strings.TrimSuffix(zones, ":"), ":") {
		share, part, has := strings.Cut(zone, "/")
		n, ok := leading(share)
		of, whole := leading(part)
		if !ok || n < 0 || of < 0 || has && part != "" && !whole {
			return true
		}
		ios += n
		file += of
	}
	return ios == 100 && (sizes || file <= 100)
}

func parameterTakes(word string, x float64) bool {
	switch word {
	case "zipf":
		return x != 1
	case "pareto":
		return x > 0 && x < 1
	case "normal", "gauss":
		return x >= 0 && x <= 100
	}
	return true
}

func serviceTakes(value string, _ Version) bool {
	word, rest, has := strings.Cut(value, ":")
	x, ok := realOf(rest)
	return !has || !ok || parameterTakes(word, x)
}

// errorsTake reads ignore_error=EIO,ENOSPC:122: names of errors, or numbers.
func errorsTake(value string, _ Version) bool {
	for name := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ':' || r == ',' }) {
		if n, _ := leading(name); n <= 0 && !slices.Contains(errorNames, name) {
			return false
		}
	}
	return true
}

// errorNames are those of Linux's errors that fio's list has, up to ERANGE, and those that storage
// and networks answer with.
var errorNames = strings.Fields(`EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN
		ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY
		EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE`)

// patternTakes reads strings, numbers and a few marks in a row: "abcd"-12, 0xdeadbeef, %o. What is
// in single quotes is a file, of which nothing is known.
func patternTakes(part string) ownCheck { return sinceSums(formTakes("'|^(?:" + part + ")+$")) }

// splitTakes reads bssplit=4k/60:64k/40,8k/100.
func splitTakes(value string, v Version) bool {
	if v.Before(sumsKnown) {
		return oldSplitTakes(value)
	}
	for direction := range strings.SplitSeq(value, ",") {
		for part := range strings.SplitSeq(direction, ":") {
			size, _, _ := strings.Cut(part, "/")
			if part == "" {
				continue
			}
			if _, ok := readNumber(size, 1024, v); !ok {
				return false
			}
		}
	}
	return true
}

var oldSplitPart = regexp.MustCompile(`^[^/]+/(\d+)`)

// oldSplitTakes: the first size needs its share, and the shares may not exceed the whole.
func oldSplitTakes(value string) bool {
	for direction := range strings.SplitSeq(value, ",") {
		sum := 0
		for part := range strings.SplitSeq(direction, ":") {
			m := oldSplitPart.FindStringSubmatch(part)
			if m == nil && part != "" && sum == 0 {
				return false
			}
			if m != nil {
				share, _ := strconv.Atoi(m[1])
				sum += min(share, 100)
			}
		}
		if sum > 100 {
			return false
		}
	}
	return true
}

// withinWhole says that a value is no share above 100 %.
func withinWhole(value string, _ Version) bool {
	n, ok := leading(value)
	return !ok || n <= 100 || !strings.HasPrefix(strings.TrimLeft(value, "0123456789"), "%")
}
