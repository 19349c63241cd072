package sys

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// noPID is above every pid_max.
const noPID = 1 << 30

// A child that SIGKILL does not end, as one that sleeps in the kernel, is given up, whatever it was
// stopped for.
func TestChildThatIsNotKilled(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		limit time.Duration
		is    func(error) bool
	}{
		"its time is over": {t.Context(), time.Millisecond, func(err error) bool {
			_, late := errors.AsType[*Late](err)
			return late
		}},
		"interrupted": {canceled, time.Hour, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		s := &Started{PID: noPID, Start: 1, errs: &Tail{}, ended: make(chan struct{})}
		got := make(chan error, 1)
		go func() {
			_, err := s.attend(c.ctx, []string{"/bin/postgres"}, c.limit, 10*time.Millisecond)
			got <- err
		}()
		select {
		case err := <-got:
			alive, ok := errors.AsType[*Alive](err)
			if !ok || alive.Still(0) || !c.is(err) ||
				!strings.Contains(err.Error(), "postgres does not end after SIGKILL") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: waits for ever", name)
		}
	}
}

// A child that can be killed is, and its output is whole.
func TestChildThatIsKilled(t *testing.T) {
	var out bytes.Buffer
	c := Child{
		Argv: []string{"/bin/sh", "-c", "trap '' INT; echo begun; while :; do sleep 1; done"}, Dir: "/", Out: &out,
		UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()),
	}
	s, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.attend(t.Context(), c.Argv, 300*time.Millisecond, 300*time.Millisecond)
	late, isLate := errors.AsType[*Late](err)
	failed, ended := errors.AsType[*Failed](err)
	if !isLate || late.Alive != nil || !ended || failed.Signal == 0 || out.String() != "begun\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// What a program of PostgreSQL's prints without end, on either stream, does not fill the memory, and ends it where it
// is read as an answer.
func TestChildThatPrintsForEver(t *testing.T) {
	c := Child{
		Argv: []string{"/bin/sh", "-c", "yes 'not a version'"}, Dir: "/", UID: uint32(os.Geteuid()),
		GID: uint32(os.Getegid()),
	}
	out, err := c.Output(t.Context(), time.Hour)
	if !errors.Is(err, errFlood) || len(out) > OutputLimit || !strings.Contains(err.Error(), "sh: ") {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	c.Argv[2] = "yes 'an error' | head -c 64M >&2; echo 15.1"
	if out, err = c.Output(t.Context(), time.Hour); err != nil || out != "15.1\n" {
		t.Errorf("%q, %v", out, err)
	}
}
