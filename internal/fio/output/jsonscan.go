package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	fiotext "plimsoll/internal/fio/text"
)

// jsonScan walks a JSON document once and keeps nothing: 2,000 json+ results hold millions of bins,
// for which encoding/json would make a string and an interface each. Callbacks consume the value
// they are called for.
//
// It is lenient where fio is: control characters stand raw in strings (fio escapes only quotes and
// backslashes), numbers may be nan or inf, and fio's messages may stand on lines of their own
// between two tokens (axboe/fio#731).
type jsonScan struct {
	b       []byte
	i       int
	err     error
	strayAt []int // offsets of messages of fio between tokens
	nans    int   // numbers that were nan or inf
	hists   int   // histograms made so far
}

func (s *jsonScan) fail(want string) {
	if s.err != nil {
		return
	}
	got := "the end"
	if s.i < len(s.b) {
		got = strconv.Quote(string(s.b[s.i:min(s.i+12, len(s.b))]))
	}
	s.err = fmt.Errorf("fio json, byte %d (line %d): got %s, want %s", s.i, s.line(s.i), got, want)
	s.i = len(s.b)
}

func (s *jsonScan) line(at int) int { return 1 + bytes.Count(s.b[:min(at, len(s.b))], []byte{'\n'}) }

// peek skips white space and fio's stray messages and returns the next byte, 0 at the end.
func (s *jsonScan) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		case 'f':
			if !bytes.HasPrefix(s.b[s.i:], []byte("fio: ")) || len(s.strayAt) >= 1000 {
				return c
			}
			s.strayAt = append(s.strayAt, s.i)
			n := bytes.IndexByte(s.b[s.i:], '\n')
			if n < 0 {
				s.i = len(s.b)
				return 0
			}
			s.i += n
		default:
			return c
		}
	}
	return 0
}

// object calls f for each key; f consumes the value. key is valid until f returns.
func (s *jsonScan) object(f func(key []byte)) {
	s.members('{', '}', "an object", func() {
		if s.peek() != '"' {
			s.fail("a key in quotes")
			return
		}
		key := s.rawString()
		if s.peek() != ':' {
			s.fail("a colon")
			return
		}
		s.i++
		f(key)
	})
}

// array calls f at each element; f consumes it.
func (s *jsonScan) array(f func()) { s.members('[', ']', "a list", f) }

// members calls f at each of what stands between brackets, with commas between them.
func (s *jsonScan) members(open, end byte, what string, f func()) {
	if s.peek() != open {
		s.fail(what)
		return
	}
	s.i++
	if s.peek() == end {
		s.i++
		return
	}
	for s.err == nil {
		f()
		switch s.peek() {
		case ',':
			s.i++
		case end:
			s.i++
			return
		default:
			s.fail("a comma or the end of " + what)
		}
	}
}

// rawString returns the inside of a string, escapes unresolved.
func (s *jsonScan) rawString() []byte {
	start := s.i + 1
	for i := start; i < len(s.b); i++ {
		switch s.b[i] {
		case '"':
			s.i = i + 1
			return s.b[start:i]
		case '\\':
			i++
		}
	}
	s.i = len(s.b)
	s.fail("a closing quote")
	return nil
}

