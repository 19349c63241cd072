package cli

import (
	"io/fs"
	"os"

	"plimsoll/internal/sys"
)

// mode is that of the caller's own file which is replaced. What another user has put there does
// not decide who can write to the new one.
func mode(name string) fs.FileMode {
	if info, err := os.Lstat(name); err == nil && int(sys.Owner(info)) == os.Geteuid() && info.Mode().IsRegular() {
		return info.Mode().Perm()
	}
	return 0o644
}
