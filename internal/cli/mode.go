package cli

import (
	"io/fs"
	"os"
)

// mode is that of a file which is replaced.
func mode(name string) fs.FileMode {
	if info, err := os.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}
