package fio

import (
	"regexp"
	"strconv"
	"strings"
)

// What fio's own code wants of a value beyond its type. --parse-only does not run most of it.

// ownCheck says whether fio's own code takes a value that is right by its type.
type ownCheck func(value string, v Version) bool

// ownChecks are by the option's main name. Each was seen to refuse the same values in fio 3.33 and
// later; for older versions only what they refuse too.
func ownChecks(name string) ownCheck {
	switch name {
	case "rw":
		return directionTakes
	case "random_distribution":
		return distributionTakes
	case "file_service_type":
		return serviceTakes
	case "steadystate":
		return func(v string, _ Version) bool { return steadyForm.MatchString(v) }
	case "ignore_error":
		return func(v string, _ Version) bool { return errorsTaken(v) }
	case "replay_skip":
		return func(v string, _ Version) bool { return skipForm.MatchString(v) }
	case "buffer_pattern", "verify_pattern":
		return patternTakes(name)
	case "bssplit":
		return splitTakes
	case "numa_mem_policy":
		return func(v string, at Version) bool { return at.Before(sumsKnown) || policyForm.MatchString(v) }
	case "io_size":
		return func(v string, _ Version) bool { return !beyondWhole(v) }
	case "dp_scheme":
		return func(v string, _ Version) bool { return strings.Contains(v, "/") || strings.Contains(v, ".") }
	case "write_mode":
		return func(v string, _ Version) bool { return modeForm.MatchString(v) }
	}
	return nil
}

// shaped says whether an option has a check of its own, which needs a value.
func shaped(name string) bool { return ownChecks(name) != nil }

var (
	steadyForm  = regexp.MustCompile(`^[a-z_]+:\s*[+-]?[\d.]`)
	skipForm    = regexp.MustCompile(`^(?:read|write|trim|sync)(?:,(?:read|write|trim|sync))*$`)
	policyForm  = regexp.MustCompile(`^(?:default|local|(?:bind|interleave|prefer):.+)$`)
	modeForm    = regexp.MustCompile(`^[a-z]`)
	leadingReal = regexp.MustCompile(`^\s*[+-]?(?:\d+\.?\d*|\.\d+)`)
)

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

// errorsTaken reads ignore_error=EIO,ENOSPC:122: names of errors, or numbers.
func errorsTaken(value string) bool {
	for list := range strings.SplitSeq(value, ":") {
		for name := range strings.SplitSeq(list, ",") {
			n, isNumber := leading(name)
			switch {
			case name == "", isNumber && n > 0, errorNames[name]:
			default:
				return false
			}
		}
	}
	return true
}

// errorNames are those of Linux's errors that fio's list has, up to ERANGE, and those that storage
// and networks answer with.
var errorNames = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN
		ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY
		EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE`) {
		names[name] = true
	}
	return names
}()

// patternTakes reads strings, numbers and a few marks in a row: "abcd"-12, 0xdeadbeef, %o. What is
// in single quotes is a file, of which nothing is known.
func patternTakes(name string) ownCheck {
	return func(value string, v Version) bool {
		if v.Before(sumsKnown) || strings.Contains(value, "'") {
			return true
		}
		rest := value
		for rest != "" {
			part := patternPart.FindString(rest)
			if strings.HasPrefix(rest, "%o") && name == "verify_pattern" {
				part = "%o"
			}
			if part == "" {
				return false
			}
			rest = rest[len(part):]
		}
		return value != ""
	}
}

var patternPart = regexp.MustCompile(`^(?:"[^"]*"|0[xX][0-9a-fA-F]+|[+-]?\d+)`)

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

// beyondWhole says whether a share is above 100 %.
func beyondWhole(value string) bool {
	n, ok := leading(value)
	return ok && n > 100 && strings.HasPrefix(strings.TrimLeft(value, "0123456789"), "%")
}
