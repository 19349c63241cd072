package fio

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// Workload is what a fio job asks of the storage, worked out from its options: the input of the
// ceiling model and of most rules. One Workload stands for numjobs identical jobs.
type Workload struct {
	Name   string
	Engine string // ioengine
	Direct bool
	// ReadShare is the part of I/Os that read, 0..1; TrimShare the part that trims.
	ReadShare, TrimShare float64
	// Mixed says that rw= is a mix, if only of reads: fio then opens its files to write, and zones and
	// the engine mmap change what is there (zbd.c, engines/mmap.c).
	Mixed bool `json:"-"`
	// Sequential is true for read, write, rw (and trim) without rand.
	Sequential bool
	// ReadBS and WriteBS are mean block sizes; 0 when the direction does not run.
	ReadBS, WriteBS units.Bytes
	// TrimBS is the mean size of a trim; 0 when the job trims nothing.
	TrimBS units.Bytes
	// ReadLeast and WriteLeast are the smallest blocks of a direction whose blocks have several
	// sizes: those that rate_iops is counted in. 0 when all have one size.
	ReadLeast, WriteLeast units.Bytes
	// ReadSizes and WriteSizes are the blocks of a direction that has several sizes, nil where all
	// are ReadBS or WriteBS.
	ReadSizes, WriteSizes Sizes `json:",omitempty"`
	// ReadAlign and WriteAlign are what random offsets are multiples of (blockalign=), 0 for the
	// smallest block of the direction.
	ReadAlign, WriteAlign units.Bytes `json:",omitempty"`
	// Jobs is numjobs, Depth the iodepth of each; a synchronous engine keeps Depth 1 whatever
	// iodepth says.
	Jobs, Depth int
	// DepthAsked is iodepth where a synchronous engine ignores it, else 0.
	DepthAsked int `json:",omitempty"`
	// DepthOpen says that nothing names the depth of an import, and Depth is fio's default.
	DepthOpen bool `json:",omitempty"`
	// Polls says that the job spins for its completions (hipri, sqthread_poll).
	Polls bool `json:",omitempty"`
	// SyncEvery is 1 when each write is followed by SyncCall, fsync or fdatasync ("" in bundles of
	// earlier versions), n for every n-th, 0 for none.
	SyncEvery int
	SyncCall  string `json:",omitempty"`
	// O_SYNC or O_DSYNC writes (sync=1, sync=dsync).
	SyncWrites bool
	// ReadRate, WriteRate are limits of each job (rate=), 0 for none; ReadIOPS, WriteIOPS likewise
	// (rate_iops=).
	ReadRate, WriteRate units.Rate
	ReadIOPS, WriteIOPS units.IOPS
	// Size is the region that each job works in; 0 when not given. SharedFile says that the jobs
	// use one file (filename=), and OffsetIncrement how far apart they start there.
	Size            units.Bytes
	SharedFile      bool
	OffsetIncrement units.Bytes
	Filename        string
	Directory       string
	TimeBased       bool
	Runtime, Ramp   time.Duration
	StartDelay      time.Duration
	Stonewall       bool
	NewGroup        bool
	ThinkTime       time.Duration
	Buffered        bool // direct=0
	VerifyOn        bool
	PreRead         bool // the files are read into memory before (pre_read=1)
	KeepCache       bool // what memory holds of the files is kept (invalidate=0)
	// EndSync says that what the job wrote was synced at its end (end_fsync, fsync_on_close).
	EndSync bool `json:",omitempty"`
}

// SizeShare is a size of blocks and the share of I/Os that have it, 0..1.
type SizeShare struct {
	Size  units.Bytes
	Share float64
}

// Sizes are the blocks of one direction; the shares sum to 1.
type Sizes []SizeShare

// Mean is the mean size of an I/O.
func (s Sizes) Mean() units.Bytes {
	mean := 0.0
	for _, x := range s {
		mean += float64(x.Size) * x.Share
	}
	return units.Bytes(math.Round(mean))
}

// several are the sizes where there is more than one.
func (s Sizes) several() Sizes {
	for _, x := range s {
		if x.Size != s[0].Size {
			return s
		}
	}
	return nil
}

// leastOfSeveral is the smallest size, 0 where there is only one.
func (s Sizes) leastOfSeveral() units.Bytes {
	if s.several() == nil {
		return 0
	}
	least := s[0].Size
	for _, x := range s {
		least = min(least, x.Size)
	}
	return least
}

