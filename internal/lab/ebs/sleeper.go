package ebs

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper calls functions at given times. Go's timers are up to a millisecond late when the program
// is idle; a thread in ppoll with a timer slack of 1 ns is late by some 50 µs, against latencies of
// 500 µs to be shown.
type sleeper struct {
	base time.Time
	wake int // eventfd

	mu     sync.Mutex
	due    []event // the next first
	closed bool
	done   chan struct{}
}

type event struct {
	at float64 // seconds since base
	do func()  // must not block
}

func newSleeper() (*sleeper, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	s := &sleeper{base: time.Now(), wake: fd, done: make(chan struct{})}
	go s.loop()
	return s, nil
}

func (s *sleeper) now() float64 { return time.Since(s.base).Seconds() }

// at calls do at the time given, in seconds since base; at once when that is over.
func (s *sleeper) at(when float64, do func()) {
	if when <= s.now() {
		do()
		return
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	i, _ := slices.BinarySearchFunc(s.due, when, func(e event, at float64) int { return cmp.Compare(e.at, at) })
	s.due = slices.Insert(s.due, i, event{when, do})
	s.mu.Unlock()
	if i == 0 {
		s.kick()
	}
}

func (s *sleeper) kick() {
	_, _ = unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // full means that a wake-up is pending
}

func (s *sleeper) close() {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if !was {
		s.kick()
		<-s.done
	}
}

func (s *sleeper) loop() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its timer slack
	defer close(s.done)
	defer unix.Close(s.wake) //nolint:errcheck // nobody waits for it any more
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	var counter [8]byte
	for {
		s.mu.Lock()
		for !s.closed && len(s.due) > 0 && s.due[0].at <= s.now() {
			do := s.due[0].do
			s.due = slices.Delete(s.due, 0, 1)
			s.mu.Unlock()
			do()
			s.mu.Lock()
		}
		if s.closed {
			s.mu.Unlock()
			return
		}
		wait := time.Hour
		if len(s.due) > 0 {
			wait = time.Duration((s.due[0].at - s.now()) * 1e9)
		}
		s.mu.Unlock()
		if wait <= 0 {
			continue
		}
		timeout := unix.NsecToTimespec(wait.Nanoseconds())
		fds := []unix.PollFd{{Fd: int32(s.wake), Events: unix.POLLIN}}
		if n, _ := unix.Ppoll(fds, &timeout, nil); n > 0 {
			_, _ = unix.Read(s.wake, counter[:])
		}
	}
}
