package topology

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

var (
	countOf = regexp.MustCompile(`^\s*(\d+)\s*[x×*]\s*(.*)$`)
	gap     = regexp.MustCompile(`(^|[\s:,])([0-9.,]+)\s+([A-Za-z])`) // "3000 GiB"
	word    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// maxVolumes is more than any machine attaches.
const maxVolumes = 1024

// parseVolumes reads volumes on one line: "8xgp3", "8x3000iops:125MiB/s", "4 × gp2 3000GiB", "gp3
// 16000iops 1000MiB/s". Without a number in front, count is 0: every volume there is.
func parseVolumes(s string) (count int, v DeclaredVolume, err error) {
	rest := s
	if m := countOf.FindStringSubmatch(s); m != nil {
		count, err = strconv.Atoi(m[1])
		if err != nil || count < 1 || count > maxVolumes {
			return 0, v, fmt.Errorf("volumes %.60q: want from 1 to %d of them", s, maxVolumes)
		}
		rest = m[2]
	}
	rest = gap.ReplaceAllString(rest, "$1$2$3")
	for item := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(" \t:,", r) }) {
		if err := v.set(item); err != nil {
			return 0, v, fmt.Errorf("volumes %.60q: %w; want such as 8xgp3, 8x3000iops:125MiB/s or 4x gp2 3000GiB", s, err)
		}
	}
	if v == (DeclaredVolume{}) {
		return 0, v, fmt.Errorf("volumes %.60q: want such as 8xgp3, 8x3000iops:125MiB/s or 4x gp2 3000GiB", s)
	}
	return count, v, nil
}

// set takes one word of a volume's description.
func (v *DeclaredVolume) set(item string) error {
	lower := strings.ToLower(item)
	had := false
	switch {
	case strings.HasSuffix(lower, "iops"):
		n, err := units.ParseIOPS(item)
		if err != nil || n <= 0 {
			return fmt.Errorf("%.40q is no number of IOPS", item)
		}
		had, v.Limits.IOPS = v.Limits.IOPS > 0, n
	case strings.HasSuffix(lower, "/s"), strings.HasSuffix(lower, "bps"):
		r, err := units.ParseRate(item)
		if err != nil || r <= 0 {
			return fmt.Errorf("%.40q is no throughput", item)
		}
		had, v.Limits.Rate = v.Limits.Rate > 0, r
	case lower == "ondemand":
		had, v.OnDemand = v.OnDemand, true
	case lower == string(cloud.Uncached):
		had, v.Caching = v.Caching != "", cloud.Uncached
	case cloud.Caching(lower).Cached():
		had, v.Caching = v.Caching != "", cloud.Caching(lower)
	case Level(lower).Known():
		return fmt.Errorf("%s is a level, not a type; state it with --level %[1]s, or level: %[1]s in a file", lower)
	case word.MatchString(item):
		had, v.Type = v.Type != "", lower
	default:
		size, err := units.ParseBytes(item)
		if err != nil || size == 0 || strings.Trim(item, "0123456789.") == "" {
			return fmt.Errorf("%.40q is neither a type nor a size with its unit", item)
		}
		had, v.Size = v.Size > 0, size
	}
	if had {
		return fmt.Errorf("%.40q says again what was said before it", item)
	}
	return nil
}
