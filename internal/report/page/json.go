package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Schema is the version of every JSON document that plimsoll prints. docs/schema/report.schema.json
// describes the report; fields may be added within a version.
const Schema = 2

// DataOf is a document's data under a name: see WriteJSON.
func DataOf(name string, v any) func(io.Writer) error {
	return func(w io.Writer) error { return WriteJSON(w, name, v) }
}

// WriteJSON prints v as a document of its own: an object with schema_version first. A list becomes
// the object's field name.
func WriteJSON(w io.Writer, name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	switch {
	case bytes.Equal(body, []byte("null")): // an empty list
		body = fmt.Appendf(nil, "{%q:[]}", name)
	case body[0] != '{':
		body = fmt.Appendf(nil, "{%q:%s}", name, body)
	}
	fields := bytes.TrimPrefix(body, []byte("{"))
	comma := ","
	if bytes.Equal(fields, []byte("}")) {
		comma = ""
	}
	return encode(w, json.RawMessage(fmt.Sprintf(`{"schema_version":%d%s%s`, Schema, comma, fields)))
}

// encode prints v indented.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Number is a float in a chart's data with five significant digits, null for what was not measured:
// half the bytes of encoding/json's and more than a chart can show.
type Number float64

// Missing is a number that was not measured.
func Missing() Number { return Number(math.NaN()) }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', 5, 64), nil
}
