package units

import "testing"

func TestParsePercentIsExact(t *testing.T) {
	for text, want := range map[string]float64{
		"0.7%": 0.007, "0.7 %": 0.007, " 97.27%": 0.9727, "100%": 1, "0%": 0, ".5%": 0.005, "250%": 2.5,
	} {
		if got, err := ParsePercent(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "0.7", "-1%", "1e3%", "NaN%", "inf%", "1.2.3%", "0x1%", "7 ms"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("%q gives %v", text, got)
		}
	}
}
