package array

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/provision"
	"plimsoll/internal/text"
)

// What a step of a journal is called is shown while it is undone: all of it, on its line, and steering nothing.
func TestEventsSteerNoScreen(t *testing.T) {
	var said bytes.Buffer
	show := provisionView(&form.Env{Err: &said, Out: io.Discard}, false)
	steer := func(name string) string { return name + "\x1b[2J\nplimsoll: all is well\r\u202e" + name }
	show(provision.Event{Array: steer("a1"), Title: steer("t1"), What: provision.Undoing})
	show(provision.Event{Array: steer("a2"), Title: steer("t2"), What: provision.Undoing, Step: 1, Steps: 2})
	got := string(text.Harmless(said.Bytes()))
	for _, name := range []string{"a1", "t1", "a2", "t2"} {
		if !strings.Contains(got, name) {
			t.Errorf("%s is not shown: %q", name, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\r\u202e") || strings.Contains(got, "\nplimsoll: all is well") {
		t.Errorf("a title steers the screen: %q", got)
	}
}
