// Package bounded bounds what each case of a fuzz target may cost. It is for tests only.
package bounded

import (
	"flag"
	"fmt"
	"reflect"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	// mostCPU and mostMemory are what docs/safety.md promises of 1 MB of input. Memory is all that a case allocates,
	// which is more than what it has at once.
	mostCPU    = time.Second
	mostMemory = 64 << 20
)

// Fuzz is f.Fuzz, in which a case fails that takes more than 1 s of CPU time or allocates more than 64 MiB. One
// that never ends is ended. Where the target does not fuzz, and only runs its seeds beside other tests,
// nothing is measured: CPU time and memory are those of the process.
func Fuzz(f *testing.F, target any) {
	f.Helper()
	if !fuzzes() {
		f.Fuzz(target)
		return
	}
	w := &watch{ended: make(chan struct{})}
	f.Cleanup(func() { close(w.ended) })
	go w.look()
	v := reflect.ValueOf(target)
	f.Fuzz(reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
		t, ok := reflect.TypeAssert[*testing.T](args[0])
		if !ok {
			f.Fatal("the target's first argument is not a *testing.T")
		}
		before := spent()
		w.began.Store(&before)
		result := v.Call(args)
		w.began.Store(nil)
		if beyond := spent().beyond(before); beyond != "" {
			t.Error(beyond)
		}
		return result
	}).Interface())
}

// fuzzes says whether this process tries new inputs.
func fuzzes() bool {
	worker := flag.Lookup("test.fuzzworker")
	return worker != nil && worker.Value.String() == "true"
}

// cost is what the process has spent.
type cost struct {
	cpu       time.Duration
	allocated uint64 // bytes
}

func spent() cost {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return cost{time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), sample[0].Value.Uint64()}
}

// beyond says which limit was passed since; it is empty where none was.
func (c cost) beyond(since cost) string {
	if cpu := c.cpu - since.cpu; cpu > mostCPU {
		return fmt.Sprintf("this case took %s of CPU time: more than %s", cpu, mostCPU)
	}
	if memory := c.allocated - since.allocated; memory > mostMemory {
		return fmt.Sprintf("this case allocated %d MiB: more than %d", memory>>20, mostMemory>>20)
	}
	return ""
}

// watch ends a case that does not end by itself.
type watch struct {
	began atomic.Pointer[cost] // when the case that runs began; nil between cases
	ended chan struct{}
}

// look panics when the case that runs is beyond a limit, by which the fuzzer learns of it.
func (w *watch) look() {
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-w.ended:
			tick.Stop()
			return
		case <-tick.C:
		}
		began := w.began.Load()
		if began == nil {
			continue
		}
		if beyond := spent().beyond(*began); beyond != "" && w.began.Load() == began {
			panic(beyond)
		}
	}
}
