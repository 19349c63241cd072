package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// floors are the rooms of docs/architecture.md, top to bottom: a room imports only what stands
// below it. Rooms on one line may not import each other.
var floors = []string{
	"cli",
	"fleet",
	"lab",
	"report",
	"bench postgres provision tune",
	"permit",
	"compare",
	"bundle",
	"advise",
	"verdict",
	"lint diagnose",
	"finding",
	"ceiling",
	"result",
	"suite",
	"workload",
	"script",
	"topology",
	"telemetry",
	"host",
	"cloud",
	"block",
	"fio",
	"stats sys yamlfile",
	"text",
	"units",
}

// doors: what leads outside is opened in one room.
var doors = map[string]string{
	"os/exec":                  "sys lab/labtest",
	"html/template":            "report",
	"github.com/spf13/cobra":   "cli",
	"github.com/jackc/pgx/v5":  "postgres",
	"charm.land/bubbletea/v2":  "cli",
	"mvdan.cc/sh/v3/syntax":    "script",
	"github.com/goccy/go-yaml": "yamlfile",
}

func TestRoomsKeepTheirPlaces(t *testing.T) {
	rank := map[string]int{}
	for i, floor := range floors {
		for room := range strings.FieldsSeq(floor) {
			rank[room] = len(floors) - i
		}
	}
	files, err := filepath.Glob("../../internal/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources found", err)
	}
	// A side room, such as lab/ebs, has its room's floor.
	side, err := filepath.Glob("../../internal/*/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, side...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		place, err := filepath.Rel("../../internal", filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		room, _, aside := strings.Cut(place, "/")
		if rank[room] == 0 {
			t.Errorf("%s: room %q is not in the list", file, room)
		}
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range src.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if rooms, ok := doors[imp]; ok && !strings.Contains(" "+rooms+" ", " "+place+" ") {
				t.Errorf("%s imports %s: only %s may", file, imp, rooms)
			}
			to, ok := strings.CutPrefix(imp, "plimsoll/internal/")
			if !ok {
				continue
			}
			below, _, toSide := strings.Cut(to, "/")
			own := below == room && (toSide || aside && place == "lab/labtest") // a guest for tests is a whole one
			if rank[below] >= rank[room] && !own {
				t.Errorf("%s imports %s, which is not below it", file, to)
			}
			if to == "lab/labtest" {
				t.Errorf("%s imports %s, which is for tests", file, to)
			}
		}
	}
}
