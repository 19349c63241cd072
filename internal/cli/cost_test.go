package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// costEnv names a file into which plimsoll, started by a test of this package, writes what it has
// allocated and the most that it had in memory.
const costEnv = "PLIMSOLL_TEST_COST"

// noteCost is called as plimsoll ends.
func noteCost() {
	name := os.Getenv(costEnv)
	if name == "" {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	if err == nil && found {
		err = os.WriteFile(name, fmt.Appendf(nil, "%d %s", m.TotalAlloc, strings.Fields(rest)[0]), 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// costLimit is after how many seconds of CPU time the kernel kills a plimsoll whose cost is noted.
const costLimit = 60

// limitCost is called as plimsoll begins.
func limitCost() {
	if os.Getenv(costEnv) == "" {
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: costLimit, Max: costLimit}); err != nil {
		panic(err)
	}
}

// cost is what one start of plimsoll took.
type cost struct {
	cpu       time.Duration
	allocated int // bytes, of which nothing depends on the machine
	peak      int // bytes in memory at once (VmHWM), its program included
	code      int
}

// costOf starts plimsoll in a directory.
func costOf(t *testing.T, dir string, args ...string) cost {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cost")
	cmd := exec.CommandContext(t.Context(), "plimsoll", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), costEnv+"="+name)
	var said bytes.Buffer
	cmd.Stderr = &said
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if failed != nil && failed.ExitCode() < 0 { // killed by the kernel
		data, err = []byte("0 0"), nil
	}
	if err != nil {
		t.Fatalf("plimsoll %q: %v\n%.2000s", args, err, said.String())
	}
	var c cost
	var peakKiB int
	if _, err := fmt.Sscan(string(data), &c.allocated, &peakKiB); err != nil {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage")
	}
	c.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	c.peak, c.code = peakKiB<<10, cmd.ProcessState.ExitCode()
	return c
}

// front is a way in which text comes to plimsoll: a command, whose last word is the file's name.
type front struct {
	args  []string
	file  string
	texts map[string]func(n int) string // of about n bytes each
}

// again repeats a piece.
func again(piece string) func(int) string {
	return func(n int) string { return strings.Repeat(piece, n/len(piece)+1) }
}

// between repeats a piece between two others.
func between(head, piece, tail string) func(int) string {
	return func(n int) string { return head + strings.Repeat(piece, n/len(piece)+1) + tail }
}

// counted repeats a piece with numbers in it, so that each name is another.
func counted(head, piece, tail string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.ReplaceAll(piece, "%d", strconv.Itoa(i)))
		}
		b.WriteString(tail)
		return b.String()
	}
}

// stairs repeats a piece behind more and more blanks, or whatever steps is.
func stairs(step, piece string) func(int) string {
	return func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(step, i))
			b.WriteString(piece)
		}
		return b.String()
	}
}

const (
	costText3 = "j%d: (groupid=0, jobs=1): err= 0: pid=7: Sat Jan  7 17:35:50 2023\n" +
		"  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n" +
		"    clat (usec): min=500, max=9000, avg=999.00, stdev=100.00\n" +
		"     issued rwts: total=30000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	costText2 = "j%d: (groupid=0, jobs=1): err= 0: pid=8: Thu Dec 24 17:49:27 2015\n" +
		"  write: io=4096.0KB, bw=512KB/s, iops=128, runt=  8000msec\n" +
		"    clat (usec): min=1, max=999, avg=10.00, stdev= 1.00\n"
	costDisk = "\nDisk stats (read/write):\n  sdb%d: ios=29800/0, merge=0/0, ticks=15273/1, in_queue=15274, util=98.73%\n"
	costRow  = `{"jobname":"a%d","groupid":0,"read":{"io_bytes":4096,"iops":1,"runtime":1000,"total_ios":1}}`
)

