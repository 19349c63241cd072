package lab_test

import (
	"os"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"testing"
)

func TestScratch(t *testing.T) {
	text, _ := os.ReadFile(os.Getenv("SCRATCH_SPEC"))
	s, err := lab.ParseSpec("scratch", text)
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, s)
	sh, _ := os.ReadFile(os.Getenv("SCRATCH_SH"))
	r, err := g.Bash(t.Context(), string(sh))
	for _, v := range g.Volumes {
		t.Logf("%+v", v.Stats())
	}
	t.Logf("%d %v\n%s\n%s", r.Code, err, r.Stdout, r.Stderr)
}
