package permit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A device is written to only when it was named with its own serial, and neither it nor a part of it
// is in use. The node is a regular file here: what decides is the tree and the consent.
func TestDevicesThatMayBeWritten(t *testing.T) {
	node, other := filepath.Join(t.TempDir(), "node"), filepath.Join(t.TempDir(), "other")
	write(t, node, "")
	write(t, other, "")
	info, err := os.Stat(node)
	if err != nil {
		t.Fatal(err)
	}
	disk := func(serial, backing string) *block.Device {
		return &block.Device{Name: "sdx", Serial: serial, Backing: backing, Partitions: []string{"sdx1", "sdx2"}}
	}
	free := &block.Tree{Devices: map[string]*block.Device{"sdx": {Name: "sdx"}, "sdx1": {Name: "sdx1"}}}
	with := func(change func(*block.Tree)) *block.Tree {
		tree := &block.Tree{Devices: map[string]*block.Device{"sdx": {Name: "sdx"}, "sdx1": {Name: "sdx1"}, "sdx2": {Name: "sdx2"}, "sdy": {Name: "sdy"}}}
		change(tree)
		return tree
	}
	for name, c := range map[string]struct {
		tree    *block.Tree
		d       *block.Device
		destroy map[string]string
		want    string
	}{
		"its serial":             {free, disk("S1", ""), map[string]string{node: "S1"}, ""},
		"a loop device's file":   {free, disk("", "/x.img"), map[string]string{node: "/x.img"}, ""},
		"another serial":         {free, disk("S1", ""), map[string]string{node: "S2"}, `has serial "S1", not "S2"`},
		"no serial named":        {free, disk("S1", ""), map[string]string{node: ""}, `has serial "S1", not ""`},
		"none there, none named": {free, disk("", ""), map[string]string{node: ""}, `has serial "", not ""`},
		"not named":              {free, disk("S1", ""), nil, "add --destroy " + node + " --serial S1"},
		"another is named":       {free, disk("S1", ""), map[string]string{other: "S1"}, "add --destroy"},
		"one that is gone":       {free, disk("S1", ""), map[string]string{node + "x": "S1"}, "add --destroy"},
		"held":                   {with(func(t *block.Tree) { t.Devices["sdx"].Holders = []string{"md0", "dm-1"} }), disk("S1", ""), map[string]string{node: "S1"}, "/dev/dm-1 is made of"},
		"a partition is held":    {with(func(t *block.Tree) { t.Devices["sdx1"].Holders = []string{"md0"} }), disk("S1", ""), map[string]string{node: "S1"}, "/dev/md0 is made of"},
		"mounted": {with(func(t *block.Tree) {
			t.Mounts = []block.Mount{{Device: "sdy", Point: "/y"}, {Device: "sdx", Point: "/x"}}
		}), disk("S1", ""), map[string]string{node: "S1"}, "is mounted on /x"},
		"a partition is mounted":  {with(func(t *block.Tree) { t.Mounts = []block.Mount{{Device: "sdx2", Point: "/x"}} }), disk("S1", ""), map[string]string{node: "S1"}, "is mounted on /x"},
		"a partition is swap":     {with(func(t *block.Tree) { t.Swaps = []string{"sdx2"} }), disk("S1", ""), map[string]string{node: "S1"}, "is used as swap"},
		"another's are":           {with(func(t *block.Tree) { t.Devices["sdy"].Holders, t.Swaps = []string{"md0"}, []string{"sdy"} }), disk("S1", ""), map[string]string{node: "S1"}, ""},
		"a partition not in tree": {&block.Tree{Devices: map[string]*block.Device{"sdx": {Name: "sdx"}, "sdx2": {Name: "sdx2", Holders: []string{"md0"}}}}, disk("S1", ""), map[string]string{node: "S1"}, "/dev/md0 is made of"},
	} {
		p := &Place{tree: c.tree, consent: Consent{Destroy: c.destroy}}
		err := p.checkWrites(node, node, c.d, info)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if identity(disk("S", "/x")) != "S" {
		t.Error("a serial comes before the file behind a device")
	}
	if err := unclaimed(node+"-gone", node+"-gone"); err == nil {
		t.Error("nothing was opened")
	}
}

func effective(t *testing.T, options string) fio.Section {
	t.Helper()
	file := job(t, "[x]\n"+options+"\n").Job
	return file.Effective(0)
}

// What is opened, and up to where: size by the files of a job, the offset, and the increments of all
// jobs but the first.
func TestWhatAJobOpens(t *testing.T) {
	const k = units.KiB
	for _, c := range []struct {
		options string
		want    string // path:need
		writes  bool
	}{
		{"rw=read\nfilename=/d/f\nsize=64k", "/d/f:65536", false},
		{"rw=write\nfilename=/d/f\nsize=64k\noffset=16k", "/d/f:81920", true},
		{"rw=write\nfilename=/d/f\nsize=64k\noffset=16k\noffset_increment=64k\nnumjobs=3", "/d/f:212992", true}, // 64 + 16 + 2 × 64
		{"rw=write\nfilename=/d/f\noffset=16k", "/d/f:0", true},
		{"rw=randread\nfilename=/d/f:/d/g\nsize=64k", "/d/f:32768 /d/g:32768", false},
		{"rw=read\nfilename=/d/f:/d/g\nsize=64k\nfilesize=48k", "/d/f:49152 /d/g:49152", false},
		{"rw=read\nfilename=/d/f\nsize=50%", "/d/f:0", false},
		{"rw=read\nfilename=/d/f\nunlink=1", "/d/f:0", true},
		{"rw=read\nfilename=/d/f\nunlink=0", "/d/f:0", false},
		{"rw=read\nfilename=/d/f\nunlink_each_loop=1", "/d/f:0", true},
		{"rw=randrw\nrwmixread=100\nfilename=/d/f", "/d/f:0", true},
		{"rw=trim\nfilename=/d/f", "/d/f:0", true},
		{"rw=write\ndirectory=/no1:/no2\nfilename=f\nsize=64k", "/no1/f:65536 /no2/f:65536", true},
		{"rw=write\ndirectory=/no1\nsize=64k\nnumjobs=2\nnrfiles=2", "/no1/x.0.0:32768 /no1/x.0.1:32768 /no1/x.1.0:32768 /no1/x.1.1:32768", true},
		{"rw=write\ndirectory=/no1\nsize=64k\nfilename_format=$jobname-$filenum", "/no1/x-0:65536", true},
		{"ioengine=null\nfilename=/d/f\nsize=1t", "/d/f:0", false},
	} {
		list, err := accessesOf(effective(t, c.options))
		if err != nil {
			t.Errorf("%q: %v", c.options, err)
			continue
		}
		var got []string
		for _, a := range list {
			got = append(got, fmt.Sprintf("%s:%d", a.path, a.need))
			if a.writes != c.writes {
				t.Errorf("%q: writes %v", c.options, a.writes)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %s, want %s", c.options, got, c.want)
		}
	}
	for options, want := range map[string]string{
		"rw=write\ndirectory=/d\nfilename=/etc/x":                      "must be below directory=/d",
		"rw=write\ndirectory=/d\nfilename=../x":                        "must be below directory=/d",
		"rw=write\ndirectory=/d\nfilename=a/../../x":                   "must be below directory=/d",
		"rw=write\nfilename=x:/d/y":                                    "names both x and absolute paths",
		"rw=write\ndirectory=/d\nfilename_format=../x":                 "fio would make a file named",
		"rw=write\ndirectory=/d\nfilename_format=/etc/x":               "fio would make a file named",
		"rw=write\ndirectory=/d\nfilename_format=.$clientuid./x":       "fio would make a file named \".$clientuid./x\" below",
		"rw=write\ndirectory=/d\nfilename_format=.$jobnum.$":           "fio would make a file named",
		"rw=write\ndirectory=/d\nnrfiles=10001":                        "nrfiles=10001: want a number up to 10000",
		"rw=write\ndirectory=/d\nnrfiles=5001\nnumjobs=2":              "2 jobs of 5001 files each are more than plimsoll handles",
		"rw=write\ndirectory=/d\nnrfiles=-1":                           "nrfiles=-1",
		"rw=randrw\nrwmixread=100:50\nfilename=/d/x":                   "100:50: want one number",
		"rw=randrw\nrwmixwrite=0,50\nfilename=/d/x":                    "0,50: want one number",
		"rw=write\nfilename=/d/x\nsize=101%":                           "size=101%: want a size, or a share up to 100%",
		"rw=read\nfilename=/d/x\nfilesize=50%,0xff%":                   "want a size",
		"rw=read\nfilename=/d/x\noffset=1g/":                           "offset=1g/: want a size",
		"rw=read\nfilename=/d/x\nverify_async=4k\nnumjobs=2":           "8,192 threads: want at most 4,096",
		"rw=read\nfilename=/d/x\nio_submit_mode=offload\niodepth=5000": "5,000 threads",
		"rw=read\nfilename=/d/x\nsteadystate_duration=86401":           "steadystate_duration=86401: want at most a day",
		"rw=write\nfilename=/d/x\niodepth=1048577":                     "at most 1,048,576 I/Os in flight in all",
		"rw=write\nfilename=/d/x\niodepth=1m\nnumjobs=2":               "iodepth=1m of 2 jobs: want at most",
	} {
		if _, err := accessesOf(effective(t, options)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", options, err, want)
		}
	}
	for _, fits := range []string{
		"nrfiles=10000\niodepth=1m\nbs=2k", "nrfiles=5000\nnumjobs=2\niodepth=512k\nbs=2k",
		"nrfiles=10000\niodepth=1k\nbs=2m", "nrfiles=0",
		"nrfiles=10000\nsteadystate_duration=24h", "nrfiles=10000\nsize=100%",
	} {
		list, err := accessesOf(effective(t, "rw=write\ndirectory=/no\n"+fits))
		if n := map[string]int{"nrfiles=0": 1}[fits]; err != nil || n == 1 && len(list) != 1 || n == 0 && len(list) != 10000 {
			t.Errorf("%s: %d, %v", fits, len(list), err)
		}
	}
	for name, want := range map[string]bool{"/x": true, "..": true, "a/..": true, "a..b": false, "a/b": false, "...": false} {
		if leaves(name) != want {
			t.Errorf("%s leaves: %v", name, !want)
		}
	}
	for value, want := range map[string]units.Bytes{
		"2k": 2 * k, "2k,": 2 * k, "1k:2k": 2 * k, "2k,1k": 2 * k, "1k-2k": 2 * k, "50%": 0, "x": 0, "x,2k": 2 * k,
	} {
		if got := sizeOf(section(fio.Option{Name: "size", Value: value}), "size"); got != want {
			t.Errorf("size=%s: %d, want %d", value, got, want)
		}
	}
}

// The memory in which fio notes what its random jobs have done is bounded for all of them.
func TestRandomMaps(t *testing.T) {
	const half = "[x]\nsize=16t\nbs=2k\n"
	for text, ok := range map[string]bool{
		"[x]\nsize=16t\nbs=1k\n": true, "[x]\nsize=16t\nbs=512\n": false, "[x]\nsize=16t\nbs=64k,512\n": false,
		"[x]\nfilesize=64g\nnrfiles=100\nbs=1k\nnumjobs=4\n": false, "[x]\nsize=99t\nbs=512\nnorandommap=1\n": true,
		"[x]\nsize=99t\nbs=512\nnorandommap\n": true, "[x]\nsize=99t\nbs=512\nnorandommap=00\n": false,
		"[x]\nsize=99t\nbs=512\nrandom_generator=lfsr\n": true, half + half: true, half + half + half: false,
		"[x]\nsize=99t\nbs=512\nrw=read\n": true, "[x]\nsize=99g\nbs=4k\nrw=write\ndedupe_mode=repeat\n": true,
		"[x]\nsize=8192p\nbs=512\nnumjobs=2048\n": false, half + "[x]\nsize=8192p\nbs=512\n": false,
		"[x]\nsize=170g\nbs=4k\nrw=write\ndedupe_mode=working_set\n": true, "[x]\nsize=180g\nbs=4k\nrw=write\ndedupe_mode=working_set\n": false, "[x]\nsize=16t\nbssplit=512/1:64k/99\n": false,
	} {
		err := placeOn(t, t.TempDir(), Consent{}).Check(job(t, "[global]\nioengine=null\nrw=randread\n"+text))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "add norandommap=1") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// What fio takes for the buffers of I/Os is bounded for all sections that run together.
func TestBuffers(t *testing.T) {
	check := func(text string) error {
		return placeOn(t, t.TempDir(), Consent{}).Check(job(t, "[global]\nioengine=null\nnorandommap=1\nrw=randread\n"+text))
	}
	for text, ok := range map[string]bool{
		"[x]\nnumjobs=2048\n": true, "[x]\nnumjobs=2049\n": false, "[x]\nnumjobs=1k\n[y]\nnumjobs=1025\n": false,
		"[x]\nnumjobs=2k\n[y]\nstonewall\nnumjobs=2k\n": true,
	} {
		if err := check(text); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "more than 2,048 jobs together") {
			t.Errorf("%q: %v", text, err)
		}
	}
	const most = "[x]\niodepth=1k\nbs=2m\n"
	for text, ok := range map[string]bool{
		most: true, "[x]\niodepth=1k\nbs=1m,2m\nrw=read\n": true, "[x]\niodepth=1025\nbs=2m\n": false,
		"[x]\nnumjobs=2\nbs=1g\n": true, "[x]\nnumjobs=3\nbs=1g\n": false, "[x]\niodepth=1m\nbs=2k\n": true,
		"[x]\niodepth=2k\nbssplit=4k/99:2m/1\n": false, "[x]\niodepth=2k\nbsrange=4k-2m\n": false,
		// of a direction that does not run
		"[x]\nrw=write\niodepth=64\nbs=64m,4k\n": false, "[x]\nrw=read\niodepth=64\nbs=4k,4k,64m\n": false,
		"[x]\nrw=read\niodepth=64\nbssplit=4k/100,4k/100,64m/50:4k/50\n": false, "[x]\nrw=read\niodepth=64\nbsrange=4k-8k,4k-64m\n": false,
		"[x]\nrw=read\niodepth=32\nbs=4k,64m\n": true, "[x]\niodepth=64\nbssplit=64m/100\nbs=4k\n": false,
		"[x]\niodepth=64\nbssplit=4k/100:64m/0\n": false,
		// of a synchronous engine
		"[x]\nioengine=psync\niodepth=1025\nbs=2m\nfilename=f\nsize=4k\n": false,
		// of several sections
		most + most: false, most + "[y]\nstonewall\niodepth=1k\nbs=2m\n": true, most + "[y]\nstonewall=0\niodepth=1k\nbs=2m\n": false,
		most + "[y]\nbs=512\n": false, "[x]\nbs=1g\n[y]\nbs=1g\n": true, "[x]\nbs=1g\n[y]\nbs=1g\n[z]\nbs=4k\n": false,
		"[x]\nbs=1g\n[y]\nbs=1g\n[z]\nstonewall\nbs=4k\n[w]\niodepth=2k\nbs=1m\n": false,
	} {
		err := check(text)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "more than 2 GiB for the buffers of the I/Os that run together") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each name is looked at: those of all sections are bounded together.
func TestFilesOfAllSections(t *testing.T) {
	for sections, ok := range map[int]bool{5: true, 6: false} {
		text := "[global]\nioengine=psync\nrw=write\nbs=4k\nsize=4k\nnrfiles=10000\n"
		for i := range sections {
			text += fmt.Sprintf("[a%d]\n", i)
		}
		err := placeOn(t, t.TempDir(), Consent{}).Check(job(t, text))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "the sections name more than 50,000 files") {
			t.Errorf("%d sections: %v", sections, err)
		}
	}
}

// A file that is only read must hold all that the job reads, its offset too.
func TestReadsBeyondAFile(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "f"), strings.Repeat("x", 4096))
	for options, ok := range map[string]bool{
		"size=4096": true, "size=4097": false, "size=2048\noffset=2048": true, "size=2048\noffset=2049": false, "size=1024\noffset_increment=1024\nnumjobs=4": true,
		"size=1024\noffset_increment=1024\nnumjobs=5": false,
	} {
		p := placeOn(t, data, Consent{})
		err := p.Check(job(t, "[x]\nrw=read\nbs=512\nfilename="+data+"/f\n"+options+"\n"))
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "would rewrite it") {
			t.Errorf("%q: %v", options, err)
		}
	}
	// One file of a section is there, the other is not.
	p := placeOn(t, data, Consent{})
	if err := p.Check(job(t, "[x]\nrw=read\nfilename="+data+"/f:"+data+"/g\n")); err == nil || !strings.Contains(err.Error(), "other files of the job do not") {
		t.Error(err)
	}
	write(t, filepath.Join(data, "g"), strings.Repeat("x", 4096))
	if err := placeOn(t, data, Consent{}).Check(job(t, "[x]\nrw=read\nfilename="+data+"/f:"+data+"/g\n")); err != nil {
		t.Error(err)
	}
}

