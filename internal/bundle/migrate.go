package bundle

import (
	"bytes"
	"encoding/json"
)

// renamed are the fields that have other names in schema 1, by the path of the object that holds
// them; "*" is any key or index.
var renamed = []struct {
	path     []string
	old, now string
}{
	{[]string{"suite", "scenarios", "*"}, "targets", "thresholds"},
	{[]string{"ceilings", "*", "bounds", "*"}, "lasts", "burst_for"},
	{[]string{"depth"}, "told", "note"},
}

// migrate brings a document of schema 1, a run.json or a result.json, to today's field names.
func migrate(data []byte) ([]byte, error) {
	old := false
	for _, r := range renamed {
		old = old || bytes.Contains(data, []byte(`"`+r.old+`"`))
	}
	if !old {
		return data, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // nanoseconds since 1970 do not fit a float64
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	for _, r := range renamed {
		rename(tree, r.path, r.old, r.now)
	}
	return json.Marshal(tree)
}

func rename(tree any, path []string, old, now string) {
	object, isObject := tree.(map[string]any)
	if len(path) == 0 {
		if v, ok := object[old]; ok && object[now] == nil {
			object[now] = v
			delete(object, old)
		}
		return
	}
	list, _ := tree.([]any)
	switch {
	case path[0] == "*" && isObject:
		for _, v := range object {
			rename(v, path[1:], old, now)
		}
	case path[0] == "*":
		for _, v := range list {
			rename(v, path[1:], old, now)
		}
	case isObject:
		rename(object[path[0]], path[1:], old, now)
	}
}
