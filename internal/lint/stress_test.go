package lint

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/script"
)

// Hostile documents of 100 kB take well under a second each. The limit is far above, for slow
// machines and -race; what is quadratic in lines or words took minutes.
func TestLintStaysLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const limit = 20 * time.Second
	for _, line := range []string{
		"cat <<A\n", "fio '\n", "```\n", "fio --name=a --iodepth=32\n", "# plimsoll: disable=PL103 x\n", "mount /dev/a /b\n", "mount /dev/a$ /b\n", "[a]\nrw=read\niodepth=2\n",
		"A=b \\\n", "$(", "`", "\\\n", "mkfs.xfs -d su=64k,sw=8 /dev/md0\n", "mdadm -C /dev/md0 -l0 -n4 a\n", "    fio x\n", "fio --name=a --zzz=1\n", "for i in 1\n", "$ ", "[", "[ a @", "c6a.xlarge ",
		"mount /dev/sda /a\nmount /dev/sda /b\n", "fio --name=a --filename=/dev/sda --rw=read\n",
	} {
		for _, name := range []string{"x.md", "x.sh", "x.fio"} {
			text := strings.Repeat(line, 100_000/len(line))
			if name == "x.md" {
				text = "```\n" + text
			}
			start := time.Now()
			file := script.Parse(name, []byte(text), script.Options{})
			parsed := time.Since(start)
			Judge(&Case{Scripts: []*script.File{file}})
			if took := time.Since(start); took > limit {
				t.Errorf("%s of %q: parse %s, all %s", name, line, parsed, took)
			}
		}
	}
}

// A job file of very many sections: each job once looked at all that stand before it, which took
// minutes.
func TestManySections(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const limit = time.Minute // it takes 2 s here; what was quadratic took 80 s
	text := "[global]\nioengine=libaio\n" + strings.Repeat("[a]\nrw=read\n", 300_000)
	start := time.Now()
	Judge(&Case{Scripts: []*script.File{script.Parse("x.fio", []byte(text), script.Options{})}})
	if took := time.Since(start); took > limit {
		t.Errorf("300,000 sections took %s", took)
	}
}
