package lint

import (
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/script"
)

// work is what it takes to lint a text, as the allocations and the bytes that lint asks for: a
// measure that a busy machine does not change.
func work(name, text string) (allocations, bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	file := script.Parse(name, []byte(text), script.Options{})
	Judge(&Case{Scripts: []*script.File{file}})
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

// inProportion says whether the work for a text that is eight times as long is less than three times what
// is in proportion; what is quadratic takes eight times that.
func inProportion(small, large, least uint64) bool {
	const times, slack = 8, 3
	return large <= slack*times*small+least
}

// linear fails where the work grows faster than the text.
func linear(t *testing.T, name, what string, small, large string) {
	t.Helper()
	work(name, small[:len(small)/2]) // what is worked out once
	n, size := work(name, small)
	m, more := work(name, large)
	if !inProportion(n, m, 1000) || !inProportion(size, more, 1<<20) {
		t.Errorf("%s of %q: %d allocations of %d bytes for %d of text, %d of %d for %d",
			name, what, n, size, len(small), m, more, len(large))
	}
}

// Hostile documents: what was quadratic in lines or words took minutes for 100 kB.
func TestLintStaysLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, line := range []string{
		"cat <<A\n", "fio '\n", "```\n", "fio --name=a --iodepth=32\n", "# plimsoll: disable=PL103 x\n", "mount /dev/a /b\n", "mount /dev/a$ /b\n", "[a]\nrw=read\niodepth=2\n",
		"A=b \\\n", "$(", "`", "\\\n", "mkfs.xfs -d su=64k,sw=8 /dev/md0\n", "mdadm -C /dev/md0 -l0 -n4 a\n", "    fio x\n", "fio --name=a --zzz=1\n", "for i in 1\n", "$ ", "[", "[ a @", "c6a.xlarge ",
		"mount /dev/sda /a\nmount /dev/sda /b\n", "fio --name=a --filename=/dev/sda --rw=read\n",
		"[fill]\nfilename=/dev/sda\nrw=randwrite\nnorandommap\n", "fio --direct=1 $X.fio\n",
	} {
		for _, name := range []string{"x.md", "x.sh", "x.fio"} {
			begin := ""
			if name == "x.md" {
				begin = "```\n"
			}
			const size = 4000
			linear(t, name, line, begin+strings.Repeat(line, size/len(line)), begin+strings.Repeat(line, 8*size/len(line)))
		}
	}
}

// Job files of very many sections: each job once looked at all that stand before it.
func TestManySections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	sections := func(n int) string {
		return "[global]\nioengine=libaio\niodepth=4\n" + strings.Repeat("[a]\nrw=read\n", n)
	}
	linear(t, "x.fio", "sections", sections(2000), sections(16_000))
}

// The measure sees what is quadratic: a text that is put together a line at a time.
func TestWorkSeesWhatIsQuadratic(t *testing.T) {
	grown := func(lines int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := ""
		for range lines {
			text += "fio --name=a\n"
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc + uint64(len(text))
	}
	if inProportion(grown(300), grown(2400), 0) {
		t.Error("the work for a quadratic task is in proportion")
	}
}
