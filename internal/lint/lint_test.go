package lint

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// lint gives the findings of one rule on a text.
func lint(code finding.Code, text string, with ...func(*Case)) []finding.Finding {
	c := NewCase(Case{Scripts: []*script.File{script.Parse("x", []byte(text), script.Options{})}})
	for _, w := range with {
		w(c)
	}
	return slices.DeleteFunc(Judge(c).Found, func(f finding.Finding) bool { return f.Code != code })
}

// The examples on the pages do what the pages say.
func TestExamplesOfJobRules(t *testing.T) {
	for _, r := range Rules() {
		page, _ := finding.PageOf(r.Code)
		bad, good := page.Says("Bad")+"\n", page.Says("Good")+"\n"
		if got := lint(r.Code, bad); len(got) == 0 {
			t.Errorf("%s does not fire on its bad example:\n%s", r.Code, bad)
		}
		if got := lint(r.Code, good); len(got) > 0 {
			t.Errorf("%s fires on its good example: %s\n%s", r.Code, got[0].Message, good)
		}
	}
}

// A job that a careful person wrote must pass almost in silence: rules that cry wolf are not read.
func TestAReasonableJobIsNotDrowned(t *testing.T) {
	for name, text := range map[string]string{
		"job file": `[global]
ioengine=libaio
direct=1
time_based
runtime=300
ramp_time=10
group_reporting
directory=/data
size=50g

[randread]
rw=randread
bs=8k
iodepth=32
numjobs=4

[seqwrite]
stonewall
rw=write
bs=1m
iodepth=16
`,
		"command": "fio --name=a --filename=/data/x --size=20G --rw=randwrite --bs=4k --ioengine=io_uring " +
			"--direct=1 --iodepth=64 --time_based --runtime=600\n",
		"sync": "fio --name=wal --directory=/wal --size=8g --rw=write --bs=8k --fdatasync=1 --time_based " +
			"--runtime=300\n",
		"fill, read": "#!/bin/sh\nfio --name=fill --filename=/data/f --rw=write --bs=1M --size=64g --direct=1 " +
			"--ioengine=libaio --iodepth=8\nfio --name=read --filename=/data/f --rw=randread --bs=16k --size=64g " +
			"--direct=1 --ioengine=libaio --iodepth=32 --runtime=300 --time_based\n",
		"arrays": "mdadm --create /dev/md0 --level=10 --raid-devices=8 --chunk=64 /dev/nvme[1-8]n1\nmkfs.xfs -d " +
			"su=64k,sw=4 /dev/md0\nmount -o noatime /dev/md0 /data\n",
		"other INI":   "[Unit]\nDescription=x\n[Service]\nExecStart=/usr/bin/fio\n",
		"plain prose": "We used fio with a queue depth of 32; sudo apt install fio gets it.\n",
	} {
		c := NewCase(Case{Scripts: []*script.File{script.Parse("x", []byte(text), script.Options{})}})
		for _, f := range Judge(c).Found {
			t.Errorf("%s: %s %s", name, f.Code, f.Message)
		}
	}
}