// Of the free space nine tenths may be filled; fresh extents come on top; hosts and places add up.
func TestShareOfTheFreeSpace(t *testing.T) {
	path := t.TempDir()
	p := placeOn(t, path, Consent{})
	bytes, _, err := p.dir.Free()
	if err != nil {
		t.Fatal(err)
	}
	free := float64(bytes)
	for _, c := range []struct {
		shares []float64
		fresh  bool
		hosts  int
		ok     bool
	}{
		{[]float64{0.85}, false, 0, true},
		{[]float64{0.95}, false, 0, false}, // less than is free, more than plimsoll uses
		{[]float64{0.5}, true, 0, false},
		{[]float64{0.4}, true, 0, true},
		{[]float64{0.5, 0.5}, false, 0, false},
		{[]float64{0.4, 0.4}, false, 0, true},
		{[]float64{0.4}, false, 2, true},
		{[]float64{0.4}, false, 3, false},
	} {
		var places []*Place
		for _, share := range c.shares {
			p := placeOn(t, path, Consent{Hosts: c.hosts})
			p.Size = units.Bytes(share * free)
			places = append(places, p)
		}
		err := CheckSpace(places, c.fresh)
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "but plimsoll uses only 90 % of that: choose a smaller --size") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	p.Size, p.made = 0, map[string]units.Bytes{"a": units.Bytes(0.5 * free), "b": units.Bytes(0.45 * free)}
	if err := CheckSpace([]*Place{p}, false); err == nil || !strings.Contains(err.Error(), "choose smaller sizes in the job file") {
		t.Error(err)
	}
	p.Device = &block.Device{}
	if err := CheckSpace([]*Place{p}, true); err != nil || p.needed(true) != 0 {
		t.Error(err)
	}
	n := placeOn(t, path, Consent{})
	n.Files, n.made = Files{Size: 100, Jobs: 3, JobSize: 10}, map[string]units.Bytes{"a": 7, "b": 5}
	if n.needed(false) != 142 || n.needed(true) != 272 {
		t.Errorf("%d and %d", n.needed(false), n.needed(true))
	}
}

