package fio

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// EngineKind is what an ioengine does to storage.
type EngineKind string

// The kinds of engines, as engines.tsv explains them.
const (
	EngineData    EngineKind = "data"
	EngineFiles   EngineKind = "files"
	EngineMoves   EngineKind = "moves"
	EngineNone    EngineKind = "none"
	EngineMemory  EngineKind = "memory"
	EngineNetwork EngineKind = "network"
	EngineProgram EngineKind = "program"
	EngineOther   EngineKind = "" // of those that are not in the table
)

// IOURing is the engine that advice names.
const IOURing = "io_uring"

type engineFact struct {
	kind EngineKind
	one  bool // one I/O in flight, whatever iodepth says
}

//go:embed engines.tsv
var engineText string

// engineFacts has an entry for each engine whose doing is known.
var engineFacts = sync.OnceValue(func() map[string]engineFact {
	table := map[string]engineFact{}
	for line := range strings.Lines(engineText) {
		if col := strings.Split(strings.TrimSpace(line), "\t"); len(col) == 4 && !strings.HasPrefix(line, "#") {
			table[col[0]] = engineFact{EngineKind(col[1]), col[2] == "one"}
		}
	}
	return table
})

// KindOf is what an ioengine does to storage.
func KindOf(engine string) EngineKind { return engineFacts()[engine].kind }

// Synchronous says whether an ioengine keeps one I/O in flight and ignores iodepth.
func Synchronous(engine string) bool { return engineFacts()[engine].one }

// Diskless says whether an ioengine works on no file at all, whatever filename= and directory= say.
func Diskless(engine string) bool { return KindOf(engine) == EngineNone }

var inMemory = regexp.MustCompile(
	`^(?:/dev/)?(?:nullb|z?ram)[0-9]+(?:p[0-9]+)?$|^/(?:dev|run)/shm(?:/|$)|/(?:tmpfs|ramfs|(?i:ram-?disk))(?:/|$)`,
)

// InMemory says whether the path of a file, or the kernel's name of a device, is of memory that stands in for a drive.
func InMemory(path string) bool { return inMemory.MatchString(path) }

// MovesData says whether an ioengine moves data to or from storage as rw= says, as far as is known:
// true for engines that are not in the table.
func MovesData(engine string) bool {
	kind := KindOf(engine)
	return kind == EngineData || kind == EngineOther
}

// UsesPageCache says whether an ioengine is known to move its data through the page cache where
// direct I/O is not asked for. Mapped persistent memory has no page cache.
func UsesPageCache(engine string) bool { return KindOf(engine) == EngineData && engine != "libpmem" }
