package provision

import "testing"

// What wipefs prints of a device, and what is refused of it.
func TestSignaturesByHand(t *testing.T) {
	for out, want := range map[string][]signature{
		"":   {},
		"\n": {},
		`{"signatures":[{"type":"xfs","offset":"0x0"}]}`:                                    {{Type: "xfs"}},
		`{"signatures":[{"type":"gpt","offset":"0x200"},{"type":"PMBR","offset":"0x1fe"}]}`: {{Type: "gpt", Offset: 512}, {Type: "PMBR", Offset: 510}},
		`{"signatures":[{"type":"xfs","offset":"-1"}]}`:                                     nil,
		`{"signatures":[{"type":"xfs","offset":"here"}]}`:                                   nil,
		`{"signatures":[{"type":"xfs","offset":""}]}`:                                       nil,
		`{"signatures":`: nil,
	} {
		got, err := parseWipefs(out)
		if (err != nil) != (want == nil) || len(got) != len(want) {
			t.Errorf("%s: %+v, %v; want %+v", out, got, err, want)
			continue
		}
		for i := range want {
			if got[i].Type != want[i].Type || got[i].Offset != want[i].Offset {
				t.Errorf("%s: %+v, want %+v", out, got, want)
			}
		}
	}
}