func TestJobRulesFire(t *testing.T) {
	const g = units.GiB
	for _, c := range []struct {
		code finding.Code
		text string
		says string // how the finding begins; severity in front where it is not the rule's
		with func(*Case)
	}{
		{"PL100", "[a]\nrw=read\n[b]\ninclude x.fio\n", "Include lines are not followed here.", nil},
		{"PL100", "fio --name=a --size\n", "--size: a value is missing after it.", nil},
		{"PL100", "fio --name=a \\ \n  --rw=read\n", "The backslash is before a space, not at the end of the line", nil},
		{"PL100", "fio --name=a \\  --rw=read\n", "The backslash is before a space, not at the end of the line", nil},
		{"PL100", "\ufeff[a]\nrw=read\n", "A byte order mark precedes the first line", nil},
		{"PL100", "\xff\xfe[\x00a\x00]\x00\n\x00r\x00w\x00=\x00r\x00e\x00a\x00d\x00", "The file is UTF-16, which fio does not read.", nil},
		{"PL101", "fio –name=a –rw=read\n", `2 words are spelled with a long dash or typographic quotes, the first "–name=a"`, nil},
		{"PL101", "fio --name=a --description=“x”\n", `1 word is spelled with`, nil},
		{"PL102", "fio --name=a --num-jobs=4\n", `fio has no option "num-jobs"; did you mean numjobs?`, nil},
		{"PL102", "[a]\nrw=radread\n", "fio refuses rw=radread: it is not one of its words (read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite); did you mean randread?", nil},
		{"PL102", "[a]\nrw=read\nioengine=iouring\n", "fio has no ioengine iouring; did you mean io_uring?", nil},
		{"PL102", "[a]\nrw=read\nqqqqqq=1\n", `fio has no option "qqqqqq".`, nil},
		{"PL102", "[a]\nrw=read\nrunt=5\n", `fio has no option "runt"; did you mean runtime?`, nil},
		{"PL102", "[a]\nrw=read\noutput-format=json\n", "output-format is an option of the command line, which a job file cannot hold: fio drops the job.", nil},
		{"PL102", "fio --name=a --rw=read --direct=true\n", "fio refuses direct=true: it is neither 0 nor 1.", nil},
		{"PL102", "fio --name=a --rw=read --verify=crc32k\n", "fio refuses verify=crc32k: it is not one of its words; did you mean crc32?", nil},
		{"PL102", "fio --name=a --rw=randrw --rwmixread=101\n", "fio refuses rwmixread=101: it is out of range (0 to 100).", nil},
		{"PL102", "[a]\nrw=read\nfilename=\n", "info fio refuses filename=: it is empty.", nil},
		{"PL102", "fio --name=a --rw=read --filename=\n", "fio refuses filename=: it is empty.", nil},
		{"PL102", "[a]\nrw=read\nnumjobs=0\n", "fio refuses the job: numjobs=0 starts no job at all.", nil},
		{"PL102", "[a]\nrw=read\nwait_for=b\n[b]\nrw=write\n", "fio refuses the job: wait_for=b names no job before this one.", nil},
		{"PL102", "[globals]\niodepth=0\n[a]\nrw=read\n", "fio refuses iodepth=0: it is out of range (1 at least).", nil},
		{"PL102", "[a]\nrw=read\nioengine=sync,psync\n", "fio has no ioengine sync,psync; did you mean sync?", nil},
		{"PL102", "[a]\nrw=randread\nrandom_distribution=zoned:60/10:30/20\n", "fio refuses random_distribution=zoned:60/10:30/20: it is not of the form", nil},
		{"PL102", "[a]\nrw=randread\nrandom_distribution=zoned:60/50:40/60\n", "fio refuses random_distribution=zoned:60/50:40/60: it is not of the form", nil},
		{"PL102", "[a]\nioengine=libaio\nhipri\n", "fio drops the job: hipri belongs to pvsync2, sg, io_uring and others, and the job runs on libaio.", nil},
		{"PL102", "[a]\nrw=read\nshare_mmap=1\n", `info No released fio knows the option "share_mmap"; the one whose source is fio/engines/mmap.c does.`, func(c *Case) {
			c.Own = map[string]string{"share_mmap": "fio/engines/mmap.c"}
		}},
		{"PL102", "[a]\nrw=read\nshared_mmap=1\n", `fio has no option "shared_mmap"`, func(c *Case) {
			c.Own = map[string]string{"share_mmap": "fio/engines/mmap.c"}
		}},
		{"PL102", "${dir}/fio-zones/fio --name=a --zone_append=1\n", `info No released fio knows the option "zone_append"; ${dir}/fio-zones/fio may be a different fio.`, nil},
		{"PL102", "/usr/bin/fio --name=a --zone_append=1\n", `fio has no option "zone_append"`, nil},
		{"PL102", "fio -o x.log -f -q --name=a --rw=read\n", `fio has no option "q".`, nil},
		{"PL124", "[a]\nrw=write\nrwmixcycle=40\n", "error rwmixcycle is gone; drop it.", nil},
		{"PL156", "fio --name=a --rw=read --size=1g --output=out--bs=4k.json\n", "info --bs is in the value of output", nil},
		{"PL103", "[a]\nioengine = psync\nrw = randread\niodepth = 32\n", "ioengine=psync keeps one I/O in flight per job", nil},
		{"PL103", "[a]\nrw=randread\niodepth=32\n", "info ioengine=psync (fio's default) keeps one I/O", nil},
		{"PL128", "[a]\nrw=randrw\nbs=4k-64k\n", "bs=4k-64k is not a range: fio takes 4 KiB for reads and 64 KiB for writes.", nil},
		{"PL128", "[a]\nrw=read\nthreads=1\n", "threads=1 is an option of fio's profile tiobench, and does nothing without it.", nil},
		{"PL128", "[Global]\nsize=1g\n[a]\nrw=read\n", `[Global] is not [global] to fio: it reads a job named "Global", whose options reach no other.`, nil},
		{"PL128", "[a]\nrw=read\nsize=1g\niodepth=-1\n", "iodepth=-1 is out of range (1 at least): fio before 3.43 runs the job without it", nil},
		{"PL138", "[a]\nrw=randrw\nsize=9g\nrwmixread=70\nrwmixwrite=70\n", "rwmixwrite=70 replaces rwmixread=70 of line 4.", nil},
		{"PL138", "[a]\nrw=read\nsize=9g\nbuffered=1\ndirect=1\n", "info direct=1 replaces buffered=1 of line 4.", nil},
		{"PL144", "[a]\nrw=write\nfilename=/dev/sdq\nnumjobs=4\n", "4 jobs × 1 loop write the device 4 times.", nil},
		{"PL151", "[global]\nfilename=/f\nsize=1g\n[read]\nrw=read\n[write]\nrw=write\n[randread]\nrw=randread\n", "3 tests that differ in rw run at the same time", nil},
		{"PL103", "fio --name=a --iodepth=32 --numjobs=4\n", "ioengine=psync (fio's default) keeps one I/O in flight per job, whatever iodepth says: 4 in flight, not 128.", nil},
		{"PL103", "[a]\nrw=read\nioengine=mmap\niodepth=${D}\n", "info ioengine=mmap keeps one I/O in flight per job, whatever iodepth says: 1 in flight, not what it asks for.", nil},
		{"PL104", "[a]\nrw=read\nsize=9g\nioengine=libaio\niodepth=4\nbuffered=1\n", "libaio with direct=0 (fio's default) submits one I/O at a time", nil},
		{"PL104", "[a]\nrw=read\nioengine=libaio\niodepth=4\nbuffered=1\n", "info libaio with direct=0 (fio's default) submits one I/O at a time", nil},
		{
			"PL105", "fio --name=a --rw=write --size=1g --numjobs=2 --directory=/x\n",
			"2 GiB in total fits in most machines' memory, and direct is 0: writes may get no further.", nil,
		},
		{"PL105", "fio --name=a --rw=randread --size=20g --directory=/x --time_based --runtime=60 --norandommap\n", "20 GiB in total fits in the machine's 64 GiB of memory", func(c *Case) { c.Memory = 64 * g }},
		{"PL105", "fio --name=a --rw=randread --size=500m --direct=1\n", "info Random I/O on 500 MiB in total may stay", nil},
		{"PL106", "fio --name=a --rw=randwrite --bs=16k --size=16K --time_based --runtime=60\n", "Each job has a file of 16 KiB, one block: it writes the same 16 KiB over and over.", nil},
		{"PL106", "fio --name=a --rw=randwrite --bs=1m --size=8m --loops=9\n", "info Each job has a file of 8 MiB: 8 blocks of 1 MiB, over and over.", nil},
		{"PL107", "fio --name=a --filename=/x --rw=read --numjobs=4 --size=1g\n", "4 jobs read the same blocks of one file (no offset_increment).", nil},
		{"PL108", "[a]\nrw=read\ntime_based=1\n", "info time_based has no effect without runtime", nil},
		{"PL107", "fio --name=a --filename=$F --rw=write --numjobs=4\n", "4 jobs write the same blocks of one file (no offset_increment).", nil},
		{"PL108", "fio --name=a --rw=read --time_based --runtime=0\n", "time_based has no effect without runtime", nil},
		{"PL108", "fio --name=a --rw=read --time_based\n", "time_based has no effect without runtime", nil},
		{"PL109", "[a]\nrw=read\ntime_based\nruntime=60\n[b]\nrw=read\ntime_based\nruntime=90\n", "A run of 60 s without ramp_time", nil},
		{"PL109", "fio --name=a --rw=read --time_based --runtime=60 --ramp_time=0\n", "A run of 60 s without ramp_time", nil},
		{"PL110", "# gp2 100 GiB\nfio --name=a --time_based --runtime=60\n", "A run of 60 s ends before a gp2 volume's credits run out.", nil},
		{"PL111", "fio --name=a --rw=randrw --fsync=1 --ioengine=libaio --iodepth=16 --direct=1\n", "fsync=1 blocks the submitter after each write, so iodepth=16", nil},
		{"PL112", "fio --name=a --rw=randread --filename=/dev/nvme1n1\n", "This job reads /dev/nvme1n1, which no job here has written", nil},
		{"PL112", "truncate -s 10G /data/f\nfio --name=a --rw=randread --filename=/data/f\n", "This job reads /data/f, which truncate on line 1 created without writing to it.", nil},
		{"PL113", "fio --name=a --rw=randrw --filename=/dev/sdb:/dev/sdc\n", "This job writes /dev/sdb, /dev/sdc: running it destroys the contents of the devices.", nil},
		{"PL113", "fio --name=a --rw=randrw --filename=/dev/sdb --filename=/dev/sdc\n", "This job writes /dev/sdb, /dev/sdc: running it destroys the contents of the devices.", nil},
		{"PL113", "[global]\nfilename=/dev/sdb\n[a]\nfilename=/dev/sdc\nrw=write\n", "This job writes /dev/sdb, /dev/sdc: running it destroys the contents of the devices.", nil},
		{"PL113", "fio --name=a --rw=write --filename=/dev/sdb --filename=$OTHER\n", "This job writes /dev/sdb: running it destroys the contents of the device.", nil},
		{"PL113", "# non-destructive: reads only\nfio --name=a --rw=randrw --filename=/dev/sdb\n", "This job writes /dev/sdb: running it destroys the contents of the device.", nil},
		{"PL113", "# This does not destroy or wipe anything\nfio --name=a --rw=write --filename=/dev/sdb:/dev/ram0\n", "This job writes /dev/sdb: running it destroys the contents of the device.", nil},
		{"PL113", "mount /dev/vg0/data /data\nfio --name=a --rw=write --filename=/dev/vg0/data\n", "This job writes /dev/vg0/data, which line 1 mounts on /data", nil},
		{"PL114", "fio --name=a --rw=randread --bs=28k --size=9g --direct=1\n", "Blocks of 28 KiB are not a power of two", nil},
		{"PL114", "fio --name=a --rw=randread --bs=28k --size=9g --direct=1\n", "Blocks of 28 KiB straddle chunks of 64 KiB (as given): 1.375 pieces each on average.", func(c *Case) { c.Chunk = 64 * units.KiB }},
		{"PL114", "lvcreate -i 4 -I 128 -n lv -L 1T vg-a\nmount /dev/mapper/vg--a-lv /d\nfio --name=a --directory=/d/x --bs=28k --size=9g --direct=1\n", "Blocks of 28 KiB straddle chunks of 128 KiB (line 1): 1.1875 pieces", nil},
		{"PL120", "fio --name=a --rw=randwrite --rwmixwrite=30 --size=1G\n", "rw=randwrite does not mix: rwmixwrite=30 has no effect.", nil},
		{"PL115", "[a]\nrw=randread\nloops=5\n", "All 5 loops visit the same blocks", nil},
		{"PL115", "for i in 1 2; do fio --name=a --rw=randread --output=x$i; done\n", "Each round of the loop visits the same blocks", nil},
		{"PL115", "for d in 1 2; do fio --name=a --rw=randread --filename=$device; done\n", "Each round of the loop", nil},
		{"PL115", "for d in 1 2; do for i in 1 2; do fio --name=a --rw=randread --filename=$FILE --iodepth=$d; done; done\n", "Each round", nil},
		{"PL116", "[a]\nrw=write\nbuffer_compress_percentage=80\n", "80 % of each buffer compresses away.", nil},
		{"PL116", "[a]\nrw=write\nscramble_buffers=0\n", "Each job writes one buffer over and over", nil},
		{"PL117", "[a]\nrw=randwrite\nnorandommap\nverify=crc32c\n", "norandommap lets fio write a block twice", nil},
		{"PL118", "[a]\nrw=read\nnumjobs=8\n", "fio prints 8 reports", nil},
		{"PL119", "[a]\nrw=rw\nnumjobs=2\nrate_iops=100,50\n", "Each of the 2 jobs may do 100 IOPS of reads, 200 in total; 50 IOPS of writes, 100 in total.", nil},
		{"PL120", "[global]\nrwmixwrite=30\n[a]\nrw=randread\n", "rw=randread does not mix", nil},
		{"PL122", "[a]\nrw=read\nthinktime=1ms\n", "With thinktime, I/Os that a stall delays", nil},
		{"PL123", "[a]\nioengine=exec\nprogram=/bin/sh\n[b]\nrw=read\n", `program runs "/bin/sh" in a shell.`, nil},
		{"PL124", "[a]\nrw=write\nuse_os_rand=1\n", "error use_os_rand is gone; random_generator chooses the generator.", nil},
		{"PL125", "[a]\nrw=write\nio_size=200%\ndirectory=/x\n", "io_size=200% is a percentage of the existing file", nil},
		{"PL126", "fio --name=a --write_bw_log=x\n", "write_bw_log without log_avg_msec keeps a line", nil},
		{"PL127", "[a]\nrw=write\ndirectory = /tmp\n", `fio takes the space in "directory= /tmp"`, nil},
		{"PL128", "fio --name=a --size=1GiB\n", "size=1GiB is read as 1,000,000,000 bytes", nil},
		{"PL128", "fio --name=a --size=1.5g\n", `size=1.5g is read as 1 byte: fio drops ".5g".`, nil},
		{"PL128", "fio --name=a --size=9g --runtime=1min\n", `runtime=1min is read as 1 µs: fio does not know "min".`, nil},
		{"PL129", "fio --name=a --size=9g --runtime=60\n", "The job ends as soon as it has transferred its 9 GiB, even if that is long before 60 s.", nil},
		{"PL130", "mdadm -C /dev/md5 -l5 -n 5 /dev/sd[b-f]\nmkfs.ext4 -b 4096 -E stride=16,stripe-width=80 /dev/md5\n", "su=64k and sw=5, but /dev/md5 (created on line 1 as raid5 of 5 members) has a chunk of 512k and a stripe 4 members wide.", nil},
		{"PL130", "mdadm --create /dev/md0 --level=10 --layout=n3 --raid-devices=6 --chunk=64K /dev/sd[b-g]\nmkfs.xfs -d su=64k,sw=3 /dev/md0\n", "sw=3, but /dev/md0 (created on line 1 as raid10 of 6 members) has a stripe 2 members wide.", nil},
		{"PL130", "mdadm -C /dev/md0 -l10 --layout=f2 -n4 -c64 /dev/sd[b-e]\nmkfs.xfs -d su=64k,sw=2 /dev/md0\n", "sw=2, but /dev/md0 (created on line 1 as raid10 of 4 members) has a stripe 4 members wide.", nil},
		{"PL131", "mount /dev/sdb /a\nmount /dev/sdb /b\n", "/dev/sdb is already mounted on /a (line 1): /b is the same filesystem.", nil},
		{"PL131", "mount /dev/sdb /a\nfusermount -u /c\nfusermount -o rw /a\nudisksctl mount -b /dev/sdb\numount /ab\nmount /dev/sdb /b\n", "/dev/sdb is already mounted on /a (line 1)", nil},
		{"PL133", "mdadm -C /dev/md0 -l0 -n2 a b\nmdadm -C /dev/md1 -l0 -n2 c d\nmkfs.xfs /dev/md0\nmkfs.xfs /dev/md1\nmount /dev/md1 /a\n", "/dev/md0, made on line 1, is formatted here and never mounted.", nil},
		{"PL134", "lvcreate -n a -L 1g vg\nlvcreate --name a --size 1g vg\n", "Line 1 already makes vg/a.", nil},
		{"PL140", "fio --name=a --rw=randread --direct=1 --numjobs=16 --size=9g\n", "ioengine=psync (fio's default) with 16 jobs keeps 16 I/Os in flight: at 500 µs each that is at most 32,000 IOPS", nil},
		{"PL135", "fio --name=a --rw=randread --bssplit=4k/50:60k/50 --rate_iops=700\n", "fio limits the job to its rate times the smallest block: to 87.5 of the 700 read IOPS that it asks for.", nil},
		{"PL135", "[a]\nrw=randwrite\nbsrange=4k-12k\nrate_iops=,100\n", "fio limits the job to its rate times the smallest block: to 50 of the 100 write IOPS", nil},
		{"PL136", "[a]\nrw=read\nrate=5m\nthinktime=1ms\n", "After each thinktime fio catches up with the rate", nil},
		{"PL137", "[a]\nrw=read\ntime_based\nramp_time=3m\nruntime=5\n", "The job warms up for 3 min and measures for only 5 s.", nil},
		{"PL138", "[a]\nrw=read\nbs=512k\nblocksize=4k\n", "blocksize=4k replaces bs=512k of line 3: bs is another name for blocksize.", nil},
		{"PL138", "[a]\nrw=read\ntimeout=600\nruntime={{ runtime }}\n", "runtime=… replaces timeout=600 of line 3: timeout is another name for runtime.", nil},
		{"PL138", "fio --name=a --norandommap --rw=randread --norandommap\n", "info norandommap is already on line 1.", nil},
		{"PL139", "[write]\nfilename=/data/f\nrw=write\n[read]\nfilename=/data/f\nrw=read\n", "[read] reads /data/f while [write] writes it", nil},
		{"PL139", "[a]\nfilename=/data/f\nrw=write\n[b]\nfilename=/data/f\nrw=read\n", "info [b] reads /data/f while [a] writes it", nil},
		{"PL139", "[global]\ntime_based\nruntime=9\n[a]\nfilename=/data/f\nrw=write\n[b]\nfilename=/data/f\nrw=read\n", "info [b] reads /data/f while [a] writes it", nil},
		{"PL142", "[global]\nwrite_lat_log\n[a]\nname=x\nrw=read\n[b]\nname=x\nrw=write\n", "info This section and the one on line 3 are both named \"x\": only a number keeps their logs apart.", nil},
		{"PL142", "[global]\nwrite_lat_log\nper_job_logs=0\n[a]\nname=x\nrw=read\n[b]\nname=x\nrw=write\n", "This section and the one on line 4 are both named \"x\" and write the same logs.", nil},
		{"PL143", "[a]\nfilename=/dev/sdb\nrw=read\nbssplit=512/10:4k/90\ndirect=1\n", "Blocks of 512 B: a drive with sectors of 4 KiB refuses them or emulates them.", nil},
		{"PL144", "[a]\nfilename=/dev/sdb\nrw=randwrite\nsize=100%\nnumjobs=32\nloops=2\ndirect=1\n", "32 jobs × 2 loops write the device 64 times.", nil},
		{"PL145", "[fill]\nfilename=/dev/sdb\nrw=randwrite\nsize=100%\nloops=2\nnorandommap\n", "norandommap leaves 13.5 % of the blocks unwritten.", nil},
		{"PL145", "[a]\nfilename=/dev/sdb\nrw=randwrite\nnorandommap\n", "info norandommap leaves 36.8 % of the blocks unwritten.", nil},
		{"PL145", "[global]\nfilename=/dev/sdb\nrw=randrw\nrwmixread=0\nnorandommap\n[precondition1]\n[precondition2]\nstonewall\n", "norandommap leaves 13.5 % of the blocks unwritten.", nil},
		{"PL106", "fio --name=a --rw=write --bs=4k --size=4k --ioengine=libaio --iodepth=128 --direct=1\n", "info Each job has a file of 4 KiB, one block: it writes the same 4 KiB.", nil},
		{"PL159", "[global]\nfsync=1\n[a]\nrw=randread\n[b]\nrw=read\n", "rw=randread writes nothing, so nothing is ever synced.", nil},
		{"PL159", "f() { fio --name=$1 --direct=1 \"$@\"; }\nfio --name=r --rw=randread --fdatasync=1\n", "rw=randread writes nothing", nil},
		{"PL160", "[global]\nfilename=f\nname=x\nrw=read\nsize=1g\n[/a/f]\n[/b/f]\n", "[/a/f] works on f in the current directory, not where its name says.", nil},
		{"PL160", "[/a/f]\nfilename=f\nrw=read\nsize=1g\n", "info [/a/f] works on f", nil},
		{"PL146", "[a]\nrw=read\nloops=9\ntime_based\nruntime=60\n", "The job ends after 60 s, whatever loops=9 says.", nil},
		{"PL147", "$RUN \"x fio $OPTS\"\n", "A fio command is skipped: its words are in variables that the text does not give.", nil},
		{"PL148", "[a]\nrw=read\n# plimsoll: disable=PL103 x\nbs=4k\n", "PL103 finds nothing in the lines that this comment covers.", nil},
		{"PL148", "[a]\nrw=read # plimsoll: ignore PL103\n", "The comment does not have the form", nil},
		{"PL154", "[write-4k]\nrw=read\n", `The job is named "write-4k", but with rw=read it only reads.`, nil},
		{"PL154", "[randwritejob]\nrw=randread\n", `The job is named "randwritejob", but with rw=randread it only reads.`, nil},
		{
			"PL154", "fio --name=seqRead --rw=randread --size=1g\n",
			`info The job is named "seqRead", but with rw=randread its I/O is random.`, nil,
		},
		{"PL154", "[a]\nname=rand_read_q1\nrw=read\n", `The job is named "rand_read_q1", but with rw=read its I/O is sequential.`, nil},
		{"PL155", "fio --name=a --rw=randrw --size=64g --directory=/x\n", "direct=0 (fio's default) writes through the page cache and nothing flushes them", nil},
		{"PL156", "fio --name=a --rw=randrw rwmixread=70 --size=1g\n", "rwmixread=70 has no dashes: fio takes it for the name of a job file.", nil},
		{"PL156", "fio --name=a --filename=/mnt/a--iodepth=1--rw=read --size=1g\n", "--iodepth is in the value of filename without a space before it", nil},
		{"PL157", "[job]\nrw=write\nsize=1g\n[device]\nfilename=/dev/sdb\n", "[device] is a job of its own, and reads with fio's defaults", nil},
		{"PL158", "[a]\ndirectory=/data\nrw=read\n", "No size is given: fio stops unless the files exist already.", nil},
		{"PL102", "fio --name=a --rw=randrw --size=1g --readonly\n", "fio refuses the command: --readonly does not allow rw=randrw.", nil},
		{"PL102", "[a]\nioengine=${E}\nrm=randrw\n", `fio has no option "rm"; did you mean rw?`, nil},
		{"PL128", "[a]\nrw=write\nfilename=~/x\n", "filename=~/x is in a directory named ~ in the current one", nil},
		{"PL128", "fio --name=a --rw=write --size=1g --directory=~/x\n", "directory=~/x is in a directory named ~", nil},
		{"PL128", "[a]\nrw=write\nsize=64k:128k:1m\n", "size=64k:128k:1m holds 3 values, and fio has room for one: the last (1m) counts.", nil},
		{"PL102", "[a]\nrw=read\nsize=1g\n<<<<<<< HEAD\nbs=4k\n=======\nbs=8k\n>>>>>>> b\n", "<<<<<<< HEAD is git's mark of an unresolved merge: fio drops the job.", nil},
		{"PL107", "fio --name=/dev/sdb --rw=write --size=1g --numjobs=4 --direct=1\n", "4 jobs write the same blocks of one device", nil},
		{"PL141", "fio --output=x --rw=read --size=1g\n", "The command has options and no --name", nil},
	} {
		t.Run(fmt.Sprintf("%s %.30q", c.code, c.text), func(t *testing.T) {
			with := c.with
			if with == nil {
				with = func(*Case) {}
			}
			got := lint(c.code, c.text, with)
			if len(got) == 0 {
				t.Fatalf("silent on\n%s", c.text)
			}
			page, _ := finding.PageOf(c.code)
			says := got[0].Message
			if got[0].Severity != page.Severity {
				says = string(got[0].Severity) + " " + says
			}
			if !strings.HasPrefix(says, c.says) {
				t.Errorf("says %q\nwant %q", says, c.says)
			}
			if got[0].Line < 1 || got[0].Col < 1 || got[0].File != "x" {
				t.Errorf("at %s, line %d, col %d", got[0].Subject, got[0].Line, got[0].Col)
			}
		})
	}
}

