package block_test

import (
	"encoding/json"
	"os"
	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"testing"
)

func TestThisMachine(t *testing.T) {
	tree, err := block.Read(sys.Host())
	if err != nil {
		t.Fatal(err)
	}
	out, _ := json.MarshalIndent(tree, "", " ")
	if os.Getenv("SHOW") != "" {
		t.Logf("%s", out)
	}
}
