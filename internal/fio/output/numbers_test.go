package output

import "testing"

// Numbers of fio's JSON, quoted or not, to the last bit; what is none is remembered as 0.
func TestNumbersOfJSON(t *testing.T) {
	for text, want := range map[string]struct{ number, percent float64 }{
		"0,": {0, 0}, "12,": {12, 0.12}, "-12.5}": {-12.5, -0.125}, "2.34,": {2.34, 0.0234}, "0.7 ": {0.7, 0.007},
		"1.5e3,": {1500, 15}, "1.5E3]": {1500, 15}, "25e-1,": {2.5, 0.025}, "-2e2\n": {-200, -2},
		"9007199254740993,": {9007199254740992, 90071992547409.92}, "123456789012345678901,": {123456789012345678901, 1234567890123456789.01},
		`"12.5",`: {12.5, 0.125}, `" 7 ",`: {7, 0.07},
	} {
		for name, read := range map[string]func(*jsonScan) (float64, float64){
			"number":  func(s *jsonScan) (float64, float64) { return s.number(), want.number },
			"percent": func(s *jsonScan) (float64, float64) { return s.percent(), want.percent },
		} {
			s := &jsonScan{b: []byte(text)}
			if got, want := read(s); got != want || s.err != nil || s.nans != 0 {
				t.Errorf("%s %q: %v, want %v (%v, %d)", name, text, got, want, s.err, s.nans)
			}
		}
	}
	for _, text := range []string{`"nan",`, `"inf",`, `"x",`, "nan,", "-nan,", "inf,", "1e308,"} {
		s := &jsonScan{b: []byte(text)}
		if got := s.number(); got != 0 || s.nans != 1 || s.err != nil {
			t.Errorf("%q: %v, %d that are none, %v", text, got, s.nans, s.err)
		}
	}
	for _, text := range []string{",", "x12,", "-,"} {
		s := &jsonScan{b: []byte(text)}
		if got := s.number(); s.err == nil {
			t.Errorf("%q: %v, and no error", text, got)
		}
	}
}
