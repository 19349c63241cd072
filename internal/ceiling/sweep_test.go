package ceiling

import (
	"testing"

	"plimsoll/internal/sys/bounded"
)

func FuzzParseAxes(f *testing.F) {
	for _, s := range []string{
		"bs=4k..1M,iodepth=1..256", "bs=4k", "bs=4k,bs=8k", "iodepth=8", "bs=1M..4k", "iodepth=0..1", "bs=,", "",
		"bs=0..18446744073709551615",
	} {
		f.Add(s)
	}
	bounded.Fuzz(f, func(t *testing.T, s string) {
		a, err := ParseAxes(s)
		if err != nil {
			return
		}
		if len(a.BlockSizes)+len(a.Depths) == 0 {
			t.Errorf("%q: no axis and no error", s)
		}
		for i := 1; i < len(a.BlockSizes); i++ {
			if a.BlockSizes[i] != 2*a.BlockSizes[i-1] {
				t.Errorf("%q: %v", s, a.BlockSizes)
			}
		}
	})
}