// Files that are missing take their size, fresh extents take it once more, also beside files that an
// earlier run kept.
func TestSpaceBesideKeptFiles(t *testing.T) {
	for _, c := range []struct {
		kept, fresh bool
		want        units.Bytes
	}{
		{false, false, 1024}, {false, true, 2048}, {true, false, 0}, {true, true, 1024},
	} {
		p := placeOn(t, t.TempDir(), Consent{})
		p.Files = Files{Size: 1024}
		release, err := p.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.kept {
			write(t, p.File(), strings.Repeat("x", 1024))
			if err := p.Keep(); err != nil || !p.Prefilled() {
				t.Fatal(err)
			}
		}
		if got := p.needed(c.fresh); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
		release()
	}
}

// The files of scenarios: the largest shared one, as many of their own as the most jobs have.
func TestFilesOfScenarios(t *testing.T) {
	scenario := func(files suite.FileUse, size units.Bytes, jobs int) suite.Scenario {
		s := job(t, fmt.Sprintf("[x]\nrw=write\nbs=512\nnumjobs=%d\n", jobs))
		s.AsIs, s.Files, s.Size = false, files, size
		return s
	}
	asIs := scenario("", 1<<40, 1)
	asIs.AsIs = true
	got := FilesOf(scenario("", 1000, 4), scenario("", 3000, 1), scenario(suite.FilePerJob, 500, 2),
		scenario(suite.FilePerJob, 200, 3), asIs)
	if want := (Files{Size: 3000, Jobs: 3, JobSize: 500}); got != want || got.Total() != 4500 {
		t.Errorf("%+v %d", got, got.Total())
	}
	if got := FilesOf(scenario("", 1000, 1), scenario(suite.RegionPerJob, 400, 3)); got.Size != 1200 {
		t.Errorf("%+v", got)
	}
	have := Files{Size: 10, Jobs: 3, JobSize: 5}
	for want, ok := range map[Files]bool{
		have: true, {Size: 11}: false, {Size: 10}: true, {Jobs: 4, JobSize: 1}: false, {Jobs: 3, JobSize: 6}: false, {Jobs: 2, JobSize: 5}: true, {JobSize: 9}: true,
	} {
		if have.holds(want) != ok {
			t.Errorf("%+v: %v", want, !ok)
		}
	}
	list := prefills(Files{Size: 3000, Jobs: 3, JobSize: 500}, "/s/f", "/n:f", "/s/d", "/n:d")
	if len(list) != 2 || list[0].Size != 3000 || list[0].Files != 0 || list[0].Shown != "/s/f" || list[1].Size != 1500 || list[1].Files != 3 || list[1].Shown != "/s/d" {
		t.Fatalf("%+v", list)
	}
	for i, want := range []map[string]string{
		{"filename": `/n\:f`, "size": "3000", "rw": "write", "direct": "1", "end_fsync": "1"}, {"directory": `/n\:d`, "size": "1500", "nrfiles": "3", "openfiles": "1"},
	} {
		for name, value := range want {
			if v, _ := list[i].Job.Sections[0].Get(name); v != value {
				t.Errorf("%d: %s=%s, want %s", i, name, v, value)
			}
		}
	}
	if list := prefills(Files{Size: 1}, "", "", "", ""); len(list) != 1 {
		t.Errorf("%+v", list)
	}
	if list := prefills(Files{Jobs: 1, JobSize: 1}, "", "", "", ""); len(list) != 1 || list[0].Files != 1 {
		t.Errorf("%+v", list)
	}
	dir := t.TempDir()
	byHand, mkdirs := PrefillsByHand(dir, scenario("", 1000, 4), scenario(suite.FilePerJob, 500, 2))
	if len(byHand) != 2 || !slices.Equal(mkdirs, []string{dir + "/.plimsoll", dir + "/.plimsoll/data-files"}) || byHand[0].Shown != dir+"/.plimsoll/data.dat" {
		t.Errorf("%+v %q", byHand, mkdirs)
	}
	if byHand, mkdirs := PrefillsByHand(dir, asIs); byHand != nil || mkdirs != nil {
		t.Errorf("%+v %q", byHand, mkdirs)
	}
}