// fronts are the ways in, each with texts that make work for whoever reads them.
func fronts() []front {
	documents := map[string]func(int) string{
		"fio commands":         again("fio --name=a --iodepth=32\n"),
		"fio commands, unlike": counted("", "fio --name=a%d --zzz%d=1 --bs=4k\n", ""),
		"fenced commands":      between("```\n", "fio --name=a --rw=read --bs=4k --iodepth=32\n", "```\n"),
		"fences":               again("```\n"),
		"fenced jobs":          again("```\n[a]\nrw=read\n```\n"),
		"indented":             again("    fio --name=a\n\n"),
		"code spans":           again("`fio --name=a --bs=4k` "), "code spans in lines": again("`fio -name=a -bs=4k`\n"),
		"here-documents": again("cat <<A\n"), "here-documents that close": again("cat <<A\n[a]\nrw=read\nA\n"),
		"open quotes":              again("fio '\n"),
		"open quotes in one line":  again("fio \" "),
		"substitutions":            again("$("),
		"back-quotes":              again("`"),
		"continued":                again("A=b \\\n"),
		"a long continued command": between("fio ", "--bs=4k \\\n", ""),
		"a long line":              between("fio ", "--bs=4k ", ""),
		"silenced":                 again("# plimsoll: disable=PL103 x\n"), "mounts": counted("", "mount /dev/a%d /b%d\n", ""),
		"arrays":              counted("", "mdadm -C /dev/md%d -l0 -n4 a\nmkfs.xfs -d su=64k,sw=8 /dev/md%d\n", ""),
		"arrays, mounted":     counted("", "mdadm -C /dev/md%d -l0 -n4 a\nmkfs.xfs /dev/md%d\nmount /dev/md%d /m%d\nmount /dev/md%d /n%d\n", ""),
		"jobs on arrays":      counted("mount /dev/md0 /a\n", "mount /dev/sd%d /b%d\nfio --name=a --directory=/b%d/c --rw=read\n", ""),
		"loops":               again("for i in 1\ndo\nfio --name=a\ndone\n"),
		"open loops":          again("for i in 1; do\n"),
		"brackets":            again("{ "),
		"ifs":                 again("if true; then\n"),
		"variables":           counted("", "A%d=$A%d\n", "fio --name=$A1\n"),
		"variables that grow": between("", "A+=\"$A x\"\n", "fio --name=a $A\n"),
		"doubled":             counted("A0=x\n", "A%d=\"$B$B\"; B=\"$A%d$A%d\"\n", "fio --name=$B\n"),
		"variables in jobs":   between("A="+strings.Repeat("x", 1000)+"\n", "fio --name=a --filename=$A$A$A$A\n", ""),
		"functions":           counted("", "f%d() { fio --direct=1 \"$@\"; }\nf%d --name=a\n", ""),
		"echoed jobs":         counted("", "echo \"[a]\" > x%d.fio\necho \"rw=read\" >> x%d.fio\n", ""),
		"echoed lines":        between("echo '[a]' > x.fio\n", "echo 'rw=read' >> x.fio\n", ""),
		"instances":           again("c6a.xlarge "),
		"prompts":             again("$ fio --name=a\n"),
		"HTML":                again("<pre>fio --name=a</pre>\n"),
		"tags":                again("<p>"),
		"templates":           again("{% if x %}\nfio --name=a\n{% endif %}\n"),
		"open templates":      again("{% if x %}\n"),
		"links":               again("[a](b)"),
		"stairs":              stairs(" ", "fio --name=a\n"),
		"Dockerfile":          again("RUN fio --name=a \\\n"), "RUN": again("RUN fio --name=a\n"),
		"semicolons":   again("fio --name=a;"),
		"pipes":        again("fio --name=a|"),
		"backslashes":  again("\\\n"),
		"zeros":        again("\x00"),
		"bytes":        again("\xff\xfe"),
		"blanks":       again(" "),
		"one word":     again("x"),
		"empty lines":  again("\n"),
		"fio, fio":     again("fio "),
		"eval":         again("eval \"fio --name=a\"\n"),
		"bash -c":      again("bash -c 'fio --name=a'\n"),
		"bash in bash": again("bash -c \"bash -c 'fio --name=a --bs=4k'\"\n"),
	}
	jobs := map[string]func(int) string{
		"sections":                   again("[a]\nrw=read\n"),
		"sections, unlike":           counted("", "[a%d]\nrw=read\nbs=4k\n", ""),
		"globals":                    again("[global]\nbs=4k\n"),
		"globals and jobs":           counted("", "[global]\nbs=4k\n[a%d]\nrw=read\n", ""),
		"options":                    between("[a]\n", "bs=4k\n", ""),
		"options, unlike":            counted("[a]\n", "zzz%d=1\n", ""),
		"one global of many options": between("[global]\n", "bs=4k\n", strings.Repeat("[a]\nrw=read\n", 100)),
		"a long value":               between("[a]\nfilename=", "x:", ""),
		"files":                      counted("[a]\nrw=read\nfilename=", "f%d:", "\n"),
		"a long name":                between("[", "x", "]\nrw=read\n"),
		"bssplit":                    between("[a]\nrw=read\nbssplit=", "4k/1:", "\n"),
		"comments":                   again("; x\n"),
		"open variables":             between("[a]\nfilename=", "${A", "\n"),
		"variables":                  between("[a]\nfilename=", "${A}", "\n"),
		"includes":                   between("[a]\n", "include x\n", ""),
		"brackets":                   again("["),
		"zeros":                      again("\x00"),
		"numjobs":                    again("[a]\nnumjobs=99999\nrw=read\n"),
		"reads":                      counted("[global]\nrw=read\n", "[a%d]\nfilename=/dev/sda\noffset=%d\nsize=1g\n", ""),
		"stonewalls":                 again("[a]\nrw=read\nstonewall\nsize=1g\n"),
		"long options":               again("[a]\n" + strings.Repeat("x", 10_000) + "=1\n"),
		"silenced":                   again("[a]\n# plimsoll: disable=PL103 x\nrw=read\n"),
		"blanks":                     again(" "),
		"equals":                     between("[a]\n", "=", "\n"),
	}
	outputs := map[string]func(int) string{
		"3.x":            counted("fio-3.33\nStarting 1 process\n\n", costText3, ""),
		"3.x, one name":  again(strings.ReplaceAll(costText3, "%d", "")),
		"2.x":            counted("fio-2.2.10\nStarting 1 process\n\n", costText2, ""),
		"3.x with disks": counted("", costText3+costDisk, ""),
		"disks":          between("fio-3.33\n"+costText3+"\nDisk stats (read/write):\n", "  sdb: ios=29800/0, merge=0/0, ticks=15273/1, in_queue=15274, util=98.73%\n", ""),
		"disks, unlike":  counted("fio-3.33\n"+costText3+"\nDisk stats (read/write):\n", "  sd%d: ios=29800/0, merge=0/0, ticks=15273/1, in_queue=15274, util=98.73%\n", ""),
		"disks alone":    counted("", costDisk, ""),
		"runs":           counted("", "fio-3.33\nStarting 1 process\n"+costText3+costDisk, ""),
		"status groups":  counted(costText3, "\nRun status group %d (all jobs):\n   READ: bw=1MiB/s (1MB/s), 1MiB/s-1MiB/s (1MB/s-1MB/s), io=1MiB (1MB), run=1-1msec\n", ""),
		"echoes":         counted("", "j%d: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32\n", costText3),
		"commands":       counted("", "$ fio --name=j%d --rw=read --bs=4k\n"+costText3, ""),
		"a long command": between("$ fio ", "--bs=4k ", "\n"+costText3),
		"a long command of many rows": func(n int) string {
			return again("x")(0) + "$ fio " + strings.Repeat("--bs=4k ", n/16) + "\n" + counted("", costText3, "")(n/2)
		},
		"a long continued command": between("$ fio ", "--bs=4k \\\n", "\n"+costText3),
		"progress":                 again("Jobs: 1 (f=1): [r(1)][10.0%][r=1MiB/s][r=1 IOPS][eta 00m:10s]\n"),
		"progress in one line":     again("Jobs: 1 (f=1): [r(1)][10.0%][r=1MiB/s][r=1 IOPS][eta 00m:10s]\r"),
		"progress without end":     again("Jobs: 1 (f=1): [r(1)][10.0%][r=1MiB/s][r=1 IOPS][eta 00m:10s]"),
		"not understood":           between(strings.ReplaceAll(costText3, "%d", ""), "    zzzz (usec): min=1\n", ""),
		"unread, long":             between(strings.ReplaceAll(costText3, "%d", ""), "zz z", ""),
		"percentiles":              between(strings.ReplaceAll(costText3, "%d", "")+"    clat percentiles (usec):\n", "     |  1.00th=[  100],  5.00th=[  200], 10.00th=[  300], 20.00th=[  400],\n", ""),
		"buckets":                  between(strings.ReplaceAll(costText3, "%d", ""), "  lat (usec)   : 500=1.00%, 750=2.00%, 1000=97.00%\n", ""),
		"nan":                      between(strings.ReplaceAll(costText3, "%d", ""), "    clat (usec): min=nan, max=nan, avg=nan, stdev=nan\n", ""),
		"commands in text":         between("", "fio --name=a --rw=read --bs=4k --iodepth=32\n", strings.ReplaceAll(costText3, "%d", "")),
		"job files in text":        between("", "[a]\nrw=read\nbs=4k\n", strings.ReplaceAll(costText3, "%d", "")),
		"job files and runs":       counted("", "[j%d]\nrw=read\nbs=4k\n\n"+costText3, ""),
		"instances and runs":       counted("", "On c6a.xlarge:\n\n"+costText3, ""),
		"instances, unlike":        counted(costText3, "On c%da.xlarge.\n", ""),
		"devices and runs":         counted("", "sdb%d is a gp3\n\n"+costText3+costDisk, ""),
		"wrapped":                  again(strings.ReplaceAll(strings.ReplaceAll(costText3, "%d", ""), ", ", ",\n")),
		"pre":                      again("<pre>"),
		"hosts":                    counted("", "<h%d> "+costText3, ""),
		"ANSI":                     again("\x1b[1mread: IOPS=1\x1b[0m"),
		"open OSC":                 again("\x1b]x"),
		"tables":                   again("| read | 4k | 100 IOPS | 1 MiB/s |\n"),
		"tables, wide":             again("| read 4k 100 IOPS "),
		"headings":                 counted("", "# Test %d\n\n"+costText3, ""),
		"braces":                   again("{ "),
		"open documents":           again("{\"fio version\" : \"fio-3.33\",\n"),
		"braces and text":          again("{\n" + strings.ReplaceAll(costText3, "%d", "")),
	}
	terse := strings.Repeat(";0", 125)
	row := "3;fio-3.33;j%d;0;0;4096;1;1;1000" + terse + ";0%\n"
	json := map[string]func(int) string{
		"jobs":          between(`{"fio version":"fio-3.33","jobs":[`, strings.ReplaceAll(costRow, "%d", "")+",", strings.ReplaceAll(costRow, "%d", "")+`]}`),
		"jobs, unlike":  counted(`{"fio version":"fio-3.33","jobs":[`, costRow+",", costRow+`]}`),
		"empty jobs":    between(`{"fio version":"fio-3.33","jobs":[`, `{},`, `{}]}`),
		"small jobs":    between(`{"fio version":"fio-3.33","jobs":[`, `{"jobname":"a"},`, `{}]}`),
		"disks":         counted(`{"fio version":"fio-3.33","jobs":[`+costRow+`],"disk_util":[`, `{"name":"sd%d","read_ios":1,"util":1},`, `{"name":"x"}]}`),
		"empty disks":   between(`{"fio version":"fio-3.33","jobs":[`+costRow+`],"disk_util":[`, `{},`, `{"name":"x"}]}`),
		"bins":          counted(`{"fio version":"fio-3.33","jobs":[{"jobname":"a","read":{"total_ios":1,"iops":1,"runtime":1,"clat_ns":{"N":1,"bins":{`, `"%d":1,`, `"1":1}}}}]}`),
		"percentiles":   counted(`{"fio version":"fio-3.33","jobs":[{"jobname":"a","read":{"total_ios":1,"iops":1,"runtime":1,"clat_ns":{"N":1,"percentile":{`, `"%d.0":1,`, `"1.0":1}}}}]}`),
		"options":       counted(`{"fio version":"fio-3.33","jobs":[{"jobname":"a","job options":{`, `"o%d":"1",`, `"rw":"read"}}]}`),
		"options twice": between(`{"fio version":"fio-3.33","jobs":[{"jobname":"a","job options":{`, `"bs":"1",`, `"rw":"read"}}]}`),
		"global options": func(n int) string {
			return counted(`{"fio version":"fio-3.33","global options":{`, `"o%d":"1",`, `"rw":"read"},"jobs":[`)(n/2) + strings.Repeat(`{"jobname":"a"},`, n/32) + `{}]}`
		},
		"nested":                      again("["),
		"nested objects":              again(`{"a":`),
		"nested in fio's":             between(`{"fio version":"fio-3.33","x":`, "[", ""),
		"documents":                   again(`{"fio version":"fio-3.33","jobs":[` + strings.ReplaceAll(costRow, "%d", "") + "]}\n"),
		"small documents":             again(`{"fio version":"fio-3.33","jobs":[{}]}`),
		"empty documents":             again(`{}`),
		"documents without a version": again(`{"jobs":[{"jobname":"a","read":{"iops":1}}]}` + "\n"),
		"cut documents":               again(`{"fio version":"fio-3.33","jobs":[{"jobname":"a"` + "\n"),
		"documents in JSON":           between(`{"x":[`, `{"fio version":"fio-3.33","jobs":[{"jobname":"a"}]},`, `1]}`),
		"versions in JSON":            between(`{"x":[`, `{"fio version":`, ``),
		"versions in strings":         between(`{"x":["`, `{ \"fio version\" `, `"]}`),
		"open versions":               between(`{"x":[`, `{"fio version":"fio-3.33",`, ``),
		"text in JSON":                between(`{"x":[`, `"read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec) (groupid=0, jobs=1)",`, `"fio"]}`),
		"strings in strings":          between(`{"fio":"`, `{\"a\": \"fio\"}`, `"}`),
		"a long string":               between(`{"fio version":"`, `x`, `"}`),
		"escapes":                     between(`{"fio version":"fio-3.33","jobs":[{"jobname":"`, `\u0041`, `"}]}`),
		"numbers":                     between(`{"fio version":"fio-3.33","jobs":[{"elapsed":`, `9`, `}]}`),
		"after text":                  between("fio: x\n", `{"fio version":"fio-3.33","jobs":[`+strings.ReplaceAll(costRow, "%d", "")+"]}\n", ""),
	}
	lines := func(head, line string) func(int) string { return counted(head, line, "") }
	tables := map[string]func(int) string{
		"iostat":                  lines("Linux 5\n\n", "Device r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm %util\nsda 1 1 1 1 0 0 0 0 1 1 0 1 1 0 1\n\n"),
		"iostat, devices":         lines("Linux 5\n\nDevice r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm %util\n", "sd%d 1 1 1 1 0 0 0 0 1 1 0 1 1 0 1\n"),
		"iostat, columns":         between("Device ", "r/s ", "\nsda 1 1\n"),
		"iostat as JSON":          between(`{"sysstat":{"hosts":[{"statistics":[`, `{"timestamp":"2026-01-01T00:00:00Z","disk":[{"disk_device":"sda","r/s":1,"w/s":1,"rkB/s":1,"wkB/s":1}]},`, `{}]}]}}`),
		"iostat as JSON, devices": counted(`{"sysstat":{"hosts":[{"statistics":[{"disk":[`, `{"disk_device":"sd%d","r/s":1,"w/s":1,"rkB/s":1,"wkB/s":1},`, `{}]}]}]}}`),
		"sar":                     lines("Linux 5 (h) 	01/02/26 	_x86_64_	(2 CPU)\n\n12:00:01 AM       DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util\n", "12:10:01 AM       sd%d    1.00      1.00      1.00      0.00      1.00      0.00      1.00      1.00\n"),
		"sadf":                    lines("# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n", "h;600;2026-01-01 00:00:01 UTC;sd%d;1;1;1;0;1;0;1;1\n"),
		"blkparse":                lines("", "8,0 1 %d 0.%d 1 Q R %d + 8 [x]\n8,0 1 %d 0.%d 1 C R %d + 8 [0]\n"),
		"CloudWatch":              counted(`{"Datapoints":[`, `{"Timestamp":"2026-01-01T00:00:00Z","Sum":%d,"Unit":"Count"},`, `{}],"Label":"VolumeReadOps"}`),
		"CloudWatch, series":      counted(`{"MetricDataResults":[`, `{"Id":"m%d","Label":"vol-%d VolumeReadOps","Timestamps":["2026-01-01T00:00:00Z"],"Values":[1]},`, `{}]}`),
		"CloudWatch as CSV":       lines("timestamp,VolumeReadOps,VolumeWriteOps\n", "2026-01-01T00:00:%d,1,1\n"),
		"pgbench":                 lines("", "progress: %d.0 s, 1000.0 tps, lat 1.000 ms stddev 0.1, 0 failed\n"),
		"pgbench -l":              lines("", "0 %d 1000 0 1500000000 %d\n"),
		"commas":                  again(","),
		"quotes":                  again("\""),
		"one line":                again("1 "),
		"zeros":                   again("\x00"),
		"nested":                  again("["),
		"objects":                 again(`{"a":`),
	}
	logs := map[string]func(int) string{
		"lat":        lines("", "%d, 1000, 0, 4096, 0\n"),
		"same":       again("1, 1000, 0, 4096, 0\n"),
		"directions": again("1,1,0,1\n1,1,1,1\n1,1,2,1\n"),
		"commas":     again("1,"),
		"one number": again("9"),
		"priorities": lines("", "%d, 1, 0, 4096, %d, %d\n"),
		"wild times": lines("", "9223372036854775807, 1, 0, 1\n%d, 1, 0, 1\n"),
	}
	hist := map[string]func(int) string{"bins": lines("", "%d, 0, 4096"+strings.Repeat(", 1", 1856)+"\n"), "few bins": lines("", "%d, 0, 4096, 1\n")}
	yaml := map[string]func(int) string{
		"steps":  lines("- hosts: all\n  tasks:\n", "  - name: a%d\n    shell: fio --name=a --rw=read\n"),
		"nested": again("- "),
		"flow":   again("["),
		"keys":   lines("", "k%d: fio --name=a\n"),
		"blocks": again("- run: |\n    fio --name=a --rw=read\n"),
		"merge": func(int) string {
			var b strings.Builder
			b.WriteString("k0: &k0 {a: fio --name=a}\n")
			for i := 1; i < 30; i++ {
				fmt.Fprintf(&b, "k%d: &k%d {<<: [*k%d, *k%d]}\n", i, i, i-1, i-1)
			}
			return b.String()
		},
		"aliases":  between("a: &a 1\nb: [", "*a, ", "]\n"),
		"tags":     between("a: ", "!a ", "\n"),
		"deep":     stairs(" ", "a:\n"),
		"anchors":  lines("", "k%d: &k%d fio --name=a\n"),
		"commands": between("a:\n", "- fio --name=a --rw=read --bs=4k\n", ""),
	}
	rows := map[string]func(int) string{"rows": lines("", row), "one name": again(strings.ReplaceAll(row, "%d", "")), "short": again("3;fio-3.33;a;0;0\n"), "long": again("3;fio-3.33;" + strings.Repeat("1;", 5000) + "\n"), "one row": between("3;fio-3.33;", "1;", "\n"), "latencies": lines("", "3;fio-3.33;a;0;0"+strings.Repeat(";1", 100)+";1%=1;5%=2\n"), "disks": counted("3;fio-3.33;j;0;0;4096;1;1;1000"+terse, ";sd%d;1;1;1;1;1;1;1;1%", "\n")}
	return []front{
		{[]string{"lint"}, "x.md", documents},
		{[]string{"lint"}, "x.sh", documents},
		{[]string{"lint"}, "Dockerfile", pick(documents, "Dockerfile", "RUN", "fio, fio", "zeros")},
		{[]string{"lint"}, "x.html", pick(documents, "HTML", "tags", "fio commands")},
		{[]string{"lint"}, "x.yml", yaml},
		{[]string{"lint"}, "x.fio", jobs},
		{[]string{"lint", "--format", "sarif"}, "x.fio", pick(jobs, "sections", "options, unlike")},
		{[]string{"convert"}, "x.fio", jobs},
		{[]string{"import", "--summary"}, "x.txt", outputs},
		{[]string{"import", "--summary"}, "x.md", outputs},
		{[]string{"import"}, "x.log", pick(outputs, "3.x", "disks", "disks, unlike", "commands", "runs", "not understood", "progress")},
		{[]string{"import", "--summary"}, "x.html", pick(outputs, "3.x", "tables", "pre")},
		{[]string{"import", "--summary"}, "d.txt", documents},
		{[]string{"import", "--summary"}, "x.json", json},
		{[]string{"import"}, "y.json", pick(json, "jobs", "disks", "bins", "small jobs", "small documents")},
		{[]string{"import", "--summary"}, "x.terse", rows},
		{[]string{"import", "--summary"}, "x_clat.1.log", logs},
		{[]string{"import", "--summary"}, "x_clat_hist.1.log", hist},
		{[]string{"workload", "from"}, "x.iostat", tables},
		{[]string{"run", "--dry-run", "--data", "."}, "z.fio", jobs},
		{[]string{"ceiling", "--suite"}, "x.yaml", yaml},
	}
}