func TestJobRulesStaySilent(t *testing.T) {
	for _, c := range []struct {
		code finding.Code
		text string
	}{
		{"PL100", "fio --name=a \\\n  --rw=read --description='a b'\n"},
		{"PL130", "mdadm --create /dev/md0 --level=10 --layout=n3 --raid-devices=6 --chunk=64K /dev/sd[b-g]\nmkfs.xfs -d su=64k,sw=2 /dev/md0\n"},
		{"PL130", "mdadm -C /dev/md0 -l10 -n8 -c64 /dev/sd[b-i]\nmkfs.xfs -d su=64k,sw=4 /dev/md0\n"},
		{"PL130", "mdadm -C /dev/md0 -l10 -po2 -n4 -c64 /dev/sd[b-e]\nmkfs.xfs -d su=64k,sw=4 /dev/md0\n"},
		{"PL148", "[a]\nrw=read\n# plimsoll: disable=PL103 x\niodepth=4\n"},
		{"PL138", "[a]\nrw=read\n<<<<<<< HEAD\nbs=4k\n=======\nbs=8k\n>>>>>>> b\n"},
		{"PL154", "[job(r_idx=0,write_bw=0)]\nrw=randread\n"},
		{"PL107", "fio --name=/dev/null --rw=write --size=1g --numjobs=4 --direct=1\n"},
		{"PL148", "# plimsoll: the tool that reads this\n[a]\nrw=read\n"},
		{"PL135", "fio --name=a --rw=randrw --bs=4k,64k --rate_iops=700\n"}, // one size a direction
		{"PL136", "[a]\nrw=read\nrate=5m\nthinktime=1ms\nrate_ignore_thinktime=1\n"},
		{"PL137", "[a]\nrw=read\nramp_time=60\nruntime=60\n"},
		{"PL138", "[global]\nbs=4k\n[a]\nbs=8k\n"},
		{"PL138", "{% if x %}\n[a]\nbs=4k\n{% else %}\nbs=8k\n{% endif %}\n"},
		{"PL139", "[a]\nfilename=/data/f\nrw=write\n[b]\nstonewall\nfilename=/data/f\nrw=read\n"},
		{"PL139", "[a]\nfilename=/dev/sdb\nrw=write\n[b]\nfilename=/dev/sdb\nrw=read\n"}, // a mix on a device
		{"PL142", "[global]\nwrite_lat_log=x\n[a]\nname=x\n[b]\nname=x\nwrite_lat_log=y\n"},
		{"PL143", "[a]\nfilename=/dev/sdb\nrw=read\nbs=512\n"}, // through the page cache
		{"PL144", "[a]\nfilename=/dev/sdb\nrw=write\nsize=100%\nloops=3\n"},
		{"PL144", "[a]\nfilename=/dev/sdb\nrw=write\nsize=100%\nnumjobs=8\nruntime=60\n"},
		{"PL145", "[a]\nfilename=/dev/sdb\nrw=randwrite\nsize=100%\nnorandommap\ntime_based\nruntime=60\n"},
		{"PL146", "[a]\nrw=read\nloops=9\nruntime=60\n"},
		{"PL103", "cat > x.fio <<E\n[a]\niodepth=32\nrw=read\nE\nfio --ioengine=libaio x.fio\n"},
		{"PL103", "fio $OPTS --name=a --iodepth=32\n"},
		{"PL105", "[a]\nioengine=dirstat\nrw=read\nsize=1g\n"},
		{"PL102", "[a]\nioengine=spdk_bdev\nspdk_json_conf=x\nbdev_thing=1\n"},
		{"PL102", "[a]\nioengine=http\nhttp_host=x\nioengine=aio\n"},
		{"PL101", "fio --name=a --description='from a – to b'\n"},
		{"PL102", "fio --name=a --runt=5 --output-format=json+ --ioengine=io_uring --sqthread_poll=1\n"}, // unique beginnings count on a command line
		{"PL102", "[a]\nrw=randread:8\nioengine=external:./x.so\nrandom_distribution=zipf:1.2\n"},
		{"PL102", "[a]\nrw=${MODE}\n"},
		{"PL103", "[a]\nrw=read\niodepth=1\n"},
		{"PL103", "fio --name=a --rw=read --iodepth=abc\n"}, // fio refuses it, and what is meant is not known
		{"PL104", "fio --name=a --rw=randread --buffered=false --ioengine=libaio --iodepth=32 --size=100g\n"},
		{"PL105", "fio --name=a --rw=randread --norandommap=yes --time_based --runtime=60 --size=64m\n"},
		{"PL107", "fio --name=a --filename=/x --rw=read --numjobs=4 --offset_increment=\n"},
		{"PL108", "fio --name=a --rw=write --time_based=true --size=1g\n"},
		{"PL149", "fio --name=a --filename=/x --rw=randwrite --verify=crc33c --numjobs=4 --size=1g\n"},
		{"PL102", "[a]\nrw=randread\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\n"},
		{"PL102", "[a]\nrw=randread\nrandom_distribution=zoned:60:40\n"},
		{"PL102", "[a]\nrw=randread\nrandom_distribution=zoned_abs:60/20G:40/100G\n"},
		{"PL103", "[a]\nrw=read\niodepth=32\nioengine=${E}\n"},
		{"PL103", "[a]\nrw=read\niodepth=32\nioengine=io_uring\n"},
		{"PL104", "[a]\nrw=read\nioengine=libaio\niodepth=4\nbuffered=0\n"},
		{"PL104", "[a]\nrw=read\nioengine=io_uring\niodepth=4\n"},
		{"PL104", "[a]\nrw=read\nioengine=libaio\n"},
		{"PL105", "fio --name=a --rw=write --size=1g --end_fsync=1\n"},
		{"PL105", "fio --name=a --rw=randread --size=5g --time_based --runtime=9\n"},
		{"PL105", "fio --name=a --rw=randread --size=512m --time_based --runtime=9\n"}, // each pass reads the disk
		{"PL105", "fio --name=a --rw=randread --size=512m --loops=4\n"},
		{"PL105", "fio --name=a --rw=write --filesize=100m --nrfiles=100 --directory=/x\n"},
		{"PL105", "fio --name=a --rw=write --size=100m --verify=crc32c --directory=/x\n"},
		{"PL106", "fio --name=ttfb --rw=read --bs=1m --size=1m\n"}, // the time of one block
		{"PL106", "fio --name=a --rw=randwrite --bs=4k --size=16k --time_based --runtime=9 --verify=md5\n"},
		{"PL107", "[a]\nfilename=/x\nrw=${R}\nnumjobs=4\n"},
		{"PL107", "[a]\nfilename=/x\nrw=RW\nnumjobs=4\n"},
		{"PL116", "[a]\nrw=write\nbuffer_pattern=0xdead\nbuffer_compress_percentage=${P}\n"},
		{"PL120", "[a]\nrw=read\nrwmixread=100\n"},
		{"PL120", "[a]\nrw=write\nrwmixread=${P}\n"},
		{"PL138", "[a]\nrw=read\nfilename=/dev/sda\nfilename=/dev/sdb\n"},
		{"PL113", "fio --name=a --rw=write --filename=/dev/nullb0\n"},
		{"PL102", "[a]\nrw=RW\nbs=BLKSIZE\nsize=SIZE\niodepth=#DEPTH#\nruntime=<time>\nnumjobs={{ n }}\ndirect=__DIRECT__\n"},
		{"PL102", "[a]\nrw=randread\nsoftrandommap=1\nverifysort=1\nverifysort_nr=8\nflow_watermark=8\nbs_is_seq_rand=1\niomem_align=4k\n"},
		{"PL128", "fio --name=a --zonemode=zbd --direct=1 --rw=write --size=1z --offset_increment=8z --filename=/dev/sdb\n"},
		{"PL102", "[a]\nioengine=spdk\nspdk_conf=x\nsome_other=1\n"},
		{"PL105", "fio --name=a --rw=read --size=500m --direct=1\n"},
		{"PL105", "fio --name=a --rw=randread --size=16k --bs=16k\n"}, // PL106 says it
		{"PL106", "fio --name=a --rw=randwrite --bs=16k --size=16M\n"},
		{"PL106", "fio --name=a --rw=randwrite --bs=16k --size=${S}\n"},
		{"PL107", "fio --name=a --filename=/x --rw=randread --numjobs=4\n"},
		{"PL107", "fio --name=a --directory=/x --rw=read --numjobs=4\n"},
		{"PL107", "fio --name=a --filename=/x --rw=read --numjobs=1\n"},
		{"PL107", "fio --name=a --filename=/x --rw=read --numjobs=4 --offset_increment=25%\n"},
		{"PL108", "[global]\nruntime=5\n[a]\nrw=read\ntime_based\n"},
		{"PL108", "[a]\nrw=read\ntime_based\ntimeout=5\n"},
		{"PL108", "fio --name=w --rw=write --size=1g --time_based --runtime=10min\n"}, // 10 µs are a runtime
		{"PL108", "fio --name=w --rw=write --size=1g --time_based --timeout=1.5h\n"},
		{"PL109", "[a]\nrw=read\ntime_based\nruntime=300\n"},
		{"PL109", "fio --name=a --rw=read --time_based --runtime=60 --ramp_time=5min\n"}, // PL128 says what it is
		{"PL110", "# on a c6a.xlarge\nfio --name=a --time_based --runtime=1800\n"},
		{"PL110", "# on an m5.12xlarge with gp2 3000GiB\nfio --name=a --time_based --runtime=60\n"},
		{"PL110", "fio --name=a --time_based --runtime=60\n"},
		{"PL111", "[a]\nrw=write\nioengine=libaio\niodepth=16\nfdatasync=32\n"},
		{"PL111", "[a]\nrw=randread\nioengine=libaio\niodepth=16\nfdatasync=1\n"},
		{"PL112", "fio --name=a --rw=read --filename=/dev/shm/x\n"},
		{"PL112", "dd if=/dev/urandom of=/dev/sdb bs=1M\nfio --name=a --rw=read --filename=/dev/sdb\n"},
		{"PL113", "fio --name=a --rw=write --filename=/dev/null\n"},
		{"PL113", "fio --name=a --rw=read --filename=/dev/sdb\n"},
		{"PL113", "fio --name=a --rw=write --filename=/data/dev/sdb\n"},
		{"PL113", "fio --name=a --rw=write --filename=/dev/nullb0:/dev/ram0:/dev/zram1\n"},
		{"PL113", "# DESTRUCTIVE: writes to the whole drive\nfio --name=a --rw=write --filename=/dev/sdb\n"},
		{"PL113", "echo 'All data on the drive will be lost'\nfio --name=a --rw=write --filename=/dev/sdb\n"},
		{"PL113", "; wipes the device\n[a]\nrw=write\nfilename=/dev/sdb\n"},
		{"PL114", "mdadm -C /dev/md0 -l0 -c64 -n2 a b\nfio --name=a --filename=/dev/md0 --bs=1m --rw=read\n"},
		{"PL115", "for i in 1 2; do fio --name=a --rw=randread --randseed=$i; done\n"},
		{"PL115", "for i in 1 2; do echo; done\nfio --name=a --rw=randread\n"},
		{"PL115", "for bs in 4k 8k; do for i in 1 2; do fio --name=a --rw=randread --bs=$bs; done; done\n"},
		{"PL115", "for d in sdb sdc; do fio --name=a --rw=randread --filename=/dev/${d}; done\n"},
		{"PL116", "[a]\nrw=read\nzero_buffers\n"},
		{"PL116", "[a]\nrw=write\nbuffer_compress_percentage=20\n"},
		{"PL117", "[a]\nrw=randwrite\nnorandommap\n"},
		{"PL117", "[a]\nrw=write\nsize=4t\nnumjobs=16\n"},
		{"PL118", "[a]\nrw=read\nnumjobs=3\n"},
		{"PL119", "[a]\nrw=write\nnumjobs=2\nrate=5m,\n"}, // a limit on reads, and none run
		{"PL120", "[global]\nrwmixread=70\n[a]\nrw=randread\n[b]\nrw=randrw\n"},
		{"PL122", "[a]\nrw=read\nrate=5m\nio_submit_mode=offload\n"},
		{"PL122", "[a]\nrw=read\nthinktime=0\n"},
		{"PL123", "[a]\nrw=read\nprogram=/bin/sh\n"},
		{"PL125", "[a]\nrw=write\nfilename=/dev/sdb\nsize=50%\n"},
		{"PL126", "[a]\nrw=read\nwrite_lat_log=x\nlog_avg_msec=100\n"},
		{"PL127", "[a]\nrw =write\nsize = 4k\nfilename = x\n"},
		{"PL161", "[a]\nioengine=libaio\nrw=read\nsize=9g\nbs=4KiB\ndirect=1\n"},
		{"PL161", "[a]\nioengine=libaio\nrw=read\nsize=9g\nbs=4k,5000\ndirect=1\n"},
		{"PL161", "[a]\nioengine=null\nrw=read\nsize=9g\nbs=5000\ndirect=1\n"},
		{"PL161", "[a]\nioengine=libaio\nrw=read\nsize=9g\nbs=5000\n"},
		{"PL138", "[a]\nrw=randrw\nsize=9g\nrwmixread=70\nrwmixwrite=30\ndirect=1\nbuffered=0\n"},
		{"PL144", "[a]\nrw=write\nfilename=/dev/sdq\nnumjobs=4\ntime_based=1\nruntime=60\n"},
		{"PL144", "[a]\nrw=write\nfilename=/dev/sdq\nnumjobs=4\ntime_based=1\nruntime=10min\n"},
		{"PL128", "[global] ; for all\nsize=1g\n[a b]\nrw=read\nnice=-5\n"},
		{"PL128", "[a]\nrw=read\nkb_base=1000\nbs=4KiB\n"},
		{"PL128", "[a]\nrw=read\nbs=4Ki,8KB\nsize=50%\n"},
		{"PL129", "[a]\nrw=read\nsize=1g\nruntime=60\nloops=100\n"},
		{"PL130", "mdadm -C /dev/md5 -l 6 -n 6 -c 64K a b c d e f\nmkfs.xfs -d sunit=128,su=64k,sw=4 /dev/md5\nmkfs.ext4 -E stride=16,stripe-width=64 /dev/md5\n"},
		{"PL130", "mkfs.xfs -d su=64k,sw=8 /dev/md9\n"},
		{"PL131", "mount /dev/sdb /a\numount /a\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/sdb /a\nfusermount -u /a\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/sdb /a\nsudo fusermount3 -uz /a/\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/sdb /mnt/a\numount -R /mnt\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/sdb /mnt/a\numount /mnt/*\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/sdb /a\numount \"$WHERE\"\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/sdb /a\nudisksctl unmount -b /dev/sdb\nmount /dev/sdb /b\n"},
		{"PL131", "mount /dev/vg/a /a\numount /dev/mapper/vg-a\nmount /dev/vg/a /b\n"},
		{"PL131", "mount /dev/vg/a /a\nlvremove -f vg/a\nlvcreate -n a -L 1g vg\nmount /dev/vg/a /b\n"},
		{"PL131", "mount /dev/sdb /a\nmount /dev/sdb /a\n"},
		{"PL131", "mount /dev/sdb /a\nmkfs.xfs -f /dev/sdb\nmount /dev/sdb /b\n"},
		{"PL131", "mount -t tmpfs tmpfs /a\nmount -t tmpfs tmpfs /b\n"},
		{"PL133", "mdadm -C /dev/md0 -l0 -n2 a b\nmkfs.xfs /dev/md0\n"},
		{"PL134", "lvcreate -n a -L 1g vg1\nlvcreate -n a -L 1g vg2\n"},
		{"PL140", "fio --name=a --rw=randread --direct=1 --numjobs=16 --ioengine=libaio\n"},
		{"PL149", "fio --name=a --filename=/f --rw=read --numjobs=4 --verify=md5\n"},
		{"PL149", "fio --name=a --directory=/d --rw=write --numjobs=4 --verify=md5\n"},
		{"PL150", "[a]\nfilename=/1\nrw=write\n[b]\nfilename=/2\nrw=write\n[c]\nstonewall\nfilename=/2\nrw=write\n"},
		{"PL151", "[global]\nfilename=/f\n[a]\nrw=read\n[b]\nstonewall\nrw=write\n[c]\nstonewall\nrw=randread\n"},
		{"PL151", "[global]\ndirectory=/d\nsize=1g\n[file1]\niodepth=4\n[file2]\niodepth=8\n[file3]\niodepth=16\n"},
		{"PL102", "[a]\nrw=read\nzonesize=256m\n"}, // fio 3.16 takes it
		{"PL151", "[a]\nfilename=/1\nrw=read\n[b]\nfilename=/2\nrw=write\n[c]\nfilename=/3\nrw=randread\n"},
		{"PL151", "[global]\nfilename=/f\n[a]\nrw=read\nrate=1m\n[b]\nrw=write\n[c]\nrw=randread\n"},
		{"PL152", "[a]\nread_iolog=${T}\nioengine=libaio\n"},
		{"PL153", "[wal]\nrw=write\nfsync=8\n"},
		{"PL153", "[walk]\nrw=write\n"},
		{"PL140", "fio --name=a --rw=randwrite --direct=1 --numjobs=16 --fsync=1\n"},
		{"PL154", "[write-cache]\nrw=read\n"}, // a cache's name
		{"PL154", "[read-after-write]\nrw=write\n"},
		{"PL154", "[random-data]\nrw=write\n"},
		{"PL154", "[thread1]\nrw=write\n"},
		{"PL154", "[readwrite]\nrw=write\n"},
		{"PL154", "[overwrite]\nrw=read\n"},
		{"PL154", "[write]\nsize=1g\n"}, // who starts it may give rw
		{"PL154", "[write]\nrw=${RW}\n"},
		{"PL154", "[seq-read]\nrw=randread:8\n"},
		{"PL154", "[rand-read]\nrw=read\npercentage_random=100\n"},
		{"PL155", "fio --name=a --rw=write --size=64g --directory=/x --end_fsync=1\n"},
		{"PL155", "fio --name=a --rw=write --size=64g --directory=/x --sync=$S\n"},
		{"PL155", "fio --name=a --rw=write --size=1g --directory=/x\n"}, // PL105 says it
		{"PL155", "fio --name=fill --rw=write --size=64g --directory=/x\n"},
		{"PL155", "[a]\nrw=write\nbs=4k\n"}, // options come from outside
		{"PL156", "fio --name=a --rw=read --size=1g mode=x.fio\n"},
		{"PL156", "fio --name=a --rw=read --size=1g --exec_prerun='fio --bs=4k'\n"},
		{"PL156", "fio --name=a --rw=read --size=1g --filename=/data/a--b=c\n"},
		{"PL157", "[global]\nrw=write\n[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n"},
		{"PL157", "[a]\nrw=write\n[b]\nfilename=/dev/sdb\nbs=4k\n"},
		{"PL157", "[a]\nfilename=/dev/sdb\n[b]\nrw=write\n"},
		{"PL158", "[a]\nfilename=/data/f\nrw=read\n"}, // the file is there
		{"PL158", "[a]\nfilename=/dev/sdb\nrw=write\n"},
		{"PL158", "[a]\nrw=write\n"}, // options come from outside
		{"PL102", "fio --name=a --rw=randread --size=1g --readonly\n"},
		{"PL102", "[a]\nioengine=${E}\nthing=read\n"}, // an option of a plugin
		{"PL128", "fio --name=a --rw=write --size=1g --directory ~/x\n"},
		{"PL128", "[a]\nrw=write\nfilename=a~/x\n"},
		{"PL102", "fio -o x.log -f -m --name=a --rw=read --size=1g\n"}, // letters of fio's own options
		{"PL102", "fio --name=a --bs={1} --rw={rw} --numjobs={}\n"},
		{"PL102", "[a]\nrw=read\n...\n"},
		{"PL141", "fio --read_iolog=\"a:\"b\" --rw=read\n"},
		{"PL102", "[a]\nrw=rwxxx\nbs=bsxxx\niodepth=iodepXXX\n"},
		{"PL106", "fio --name=a --rw=write --bs=4k --size=4k --ioengine=libaio --direct=1\n"},
		{"PL106", "fio --name=a --rw=write --bs=4k --size=4k --iodepth=8 --ioengine=psync\n"},
		{"PL159", "[global]\nfsync=1\n[a]\nrw=randread\n[b]\nrw=write\n"},
		{"PL159", "[a]\nrw=randread\nfsync=0\n"},
		{"PL159", "[a]\nrw=${RW}\nfsync=1\n"},
		{"PL159", "[a]\nfsync=1\n"}, // who starts it may give rw
		{"PL160", "[global]\nrw=read\nsize=1g\n[/a/f]\n[/b/f]\n"},
		{"PL160", "[global]\nrw=read\nfilename=f\nsize=1g\n[/a/f]\ndirectory=/a\n[/b/f]\ndirectory=/b\n"},
		{"PL160", "[global]\nrw=read\n[/dev/sda]\nfilename=/dev/sda\n[/dev/sdb]\nfilename=/dev/disk/by-id/x\n"},
		{"PL141", "fio --rw=read x.fio\nfio --server --daemonize=/x\nfio --version\n"},
	} {
		if got := lint(c.code, c.text); len(got) > 0 {
			t.Errorf("%s fires: %s\n%s", c.code, got[0].Message, c.text)
		}
	}
}