// Clean removes what runs make, by their names, counts it, and leaves all else.
func TestCleanByNames(t *testing.T) {
	top := t.TempDir()
	deep := mkdir(t, filepath.Join(top, "deep"))
	for _, dir := range []string{top, deep} {
		folder := mkdir(t, filepath.Join(dir, folderName))
		write(t, filepath.Join(folder, "data.dat"), strings.Repeat("x", 1000))
		write(t, filepath.Join(mkdir(t, filepath.Join(folder, "wal-files")), "job.0"), strings.Repeat("x", 200))
		write(t, filepath.Join(mkdir(t, filepath.Join(folder, sharePrefix+"h")), "y"), "12345")
		write(t, filepath.Join(folder, markPrefix+strings.Repeat("0f", 16)), "ab")
		if dir == deep {
			write(t, filepath.Join(folder, "mine"), "precious")
		}
	}
	look := func(dry bool) map[string]Leftover {
		t.Helper()
		all := map[string]Leftover{}
		if err := Clean(top, dry, func(l Leftover) { all[l.Folder] = l }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, dry := range []bool{true, false} {
		for folder, l := range look(dry) {
			if !slices.Equal(l.Files, []string{"data.dat", sharePrefix + "h", "wal-files"}) || l.Size != 1207 || l.InUse || l.Server != 0 {
				t.Errorf("dry %v, %s: %+v", dry, folder, l)
			}
			if (len(l.Others) == 1) != (folder == filepath.Join(deep, folderName)) {
				t.Errorf("%s: others %q", folder, l.Others)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(top, folderName)); err == nil {
		t.Error("the empty folder is still there")
	}
	if text, err := os.ReadFile(filepath.Join(deep, folderName, "mine")); err != nil || string(text) != "precious" {
		t.Errorf("%q %v", text, err)
	}
	if left := look(false)[filepath.Join(deep, folderName)]; len(left.Files) != 0 || left.Size != 0 {
		t.Errorf("%+v", left)
	}
	for path, want := range map[string]string{filepath.Join(top, "no"): "does not exist", filepath.Join(deep, folderName, "mine"): "is not a directory"} {
		if err := Clean(path, true, func(Leftover) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A file that was to take the place of another, and that a kill left, is found in any directory, and counted; one of a
// process that lives is not.
func TestCleanFindsCutWrites(t *testing.T) {
	top := t.TempDir()
	deep := mkdir(t, filepath.Join(top, "deep"))
	st, ok := infoOf(t, "/proc/self/ns/pid").Sys().(*syscall.Stat_t)
	start, known := sys.StartOf(os.Getpid())
	if !ok || !known {
		t.Fatal("what this process is")
	}
	name := func(start uint64) string {
		return fmt.Sprintf(".plimsoll-write-%s-%s-%s-123", strconv.FormatUint(st.Ino, 36), strconv.FormatInt(int64(os.Getpid()), 36), strconv.FormatUint(start, 36))
	}
	write(t, filepath.Join(deep, name(0)), "12345")
	write(t, filepath.Join(deep, name(start)), "123")
	write(t, filepath.Join(deep, "mine"), "1")
	for _, dry := range []bool{true, false} {
		var found []Leftover
		if err := Clean(top, dry, func(l Leftover) { found = append(found, l) }); err != nil {
			t.Fatal(err)
		}
		if len(found) != 1 || found[0].Folder != deep || !slices.Equal(found[0].Files, []string{name(0)}) || found[0].Size != 5 {
			t.Errorf("dry %v: %+v", dry, found)
		}
	}
	left, err := os.ReadDir(deep)
	if err != nil || len(left) != 2 {
		t.Errorf("left %v %v", left, err)
	}
}

// A mark is a name of 32 hexadecimal digits behind run-; it differs by ID and by the record's place.
func TestMarks(t *testing.T) {
	a, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one := Mark("id", a)
	if !isMark(one) || one != Mark("id", a) || one == Mark("id2", a) || one == Mark("id", b) {
		t.Error(one)
	}
	for name, want := range map[string]bool{
		"run-" + strings.Repeat("0", 32): true, "run-" + strings.Repeat("0", 30): false, "run-" + strings.Repeat("g", 32): false, strings.Repeat("0", 32): false,
	} {
		if isMark(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	p := placeOn(t, t.TempDir(), Consent{})
	if err := p.CheckMark(one); err == nil || !strings.Contains(err.Error(), "has no mark of that run") {
		t.Error(err)
	}
	release, err := p.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := p.PutMark(one); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckMark(one); err != nil {
		t.Error(err)
	}
	if err := p.CheckMark(Mark("id2", a)); err == nil {
		t.Error("another run's mark counts")
	}
	if err := os.Link(filepath.Join(p.Path, folderName, one), filepath.Join(p.Path, folderName, "second")); err != nil {
		t.Fatal(err)
	}
	if err := p.CheckMark(one); err == nil {
		t.Error("a mark with two names counts")
	}
	if err := p.DropMark(one); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(p.Path, folderName, one)); err == nil {
		t.Error("the mark is still there")
	}
	reads := placeOn(t, t.TempDir(), Consent{})
	reads.Files = Files{}
	if err := reads.CheckMark(one); err != nil {
		t.Error(err)
	}
	if reads.made["x"] = 1; !reads.writes() || reads.CheckMark(one) == nil {
		t.Error("what a job makes needs a mark")
	}
}

// Where a suite's own files lie: the directory that all are in.
func TestPathOfASuite(t *testing.T) {
	base := t.TempDir()
	a, b := mkdir(t, filepath.Join(base, "a")), mkdir(t, filepath.Join(base, "b"))
	of := func(options ...string) *suite.Suite {
		s := &suite.Suite{}
		for _, o := range options {
			s.Scenarios = append(s.Scenarios, job(t, "[x]\nrw=write\nsize=4k\n"+o+"\n"))
		}
		return s
	}
	for _, c := range []struct {
		s    *suite.Suite
		want string
	}{
		{of("filename=" + a + "/f"), a},
		{of("filename="+a+"/f", "filename="+a+"/g"), a},
		{of("filename="+a+"/f", "filename="+b+"/g"), base},
		{of("filename="+a+"/f", "filename="+base+"/g"), base},
		{of("directory=" + a), a},
		{of(""), ""},
	} {
		if got, err := PathOf(c.s); got != c.want || err != nil {
			t.Errorf("%s %v, want %s", got, err, c.want)
		}
	}
	mixed := of("filename=" + a + "/f")
	mixed.Scenarios = append(mixed.Scenarios, suite.Scenario{})
	if got, err := PathOf(mixed); got != "" || err != nil {
		t.Errorf("%s %v", got, err)
	}
	if _, err := PathOf(of("filename=" + base + "/no/deep/f")); err == nil || !strings.Contains(err.Error(), "does not exist: make the directory") {
		t.Error(err)
	}
	if _, err := PathOf(of("filename="+a+"/f", "filename=/proc/x")); err == nil || !strings.Contains(err.Error(), "are not on one filesystem") {
		t.Error(err)
	}
	for path, want := range map[string]string{a + "\x01": "control character", a + "#": "would read", base + "/no": "does not exist", "/dev/null": "neither a directory nor a block device"} {
		if err := CheckPaths(map[topology.Role]string{topology.Data: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if err := CheckPaths(map[topology.Role]string{topology.WAL: a}); err != nil {
		t.Error(err)
	}
}

// The names of a place, and which belong to plimsoll.
func TestNamesOfAPlace(t *testing.T) {
	p := placeOn(t, t.TempDir(), Consent{})
	own := p.Path + "/" + folderName + "/"
	for path, want := range map[string]bool{
		own + "data.dat": true, own + "data-fresh.dat": true, own + "data-files/job.0": true, own + "data-fresh-files/job.1": true, own + "data-job/x": true,
		own + "wal.dat": false, own + "data-job/../x": false, own + "data-jobs/x": false, p.Path + "/data.dat": false,
	} {
		if p.own(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	raw := &Place{Role: topology.Data, Path: "/dev/sdx", Device: &block.Device{}}
	if raw.own("/dev/sdx") || raw.File() != "/dev/sdx" || raw.inJobDir("/dev/sdx/.plimsoll/data-job/x") {
		t.Error("a device holds no folder")
	}
	for files, want := range map[suite.FileUse]string{"": own + "data.dat", suite.FilePerJob: own + "data-files", suite.RegionPerJob: own + "data.dat"} {
		if got := p.FileFor(suite.Scenario{Files: files}); got != want {
			t.Errorf("%s: %s", files, got)
		}
	}
	if got := p.FileFor(suite.Scenario{AsIs: true, Files: suite.FilePerJob}); got != own+"data-job" {
		t.Error(got)
	}
	p.uses(own+"data.dat", 9)
	p.uses(own+"data-job/x", 5)
	p.uses(p.Path+"/f", 7)
	p.uses(p.Path+"/f", 3)
	if len(p.made) != 2 || p.made[p.Path+"/f"] != 7 || !slices.Equal(p.Made(), []string{p.Path + "/f"}) {
		t.Errorf("%v", p.made)
	}
	if got := PlainName("aZ09-_. /\n%é"); got != "aZ09-_.-----" {
		t.Error(got)
	}
}

// A device is another one where one fact that is known of both tells so.
func TestSameDevice(t *testing.T) {
	at := func(change func(*block.Device)) *block.Device {
		d := &block.Device{Name: "nvme1n1", Size: 64 << 20}
		if change != nil {
			change(d)
		}
		return d
	}
	for name, c := range map[string]struct {
		began, now *block.Device
		want       string
	}{
		"serial":  {at(func(d *block.Device) { d.Serial = "A" }), at(func(d *block.Device) { d.Serial = "B" }), `its serial is "B" and was "A"`},
		"WWN":     {at(func(d *block.Device) { d.WWN = "A" }), at(func(d *block.Device) { d.WWN = "B" }), `its WWN is "B" and was "A"`},
		"backing": {at(func(d *block.Device) { d.Backing = "/a" }), at(func(d *block.Device) { d.Backing = "/b" }), `its backing file is "/b" and was "/a"`},
		"mapper":  {at(func(d *block.Device) { d.DM = "LVM-A" }), at(func(d *block.Device) { d.DM = "LVM-B" }), `its device-mapper UUID is "LVM-B" and was "LVM-A"`},
		"array": {
			at(func(d *block.Device) { d.MD = &block.Raid{UUID: "A"} }), at(func(d *block.Device) { d.MD = &block.Raid{UUID: "B"} }),
			`its array UUID is "B" and was "A"`,
		},
		"size":  {at(nil), at(func(d *block.Device) { d.Size = 96 << 20 }), `its size is "96MiB" and was "64MiB"`},
		"start": {at(func(d *block.Device) { d.Start = 1 << 20 }), at(func(d *block.Device) { d.Start = 2 << 20 }), `its start on its disk is "2MiB" and was "1MiB"`},

		"the same":           {at(func(d *block.Device) { d.Serial = "A" }), at(func(d *block.Device) { d.Serial = "A" }), ""},
		"another name":       {at(nil), at(func(d *block.Device) { d.Name = "nvme2n1" }), ""},
		"serial known once":  {at(func(d *block.Device) { d.Serial = "A" }), at(nil), ""},
		"array known once":   {at(func(d *block.Device) { d.MD = &block.Raid{UUID: "A"} }), at(nil), ""},
		"backing known once": {at(nil), at(func(d *block.Device) { d.Backing = "/b" }), ""},
		"not recorded":       {nil, at(nil), ""},
		"no device":          {at(nil), nil, ""},
	} {
		p := &Place{Path: "/dev/nvme1n1", Device: c.now}
		err := p.CheckSame(c.began)
		if c.want == "" && err != nil || c.want != "" && !says(err, "/dev/nvme1n1 is not the device that the run started on: "+c.want+": start a new run") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
