package units

import "testing"

func TestPlainReadsWhatSeparatesDigits(t *testing.T) {
	for text, want := range map[string]string{
		"27101": "27101", "27,101": "27101", "1,234,567": "1234567", "1.234.567": "1234567", "106,1": "106.1", "0,95": "0.95",
		"1,00": "1.00", "1.234,56": "1234.56", "1,234.56": "1234.56", "0,950": "0.950", "16.2": "16.2", "16.200": "16.200",
		"7": "7", ".5": ".5", "1,2345": "1.2345", "12,345,678.9": "12345678.9",
	} {
		if got, ok := Plain(text); !ok || got != want {
			t.Errorf("%s: %q %v, want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{"", ",", ".", "1,23,456", "1,2.3,4", "1.2.3", "12,34,5", "1234,567,890", "1,2,3"} {
		if got, ok := Plain(text); ok {
			t.Errorf("%s gives %q", text, got)
		}
	}
}