// Only run --stop looks at where the figures settle: PL109 promises no other cut of the warm-up.
func TestWhatIsPromisedOfTheWarmUp(t *testing.T) {
	page, _ := finding.PageOf("PL109")
	for _, s := range page.Sections {
		if text := s.Body; strings.Contains(text, "plimsoll") && !strings.Contains(text, "run --stop") {
			t.Errorf("PL109 promises without --stop: %s", text)
		}
	}
	if !strings.Contains(page.Says(finding.Fix), "plimsoll run --stop") {
		t.Errorf("PL109 does not say what cuts the warm-up: %s", page.Says(finding.Fix))
	}
}

func TestDisabledInPlace(t *testing.T) {
	const job = "[global]\nioengine=psync\n%s[a]\nrw=read\n%siodepth=8%s\n[b]\nrw=read\niodepth=16\n"
	for name, c := range map[string]struct {
		text string
		left int
	}{
		"nowhere":             {fmt.Sprintf(job, "", "", ""), 2},
		"behind the option":   {fmt.Sprintf(job, "", "", " ; plimsoll: disable=PL103 wanted"), 1},
		"above the option":    {fmt.Sprintf(job, "", "# plimsoll: disable=PL103 wanted\n", ""), 1},
		"above the section":   {fmt.Sprintf(job, "# plimsoll: disable=PL109,PL103 wanted\n", "", ""), 1},
		"another code":        {fmt.Sprintf(job, "# plimsoll: disable=PL104 wanted\n", "", ""), 2},
		"at the top":          {"# plimsoll: disable=PL103 wanted\n\n" + fmt.Sprintf(job, "", "", ""), 0},
		"above a command":     {"# plimsoll: disable=PL103 x\nfio --name=a --rw=read \\\n  --iodepth=8\nfio --name=a --rw=read --iodepth=8\n", 1},
		"behind a command":    {"fio --name=a --rw=read --iodepth=8 # plimsoll: disable=pl103 x\n", 0},
		"in Markdown":         {"# T\n<!-- plimsoll: disable=PL103 x -->\n```\nfio --name=a --iodepth=8\n```\n```\nfio --name=a --iodepth=8\n```\n", 1},
		"top of a script":     {"#!/bin/sh\n# plimsoll: disable=PL103 all of it\n\nfio --name=a --iodepth=8\n", 0},
		"only the next thing": {"#!/bin/sh\n# plimsoll: disable=PL103 this one\nfio --name=a --iodepth=8\nfio --name=a --iodepth=8\n", 1},
	} {
		if got := lint("PL103", c.text); len(got) != c.left {
			t.Errorf("%s: %d findings left, want %d\n%s", name, len(got), c.left, c.text)
		}
	}
}