func pick(from map[string]func(int) string, names ...string) map[string]func(int) string {
	some := map[string]func(int) string{}
	for _, name := range names {
		some[name] = from[name]
	}
	return some
}

// TestHostileInputCosts gives every way in hostile texts of 1 MB and prints what each costs (make
// bench). More than 64 MiB is an error; CPU time is for eyes, as other work on the machine adds to it.
func TestHostileInputCosts(t *testing.T) {
	which := os.Getenv("PLIMSOLL_COSTS") // 1 for all, or a part of what is printed, such as "import"
	if which == "" {
		t.Skip("takes minutes: make bench does this, and TestHostileInputIsLinear a sample")
	}
	dir := t.TempDir()
	base := costOf(t, dir, "version")
	texts, slow := 0, 0
	for _, f := range fronts() {
		for _, name := range slices.Sorted(maps.Keys(f.texts)) {
			if which != "1" && !strings.Contains(fmt.Sprintf("%s, %s", f, name), which) {
				continue
			}
			c := f.cost(t, dir, name, 1<<20)
			texts++
			cpu, peak := c.cpu-base.cpu, (c.peak-base.peak)>>20
			line := fmt.Sprintf("%s, %s: %d ms, %d MiB", f, name, cpu.Milliseconds(), peak)
			t.Log(line)
			if cpu > time.Second {
				slow++
			}
			if peak > 64 || c.code < 0 {
				t.Error(line)
			}
		}
	}
	t.Logf("%d texts of 1 MB; %d took more than 1 s of CPU time", texts, slow)
}

