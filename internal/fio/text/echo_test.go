package text

import (
	"maps"
	"testing"

	"plimsoll/internal/fio"
)

// TestEchoedSizes: the forms in which versions of fio repeat their block sizes.
func TestEchoedSizes(t *testing.T) {
	const k128 = "128KiB-128KiB"
	for echo, want := range map[string]fio.Options{
		"bs=(R) 4096B-4096B, (W) 8192B-8192B, (T) 4096B-4096B": {"bs": "4k,8k,4k"},
		"bs=4K-4K/8K-8K/4K-4K":                                 {"bs": "4k,8k,4k"},
		"bs=4K-64K/4K-64K/4K-64K":                              {"bsrange": "4k-64k"},
		"bs=" + k128 + "," + k128 + "," + k128:                 {"bs": "128k"}, // 2.17
		"bs=a-b/c-d":                                           {"bs": "a-b/c-d"},
	} {
		got := echoOptions("rw=randrw, " + echo + ", iodepth=64")
		want["rw"], want["iodepth"] = "randrw", "64"
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", echo, got, want)
		}
	}
}