func TestMend(t *testing.T) {
	for before, want := range map[string]string{
		"fio —name=a —rw=read “--size=9g”\n":                    "fio --name=a --rw=read --size=9g\n",
		"[a]\nrw = randread\nbs=4KiB,8KiB ; KiB\nsize=9g\n":     "[a]\nrw =randread\nbs=4k,8KiB ; KiB\nsize=9g\n",
		"[a]\ngroup-reporting\nrw=read\nio_limit=5g\nsize=9g\n": "[a]\ngroup_reporting\nrw=read\nio_size=5g\nsize=9g\n",
		"\ufeff[a]\nrw=read\nsize=9g\n":                         "[a]\nrw=read\nsize=9g\n",
		"[a]\niodpeth=3\n":                                      "[a]\niodpeth=3\n", // near, not certain
	} {
		c := NewCase(Case{Scripts: []*script.File{script.Parse("x", []byte(before), script.Options{})}})
		if got, _ := Fix(before, Judge(c).Found); got != want {
			t.Errorf("%q becomes %q, want %q", before, got, want)
		}
	}
}

// A refused section ends the reading, and what is behind it is named as not run.
func TestSectionsBehindARefusedOne(t *testing.T) {
	got := lint("PL102", "[a]\nrw=read\niodepth=foo\n[b]\nrw=read\n[c]\nrw=write\n")
	if len(got) != 1 || len(got[0].Evidence) != 1 || got[0].Evidence[0].Found != "2 sections after it: fio reads no further" {
		t.Errorf("%+v: want one finding that says that two sections are not run", got)
	}
	if got = lint("PL102", "[a]\nrw=read\n[b]\niodepth=foo\n"); len(got) != 1 || len(got[0].Evidence) != 0 {
		t.Errorf("%+v: nothing stands behind the last section", got)
	}
}

