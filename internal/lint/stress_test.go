package lint

import (
	"runtime"
	"strconv"
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
	Judge(NewCase(Case{Scripts: []*script.File{file}}))
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

// grows measures a task at a size and at eight times the size, and fails where the work grows faster.
func grows(t *testing.T, what string, task func(n int)) {
	t.Helper()
	measure := func(n int) (allocations, bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		task(n)
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
	}
	const size = 250
	measure(size / 2) // what is worked out once
	n, small := measure(size)
	m, large := measure(8 * size)
	if !inProportion(n, m, 2000) || !inProportion(small, large, 1<<20) {
		t.Errorf("%s: %d allocations of %d bytes, and eight times as many take %d of %d", what, n, small, m, large)
	}
}

// Every other dimension in which a tree of documents may grow: options, variables, the length of a
// line, includes, depth and files.
func TestLintGrowsInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	judge := func(name, text string, opts script.Options) {
		Judge(NewCase(Case{Scripts: []*script.File{script.Parse(name, []byte(text), opts)}}))
	}
	numbered := func(n int, form string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(form, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	included := script.Options{Include: func(string) ([]byte, error) { return []byte("bs=4k\n"), nil }}
	for what, task := range map[string]func(n int){
		"one option many times":  func(n int) { judge("x.fio", "[a]\n"+numbered(n, "bs=4k\n"), script.Options{}) },
		"options of many names":  func(n int) { judge("x.fio", "[a]\n"+numbered(n, "o#=1\n"), script.Options{}) },
		"sections of many names": func(n int) { judge("x.fio", numbered(n, "[s#]\nrw=write\nfilename=f#\n"), script.Options{}) },
		"sections of one file": func(n int) {
			judge("x.fio", numbered(n, "[read#]\nrw=write\nfilename=f\nverify=md5\n"), script.Options{})
		},
		"sections that only place": func(n int) { judge("x.fio", "[a]\nrw=read\n"+numbered(n, "[p#]\nfilename=f#\n"), script.Options{}) },
		"variables":                func(n int) { judge("x.sh", numbered(n, "A#=x\n")+"fio --name=a --bs=$A1\n", script.Options{}) },
		"variables of variables":   func(n int) { judge("x.sh", "A0=x\n"+numbered(n, "B#=$A0\nfio --name=a --bs=$B#\n"), script.Options{}) },
		"an array that grows":      func(n int) { judge("x.sh", "A=(a)\n"+numbered(n, "A+=(--o#=1)\n"), script.Options{}) },
		"words of one line":        func(n int) { judge("x.sh", "fio --name=a"+numbered(n, " --o#=1")+"\n", script.Options{}) },
		"words that lost a dash":   func(n int) { judge("x.sh", "fio --name=a"+numbered(n, " bs=4k")+"\n", script.Options{}) },
		"files of one option":      func(n int) { judge("x.fio", "[a]\nrw=read\nfilename="+numbered(n, "/dev/s#:")+"x\n", script.Options{}) },
		"a long value":             func(n int) { judge("x.fio", "[a]\nrw="+strings.Repeat("x", 50*n)+"\n", script.Options{}) },
		"a long name":              func(n int) { judge("x.fio", "["+strings.Repeat("read", 10*n)+"]\nrw=write\n", script.Options{}) },
		"includes":                 func(n int) { judge("x.fio", "[a]\n"+numbered(n, "include x#\n"), included) },
		"YAML that nests": func(n int) {
			judge("x.yml", strings.Repeat("{a: ", n)+"fio"+strings.Repeat("}", n)+"\n", script.Options{})
		},
		"commands that nest": func(n int) {
			judge("x.sh", "fio --name=a "+strings.Repeat("$(", n)+"x"+strings.Repeat(")", n)+"\n", script.Options{})
		},
		"comments that silence": func(n int) {
			judge("x.fio", numbered(n, "# plimsoll: disable=PL103 x\n[s#]\nrw=read\n"), script.Options{})
		},
		"documents":                 func(n int) { Judge(documents(n, "[a]\nrw=write\niodepth=4\n")) },
		"documents that start jobs": func(n int) { Judge(documents(n/8, "fio x.fio $O/x1.fio\n")) },
	} {
		grows(t, what, task)
	}
}

// documents are n job files or scripts of one text.
func documents(n int, text string) *Case {
	c := Case{}
	ending := ".sh"
	if text[0] == '[' {
		ending = ".fio"
	}
	for i := range n {
		c.Scripts = append(c.Scripts, script.Parse("x"+strconv.Itoa(i)+ending, []byte(text), script.Options{}))
	}
	return NewCase(c)
}