// text reads a string; numbers and words become their text, since fio has changed its mind about
// some.
func (s *jsonScan) text() string {
	if s.peek() != '"' {
		return string(s.skip())
	}
	raw := s.rawString()
	if bytes.IndexByte(raw, '\\') < 0 {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	var out string
	if json.Unmarshal(fmt.Appendf(nil, `"%s"`, raw), &out) == nil {
		return out
	}
	return strings.ToValidUTF8(strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(string(raw)), "\uFFFD")
}

// number reads a number, quoted or not. nan and inf count as 0 and are remembered.
func (s *jsonScan) number() float64 {
	v := s.decimal(0)
	if math.Abs(v) > mostNumber {
		s.nans++
		return 0
	}
	return v
}

// mostNumber is more than any figure of fio's: products and sums of some stay numbers.
const mostNumber = 1e24

// percent reads a number of percent as a share: 2.34 is 0.0234 to the last bit, which 2.34/100 is
// not.
func (s *jsonScan) percent() float64 { return s.decimal(2) }

// decimal reads a number with its point moved shift digits to the left.
func (s *jsonScan) decimal(shift int) float64 {
	if s.peek() == '"' {
		v, err := strconv.ParseFloat(strings.TrimSpace(string(s.rawString())), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			s.nans++
			return 0
		}
		return v / math.Pow10(shift)
	}
	var mant uint64
	start, digits, frac := s.i, 0, 0
	i := s.i
	neg := i < len(s.b) && s.b[i] == '-'
	if neg {
		i++
	}
	point := false
	for ; i < len(s.b); i++ {
		c := s.b[i]
		if c-'0' <= 9 {
			mant = mant*10 + uint64(c-'0')
			digits++
			if point {
				frac++
			}
			continue
		}
		if c != '.' || point {
			break
		}
		point = true
	}
	exact := digits > 0 && digits <= 19 && mant < 1<<53 && frac+shift < fiotext.MaxPow10
	if i < len(s.b) && (s.b[i] == 'e' || s.b[i] == 'E') {
		exact = false
	}
	if exact { // both are exact in a float64, so the quotient is rounded once, as strconv would
		s.i = i
		v := float64(mant)
		if frac+shift > 0 {
			v /= math.Pow10(frac + shift)
		}
		if neg {
			v = -v
		}
		return v
	}
	for i < len(s.b) && !jsonEnds(s.b[i]) {
		i++
	}
	v, err := strconv.ParseFloat(strings.TrimPrefix(string(s.b[start:i]), "-"), 64) // C prints -nan
	if neg {
		v = -v
	}
	if err != nil && !math.IsInf(v, 0) {
		s.fail("a number")
		return 0
	}
	s.i = i
	if math.IsNaN(v) || math.IsInf(v, 0) {
		s.nans++
		return 0
	}
	return v / math.Pow10(shift)
}

// count reads a number that fio prints whole, exact beyond 2^53. What is negative counts as 0.
func (s *jsonScan) count() uint64 {
	s.peek()
	start := s.i
	var v uint64
	i := s.i
	for ; i < len(s.b) && s.b[i]-'0' <= 9; i++ {
		v = v*10 + uint64(s.b[i]-'0')
	}
	if n := i - start; n > 0 && n < 20 && (i == len(s.b) || jsonEnds(s.b[i])) {
		s.i = i
		return v
	}
	if i-start == 20 && i < len(s.b) && jsonEnds(s.b[i]) { // 18446744073709551615, an unset minimum of old fio
		if v, err := strconv.ParseUint(string(s.b[start:i]), 10, 64); err == nil {
			s.i = i
			return v
		}
	}
	f := s.number()
	if f <= 0 {
		return 0
	}
	if f >= math.MaxUint64 {
		return math.MaxUint64
	}
	return uint64(math.Round(f))
}

func jsonEnds(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t'
}

// skip steps over one value of any kind and returns its text.
func (s *jsonScan) skip() []byte {
	s.peek()
	start, depth := s.i, 0
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case '"':
			s.rawString()
		case '{', '[':
			depth++
			s.i++
		case '}', ']', ',':
			if depth == 0 {
				if s.i == start {
					s.fail("a value")
					return nil
				}
				return bytes.TrimSpace(s.b[start:s.i])
			}
			if c != ',' {
				depth--
			}
			s.i++
		default:
			s.i++
		}
		if depth == 0 && strings.IndexByte(`}]"`, s.b[s.i-1]) >= 0 {
			return s.b[start:s.i]
		}
	}
	s.fail("the end of a value")
	return nil
}

// deepest is more than the brackets that stand open within each other in a document of fio's.
const deepest = 64

// closed ends a document where it breaks off: its last value that is whole is its last, and what is open is closed. cut
// says that it breaks off.
func closed(b []byte) (doc []byte, cut bool) {
	var open, at []byte // the brackets that close what is open now, and at the last whole value
	whole, quoted := 0, false
	for i := 0; i < len(b) && len(open) < deepest; i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, c+2) // in ASCII the closing one is the next but one
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				i = len(b)
				break
			}
			open = open[:len(open)-1]
			whole, at = i+1, append(at[:0], open...)
		case c == ',':
			whole, at = i, append(at[:0], open...)
		case bytes.IndexByte([]byte("`#<|"), c) >= 0: // prose
			i = len(b)
		}
	}
	slices.Reverse(at)
	return slices.Concat(b[:whole], at), len(at) > 0
}