// What --fix leaves is taken by the fio at hand, which refused it or read it otherwise before.
func TestFixedJobsAreTaken(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NOT TESTED: fio is not installed")
	}
	for _, before := range []string{
		"[a]\nrw = randread\nsize=9m\n", "\ufeff[a]\nrw=read\nsize=9m\n", "[a]\nrw=read\nsize=9m\ndirect=true\n",
		"[a]\nrw=read\nsize=9m\ngroup-reporting\n", "[a]\nrw=read\nsize=9m\nhugepage_size=2m\n",
	} {
		name := filepath.Join(t.TempDir(), "x.fio")
		takes := func(text string) bool {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return exec.CommandContext(t.Context(), "fio", "--parse-only", name).Run() == nil
		}
		c := NewCase(Case{Scripts: []*script.File{script.Parse("x.fio", []byte(before), script.Options{})}})
		fixed, n := Fix(before, Judge(c).Found)
		if n != 1 || takes(before) || !takes(fixed) {
			t.Errorf("%q becomes %q with %d fixes: fio takes the first: %v, the second: %v", before, fixed, n, takes(before), takes(fixed))
		}
	}
}

// A fix is about what is wrong with the line, and no edit is made of a guess.
func TestFixesFitTheirFinding(t *testing.T) {
	for _, c := range []struct {
		code      finding.Code
		text, fix string
		edits     int
	}{
		{"PL102", "fio --name=a --rw=randrw --rwmixread=101\n", "Give a value that fio takes: fio --cmdhelp=rwmixread describes it.", 0},
		{"PL102", "fio --name=a --rw=read --ioengine=http --http_mode=quux\n", "Give a value that fio takes: fio --enghelp=http,http_mode describes it.", 0},
		{"PL102", "[a]\nioengine=libaio\nhipri\n", "Drop it, or write ioengine=pvsync2.", 0},
		{"PL102", "[a]\nrw=read\nsize=1g\nverify=1\n", "Give a value that fio takes: fio --cmdhelp=verify describes it.", 0}, // 0 would verify nothing
		{"PL102", "[a]\nrw=read\nsize=1g\nsync=2\n", "Give a value that fio takes: fio --cmdhelp=sync describes it.", 0},
		{"PL102", "[a]\nrw=read\nfallocate=01\n", "Write fallocate=0, if that is what was meant.", 0},
		{"PL102", "[a]\nrw=read\ndirect=yes\n", "Write direct=1.", 1},
		{"PL102", "[a]\nrw=read\nnumjobs=0\n", "Change it, or what it conflicts with.", 0},
		{"PL102", "[a]\nrw=read\nioengine=sync,psync\n", "Write ioengine=sync, if that is what was meant.", 0},
		{"PL102", "[a]\nrw=read\nioengine=mine\n", "If one of fio's own is meant: fio --enghelp lists them.", 0},
		{"PL124", "[a]\nrw=write\nrwmixcycle=40\n", "Drop it.", 0},
		{"PL124", "[a]\nrw=write\nverify=meta\n", "Write what checks the data, such as verify=crc32c.", 0},
	} {
		got := lint(c.code, c.text)
		if len(got) != 1 || got[0].Fix != c.fix || len(got[0].Edits) != c.edits {
			t.Errorf("%q: %+v\nwant %q and %d edits", c.text, got, c.fix, c.edits)
		}
	}
	got := Judge(NewCase(Case{Scripts: []*script.File{textOf("x.fio", "a: (g=0): rw=randread, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n\n"+
		"a: (groupid=0, jobs=1): err= 0: pid=1\n  read: IOPS=100, BW=400KiB/s\n")}})).Found
	if len(got) != 1 || got[0].Fix != "Pass it to plimsoll import, or give it another extension." {
		t.Errorf("%+v: want a fix for what fio printed", got)
	}
}