// Blocks are the sizes of a direction and what their offsets are multiples of: of sequential ones
// the greatest common divisor of the sizes, of random ones what fio aligns them to.
func (w Workload) Blocks(read bool) (sizes Sizes, align units.Bytes) {
	sizes, align = w.WriteSizes, w.WriteAlign
	bs := w.WriteBS
	if read {
		sizes, align, bs = w.ReadSizes, w.ReadAlign, w.ReadBS
	}
	if len(sizes) == 0 {
		if bs == 0 {
			return nil, 0
		}
		sizes = Sizes{{bs, 1}}
	}
	if align > 0 && !w.Sequential {
		return sizes, align
	}
	align = sizes[0].Size
	for _, x := range sizes {
		if w.Sequential {
			align = gcd(align, x.Size)
		} else {
			align = min(align, x.Size)
		}
	}
	return sizes, align
}

func gcd(a, b units.Bytes) units.Bytes {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// InFlight is the most I/Os that the workload keeps outstanding at once.
func (w Workload) InFlight() int { return max(w.Jobs, 1) * max(w.Depth, 1) }

// LargestBlock is the largest size of an I/O.
func (w Workload) LargestBlock() units.Bytes {
	most := max(w.ReadBS, w.WriteBS)
	for _, s := range slices.Concat(w.ReadSizes, w.WriteSizes) {
		most = max(most, s.Size)
	}
	return most
}

// SmallestBlock is the smallest size of an I/O.
func (w Workload) SmallestBlock() units.Bytes {
	least := units.Bytes(0)
	for _, size := range []units.Bytes{
		cmp.Or(w.ReadLeast, w.ReadBS), cmp.Or(w.WriteLeast, w.WriteBS), w.TrimBS,
	} {
		if size > 0 && (least == 0 || size < least) {
			least = size
		}
	}
	return least
}

// HeldIOPS are the rates that rate_iops holds the job to. fio turns the rate into bytes by the
// smallest block (backend.c, setup_rate), so that a job with blocks of several sizes is held to
// less than it asks for.
func (w Workload) HeldIOPS() (read, write units.IOPS) {
	held := func(asked units.IOPS, least, mean units.Bytes) units.IOPS {
		if asked == 0 || least == 0 || mean <= least {
			return asked
		}
		return asked * units.IOPS(float64(least)/float64(mean))
	}
	return held(w.ReadIOPS, w.ReadLeast, w.ReadBS), held(w.WriteIOPS, w.WriteLeast, w.WriteBS)
}

// Ends is when jobs that start together stop issuing I/O, counted from their start without ramps.
// It is not known where one of them ends by its size, or waits for those before it (stonewall).
func Ends(loads []Workload) (end time.Duration, known bool) {
	for i, w := range loads {
		if !w.TimeBased || w.Runtime == 0 || i > 0 && w.Stonewall {
			return 0, false
		}
		end = max(end, w.StartDelay+w.Runtime)
	}
	return end, len(loads) > 0
}

// Files are the paths of filename=, of which there may be several, separated by colons; none when
// fio names them itself.
func (w Workload) Files() (files []string) {
	const escaped = "\x00" // stands for \: which is part of a name
	for name := range strings.SplitSeq(strings.ReplaceAll(w.Filename, `\:`, escaped), ":") {
		if name != "" {
			files = append(files, strings.ReplaceAll(name, escaped, ":"))
		}
	}
	return files
}

// Reads says whether the workload reads.
func (w Workload) Reads() bool { return w.ReadShare > 0 }

// Writes says whether the workload writes.
func (w Workload) Writes() bool { return w.ReadShare+w.TrimShare < 1 }

// RW is fio's word for what the job does: read, randrw, trimwrite.
func (w Workload) RW() string {
	word := "rw"
	switch {
	case w.TrimShare >= 1:
		word = "trim"
	case w.TrimShare > 0:
		word = "trimwrite"
	case !w.Writes():
		word = "read"
	case !w.Reads():
		word = "write"
	}
	if !w.Sequential {
		return "rand" + word
	}
	return word
}

// Paced says that a job limits itself (rate=, rate_iops=, thinktime=), so that idle moments are its
// own.
func (w Workload) Paced() bool {
	return w.ReadRate > 0 || w.WriteRate > 0 || w.ReadIOPS > 0 || w.WriteIOPS > 0 || w.ThinkTime > 0
}
