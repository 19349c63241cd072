package records

// Cond is something that holds on the machine or not. Of is a path, device or name.
type Cond struct {
	Is   CondKind `json:"is"`
	Of   string   `json:"of,omitempty"`
	Want string   `json:"want,omitempty"`
}

// CondKind is what a condition asks of the machine. A journal that asks anything else is refused when
// it is read.
type CondKind string

// Kinds are the conditions that there are, and when each holds.
func Kinds() map[CondKind]string {
	return map[CondKind]string{
		"path":       "Of exists",
		"absent":     "Of does not exist",
		"empty":      "Of is a directory with nothing in it",
		"lines":      "the lines Want, of this array, stand in the file Of",
		"table":      "the member Of has a GPT with the disk GUID Want",
		"partition":  "the member Of has a partition that begins at 1 MiB",
		"array":      "md array with UUID Want, active, with all members and none faulty",
		"inactive":   "md array with UUID Want, put together and not started",
		"stopped":    "no md array has the UUID Want",
		"superblock": "the device Of has an md superblock with UUID Want",
		"pv":         "the device Of is a physical volume, of the group Want or of none",
		"vg":         "the group Of exists, on members alone",
		"lv":         "the logical volume exists and is active (with Want any also an inactive one)",
		"filesystem": "the array's device carries the filesystem TYPE UUID",
		"mounted":    "the array's device is mounted, on top, at Of",
		"owner":      "the directory Of is owned and moded as UID:GID:MODE",
		"synced":     "all copies agree",

		// Of a replacement.
		"member":     "the device Of is in the array, in whatever state",
		"insync":     "the device Of is in the array, and in sync",
		"unreplaced": "the device Of is a spare of the array, and Want in sync: one has to replace the other",

		// Of an adopted array.
		"group":       "the volume group Of exists",
		"volume":      "the logical volume Of, GROUP/NAME, exists",
		"mountedfrom": "the device Want is mounted, on top, at Of",
	}
}
