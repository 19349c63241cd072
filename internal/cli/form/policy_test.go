package form

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// An invalid measurement never ends with 3.
func TestFailOnPromisesNoThreeForInvalid(t *testing.T) {
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	(&PolicyOptions{}).AddFlags(f)
	three, _, _ := strings.Cut(f.Lookup("fail-on").Usage, ";")
	if strings.Contains(three, "invalid") || !strings.Contains(three, "with 3 on") {
		t.Error(three)
	}
}