// The fix does not ask for what the job has already (review of users, m2).
func TestFixIsNotWhatTheJobHas(t *testing.T) {
	got := lint("PL105", "fio --name=a --rw=randread --size=500m --direct=1\n")
	if len(got) != 1 || strings.Contains(got[0].Fix, "direct=1") {
		t.Errorf("%+v: want a fix that does not say direct=1", got)
	}
	if got = lint("PL105", "fio --name=a --rw=write --size=64m --directory=/d\n"); len(got) != 1 || !strings.Contains(got[0].Fix, "direct=1") {
		t.Errorf("%+v: want a fix that says direct=1", got)
	}
}

// An option before several --name is one option, and what is said of it is said once (review, M1).
func TestWhatJobsShareIsSaidOnce(t *testing.T) {
	for code, text := range map[finding.Code]string{
		"PL128": "fio --bs=4k-64k --rw=randrw --name=a --size=1g --name=b --size=2g\n",
		"PL102": "fio --direct=true --rw=randrw --name=a --size=1g --name=b --size=2g\n",
		"PL104": "fio --ioengine=libaio --iodepth=8 --rw=read --size=9g --name=a --name=b --stonewall\n",
	} {
		if got := lint(code, text); len(got) != 1 {
			t.Errorf("%d findings of %s, want 1: %+v", len(got), code, got)
		}
	}
	if got := lint("PL128", "fio --name=a --bs=4k-64k --name=b --bs=4k-64k\n"); len(got) != 2 {
		t.Errorf("%d findings of two options, want 2", len(got))
	}
}

