package page

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

type inner struct {
	Hidden string `json:"name"` // by the outer one
	Deep   units.Bytes
}

type pointed struct {
	Far int `json:"far"`
}

// allKinds has each kind of field that a document has.
type allKinds struct {
	inner
	*pointed

	Name     string                   `json:"name"`
	Took     time.Duration            `json:"took"`
	Each     []units.Latency          `json:"each"`
	By       map[int]*units.Rate      `json:"by"`
	IOPS     units.IOPS               `json:"read_iops"`
	Flushes  units.IOPS               `json:"flushes"`
	Moved    units.Bytes              `json:"bytes"`
	Burst    units.Bytes              `json:"burst_bytes,omitempty"`
	Ticks    int                      `json:"ticks" unit:"ms"`
	When     time.Time                `json:"when,omitzero"`
	Never    time.Time                `json:"never,omitzero"`
	Nothing  []string                 `json:"nothing"`
	Left     []string                 `json:"left,omitempty"`
	Raw      json.RawMessage          `json:"raw"`
	Bytes    []byte                   `json:"data"`
	Any      any                      `json:"any"`
	Nil      *pointed                 `json:"nil"`
	Hist     fio.Hist                 `json:"hist"`
	Estimate stats.Estimate           `json:"estimate"`
	Words    map[string]any           `json:"words"`
	Array    [2]bool                  `json:"array"`
	Times    map[string]time.Duration `json:"times"`
	secret   string
	Not      string `json:"-"`
	GoName   int
}

func aKind() *allKinds {
	rate := units.Rate(2.5)
	k := &allKinds{
		inner: inner{"no", 7}, Name: "<a & b>\u2028\x01", Took: 3, Each: []units.Latency{1, 2.5}, By: map[int]*units.Rate{10: &rate, 9: nil},
		IOPS: 1.5, Flushes: 2, Moved: 4, Ticks: 5, When: time.Unix(1, 0).UTC(), Raw: json.RawMessage(`{"took":1}`), Bytes: []byte{1, 255},
		Any: struct{ Took time.Duration }{9}, Estimate: stats.Estimate{Center: 1, N: 1}, Words: map[string]any{"z": 1, "a<": "x"},
		Array: [2]bool{true, false}, Times: map[string]time.Duration{"x": 1}, secret: "s", Not: "n",
	}
	k.Hist.Add(3, 4)
	return k
}

// The oracle is encoding/json: the values and their order are its own, and only names differ.
func TestMarshalDiffersInNamesOnly(t *testing.T) {
	k := aKind()
	got, err := Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	for name, plain := range map[string]string{
		"took_ns": "took", "each_ns": "each", "by_bytes_per_s": "by", "flushes_per_s": "flushes", "ticks_ms": "ticks", "times_ns": "times",
		"go_name": "GoName", "deep_bytes": "Deep",
	} {
		if !strings.Contains(text, `"`+name+`":`) {
			t.Errorf("no %s in %s", name, text)
		}
		text = strings.ReplaceAll(text, `"`+name+`":`, `"`+plain+`":`)
	}
	text = strings.Replace(text, `"any":{"took":9}`, `"any":{"Took":9}`, 1)
	var a, b any
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(b, a); d != "" {
		t.Error(d)
	}
	if bytes.ContainsAny(got, "<>&\x01") {
		t.Errorf("not escaped: %s", got)
	}
}

func TestMarshalSaysWhatItCannotWrite(t *testing.T) {
	_, err := Marshal(map[string][]struct{ Far float64 }{"a": {{math.NaN()}}})
	if err == nil || !strings.Contains(err.Error(), "far") {
		t.Errorf("%v, want an error that names the field", err)
	}
}

func TestFieldsNameUnits(t *testing.T) {
	names := map[string]Field{}
	for _, f := range Fields(reflect.TypeFor[allKinds]()) {
		names[f.Name] = f
	}
	for _, name := range []string{"name", "read_iops", "bytes", "burst_bytes", "estimate", "hist", "far"} {
		if _, ok := names[name]; !ok {
			t.Errorf("no %s among %q", name, slices.Sorted(maps.Keys(names)))
		}
	}
	if !names["far"].Through || names["name"].Through || names["name"].In != "page.allKinds" || names["deep_bytes"].In != "page.inner" {
		t.Errorf("%+v", names)
	}
	for in, want := range map[string]string{"ReadIOPS": "read_iops", "ID": "id", "P99": "p99", "IOPSWrite": "iops_write", "": ""} {
		if got := snake(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}
