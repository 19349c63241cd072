package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

func writeFile(name string, data []byte) error { return sys.WriteFile(name, data, 0o644) }

func writeJSON(name string, v any) error {
	data, err := jsonText(name, v)
	if err != nil {
		return err
	}
	return writeFile(name, data)
}

// jsonText is a record's text; an error names the record.
func jsonText(name string, v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return append(text.HarmlessJSON(data), '\n'), nil
}

// readJSON leaves v alone when there is no such file and says so.
func readJSON(name string, v any) (found bool, err error) {
	data, err := sys.ReadFile(name, sys.JSONLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}