// The strings of a program are often completed by what stands behind them: nothing is missing in a command then, and a value
// that ends with its string is none.
func TestStringsOfProgramsAreCompleted(t *testing.T) {
	for text, want := range map[string]string{
		"cmd = \"fio --rw=read --size=1g \" \\\n    \"--name=a\"\n":              "",
		"cmd = 'fio --size=1g --directory=' + d + ' --name=a'\n":                 "",
		"cmd = \"fio --rw=read --size=%s\" % size\n":                             "",
		"cmd = 'fio --rw=read --size=1g'\n":                                      "", // and more may be added
		"cmd = \"fio --name=a --iodpeth=4 --rw=read --size=1g \" + more\n":       "PL102",
		"cmd = \"fio --name=a --direct=true --rw=read --size=\" + size + \"\"\n": "PL102",
	} {
		c := NewCase(Case{Scripts: []*script.File{script.Parse("x.py", []byte(text), script.Options{})}})
		got := ""
		for _, f := range Judge(c).Found {
			if f.Severity != finding.Fail {
				continue
			}
			got += string(f.Code)
		}
		if got != want {
			t.Errorf("%s in %q, want %q", got, text, want)
		}
	}
	if got := lint("PL141", "cmd=\"fio --rw=read --size=1g\"\n$cmd\n"); len(got) != 1 {
		t.Errorf("%+v: a shell's string is whole", got)
	}
}

func TestHostileNamesAreTamed(t *testing.T) {
	text := "[a\x1b[31m]\nrw=write\nfilename=/dev/sdb\x1b]0;x\x07\nnumjobs=4\n\x00\xff=1\n"
	c := NewCase(Case{Scripts: []*script.File{script.Parse("x", []byte(text), script.Options{})}})
	for _, f := range Judge(c).Found {
		if strings.ContainsAny(f.Message+f.Fix, "\x1b\x07\x00\n") {
			t.Errorf("%s prints control characters: %q", f.Code, f.Message)
		}
	}
}

// BenchmarkLintThousandJobFiles measures the lint of 1,000 files of four jobs each, reading apart.
func BenchmarkLintThousandJobFiles(b *testing.B) {
	text := []byte("[global]\nioengine=libaio\ndirect=1\ntime_based\nruntime=60\ngroup_reporting\ndirectory=/data\n" +
		"size=10g\n" +
		strings.Repeat("[job]\nstonewall\nrw=randrw\nrwmixread=70\nbs=28k\niodepth=32\nnumjobs=4\nrate=16m,5m\n", 4))
	for b.Loop() {
		start := time.Now()
		c := Case{}
		for i := range 1000 {
			c.Scripts = append(c.Scripts, script.Parse(fmt.Sprintf("job%d.fio", i), text, script.Options{}))
		}
		if got := Judge(NewCase(c)).Found; len(got) == 0 {
			b.Fatal("nothing found")
		}
		b.ReportMetric(time.Since(start).Seconds(), "s/1000files")
	}
}

// Jobs that fio refuses, and trims, once divided by a block size of 0.
func TestOddBlocksAreNoCrash(t *testing.T) {
	for _, c := range []struct {
		code finding.Code
		text string
		says string
	}{
		{"PL106", "[t]\nrw=trim\nbs=4k\nsize=64k\nfilename=/dev/nvme0n1\n", "Each job has a file of 64 KiB: 16 blocks of 4 KiB."},
		{"PL106", "[t]\nrw=trimwrite\nbs=4k,4k,16k\nsize=64k\n", "Each job has a file of 64 KiB: 4 blocks of 16 KiB."},
		{"PL102", "[t]\nrw=read\nbs=0\nsize=64k\n", "fio refuses bs=0: it is out of range (1 at least)."},
	} {
		got := lint(c.code, c.text)
		if len(got) != 1 || got[0].Message != c.says {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

// FuzzLint judges whole documents of every kind: nothing crashes, every finding is at a place that
// exists, and fixes are made once.
func FuzzLint(f *testing.F) {
	for _, r := range Rules() {
		page, _ := finding.PageOf(r.Code)
		f.Add("x", page.Says("Bad"))
		f.Add("x.md", "# t\n```\n"+page.Says("Bad")+"\n```\n")
	}
	f.Add("x.fio", "[t]\nrw=trim\nbs=0\nsize=64k\nfilename=/dev/nvme0n1\n")
	f.Add("x.sh", "OPTS='--bs=4KiB'\nfio —name=a $OPTS \"$(fio --name=b `fio c.fio`)\"\n")
	f.Add("x.md", "```\nmdadm -C /dev/md0 -l10 -n4 a b\nmkfs.xfs -d su=64k,sw=8 /dev/md0\nfio --name=a --filename=/dev/md0 --bs=28k\n```\n")
	f.Add("x.yml", "- shell: fio --name=a --rw=read\n- run: |\n    fio --name={{ b }}\n")
	bounded.Fuzz(f, func(t *testing.T, name, text string) {
		text = text[:min(len(text), 300)] // larger ones make a fuzzer slow and find no more
		file := script.Parse(name, []byte(text), script.Options{})
		found := Judge(NewCase(Case{Scripts: []*script.File{file}})).Found
		lines := strings.Count(text, "\n") + 1
		for _, f := range found {
			if f.Line < 1 || f.Line > lines || f.Col < 1 {
				t.Fatalf("%s at %d:%d of %d lines: %s", f.Code, f.Line, f.Col, lines, f.Message)
			}
		}
		Fix(text, found)
	})
}

// A line of a job file that looks like [global] and is none to fio has its finding, and its repair where one is certain.
func TestSectionsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"[global\nsize=1g\n[a]\nrw=read\n": `[global has no ] at its end: fio drops the last character and reads a job named "globa", whose options reach no other.`,
		"[a]G\nrw=read\nsize=1g\n":         `[a]G does not end with ]: fio takes all of the line but its last character, and reads a job named "a]".`,
		"[a] rw=read\nsize=1g\n":           `[a] rw=read does not end with ]: fio takes all of the line but its last character, and reads a job named "a] rw=rea".`,
	} {
		c := NewCase(Case{Scripts: []*script.File{script.Parse("a.fio", []byte(text), script.Options{})}})
		found := slices.DeleteFunc(Judge(c).Found, func(f finding.Finding) bool { return f.Code != "PL128" })
		if len(found) != 1 || found[0].Message != want || found[0].Line != 1 ||
			(found[0].Severity == "warning") != strings.HasPrefix(text, "[a]G") {
			t.Errorf("%s: %+v", text, found)
			continue
		}
		fixed, n := Fix(text, found)
		if n == 1 && !strings.HasPrefix(fixed, "[global]\n") || (n == 1) != strings.HasPrefix(text, "[global") {
			t.Errorf("%d fixes: %s", n, fixed)
		}
	}
}

// A log option that takes the next option for its name is an error, and the sentence says what happens.
func TestLogOptionSwallowsTheNext(t *testing.T) {
	got := lint("PL156", "fio --name=a --filename=/mnt/x --write_bw_log --rw=randwrite --size=10g\n")
	if len(got) != 1 || got[0].Severity != finding.Fail || !strings.Contains(got[0].Message, "fio takes --rw=randwrite for it") {
		t.Errorf("%+v", got)
	}
	if got := lint("PL156", "fio --name=a --filename=/mnt/x --write_bw_log=a--rw=write --rw=write --size=1g\n"); len(got) != 1 || got[0].Severity != finding.Info {
		t.Errorf("a name of a log: %+v", got)
	}
}
