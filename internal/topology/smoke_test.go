package topology_test

import (
	"encoding/json"
	"os"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"testing"
)

func TestSmoke(t *testing.T) {
	top, err := topology.Detect(t.Context(), sys.Host(), map[topology.Role]string{"data": ".", "wal": "/dev/shm"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	top.Tree = nil
	out, _ := json.MarshalIndent(top, "", " ")
	if os.Getenv("SHOW") != "" {
		t.Logf("%s", out)
	}
}
