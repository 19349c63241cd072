package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"plimsoll/internal/provision/records"
)

func (s *state) lvmHolds(ctx context.Context, c records.Cond) (bool, error) {
	mine := s.members()
	rows, err := s.lvm(ctx, "pvs", "pv_name,vg_name")
	if err != nil {
		return false, err
	}
	has := false
	for _, r := range rows {
		d := s.tree.Device(r["pv_name"])
		if c.Is == "pv" {
			if want, err := s.device(c.Of); err == nil && d != nil && d.Name == want.Name {
				return r["vg_name"] == "" || r["vg_name"] == c.Want, nil
			}
			continue
		}
		if r["vg_name"] != s.w.Want.Group {
			continue
		}
		if d == nil || !mine[d.Name] {
			return false, fmt.Errorf("volume group %s also lies on %s, which is not plimsoll's: take it out first (vgreduce)",
				r["vg_name"], r["pv_name"])
		}
		has = true
	}
	if c.Is != "lv" || !has {
		return has, nil
	}
	rows, err = s.lvm(ctx, "lvs", "lv_name,lv_active", s.w.Want.Group)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(rows, func(r map[string]string) bool {
		return r["lv_name"] == s.w.Array && (c.Want == "any" || r["lv_active"] == "active")
	}), nil
}

// lvmSync is how much of a logical volume is synchronised, from 0 to 1.
func (s *state) lvmSync(ctx context.Context) (float64, error) {
	rows, err := s.lvm(ctx, "lvs", "lv_name,sync_percent", s.w.Want.Group)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if r["lv_name"] == s.w.Array {
			var p float64
			if _, err := fmt.Sscan(r["sync_percent"], &p); err != nil {
				return 1, nil //nolint:nilerr // what has no copies shows nothing
			}
			return p / 100, nil
		}
	}
	return 0, fmt.Errorf("%s %w", s.w.Top(), errGone)
}

// lvm asks for a report as JSON (lvmreport(7)) and returns its rows.
func (s *Site) lvm(ctx context.Context, command, fields string, names ...string) ([]map[string]string, error) {
	argv := append(
		[]string{command, "--reportformat", "json", "--units", "b", "--nosuffix", "--options", fields},
		names...)
	out, err := s.Output(ctx, argv...)
	if err != nil {
		return nil, err
	}
	return parseReport(out)
}

// has says whether a row of a report has such a value.
func has(rows []map[string]string, field, value string) bool {
	return slices.ContainsFunc(rows, func(r map[string]string) bool { return r[field] == value })
}

func parseReport(out string) ([]map[string]string, error) {
	var doc struct {
		Report []map[string][]map[string]string `json:"report"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		return nil, fmt.Errorf("lvm's report: %w", err)
	}
	var rows []map[string]string
	for _, r := range doc.Report {
		for _, part := range r {
			rows = append(rows, part...)
		}
	}
	return rows, nil
}