// TestHostileInputIsLinear gives a sample of what was worse than linear texts of three sizes: what is
// allocated, which no other work on the machine changes, does not grow faster than they do.
func TestHostileInputIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	dir := t.TempDir()
	sample := map[string][]string{
		"lint x.md": {"code spans", "silenced"}, "lint x.sh": {"fio commands", "here-documents that close"},
		"import --summary x.txt":  {"disks alone", "commands"},
		"import --summary x.json": {"small documents", "global options"},
	}
	for _, f := range fronts() {
		for _, name := range sample[f.String()] {
			var took []int
			for _, n := range []int{64 << 10, 128 << 10, 256 << 10} {
				c := f.cost(t, dir, name, n)
				if c.code < 0 {
					t.Fatalf("%s, %s: %d bytes took more than %d s of CPU time", f, name, n, costLimit)
				}
				took = append(took, c.allocated)
			}
			// Tables that double make steps; a square would take four times as much.
			if took[2] > 3*took[1] || took[1] > 3*took[0] || took[2] > 128<<20 {
				t.Errorf("%s, %s: 64, 128 and 256 KiB allocate %d, %d and %d MiB", f, name, took[0]>>20, took[1]>>20, took[2]>>20)
			}
		}
		delete(sample, f.String())
	}
	if len(sample) > 0 {
		t.Errorf("no such fronts: %v", sample)
	}
}

func (f front) String() string { return strings.Join(append(slices.Clone(f.args), f.file), " ") }

// cost is what plimsoll takes for one of the texts.
func (f front) cost(t *testing.T, dir, name string, n int) cost {
	t.Helper()
	text, ok := f.texts[name]
	if !ok {
		t.Fatalf("%s: no text %q", f, name)
	}
	if err := os.WriteFile(filepath.Join(dir, f.file), []byte(text(n)), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Join(dir, "runs")) //nolint:errcheck // the test's own directory
	return costOf(t, dir, append(slices.Clone(f.args), f.file)...)
}
