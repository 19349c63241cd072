package postgres

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"plimsoll/internal/sys"
)

// User is who the server runs as: never root, which PostgreSQL refuses.
type User struct {
	Name     string
	UID, GID uint32
}

// UserFor chooses the server's user: the caller where that is not root; else the one that is named,
// the owner of the data path, postgres, or who called sudo. The first that is there and not root
// counts.
func UserFor(named, path string) (User, error) {
	if uid := os.Geteuid(); uid != 0 {
		u, err := byID(uint32(uid))
		if err == nil && named != "" && named != u.Name {
			err = fmt.Errorf("--pg-user %s: only root can run the server as somebody else; drop it or use sudo", named)
		}
		return u, err
	}
	if named != "" {
		u, err := byName(named)
		if err == nil && u.UID == 0 {
			err = fmt.Errorf("--pg-user %s: PostgreSQL does not run as root; name another user", named)
		}
		return u, err
	}
	if info, err := os.Stat(path); err == nil && sys.Owner(info) != 0 {
		return byID(sys.Owner(info))
	}
	for _, name := range []string{"postgres", os.Getenv("SUDO_USER")} {
		if u, err := byName(name); name != "" && err == nil && u.UID != 0 {
			return u, nil
		}
	}
	return User{}, fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres: name another with " +
		"--pg-user, or make one: useradd --system postgres")
}

func byName(name string) (User, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return User{}, fmt.Errorf("there is no user %q: name one with --pg-user", name)
	}
	return numbers(u)
}

// byID refuses a number without a name, as in containers: PostgreSQL could not look it up.
func byID(id uint32) (User, error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(id), 10))
	if err != nil {
		return User{}, fmt.Errorf("user %d has no name in /etc/passwd, and PostgreSQL does not run without one: "+
			"add the name, or name another user with --pg-user", id)
	}
	return numbers(u)
}

func numbers(u *user.User) (User, error) {
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err1 != nil || err2 != nil {
		return User{}, fmt.Errorf("user %s has the IDs %q and %q, which are not numbers", u.Username, u.Uid, u.Gid)
	}
	return User{u.Username, uint32(uid), uint32(gid)}, nil
}

// enters refuses a path that the user cannot reach, by the modes of its directories: plimsoll never
// changes them.
func (u User) enters(path string) error {
	actual, err := filepath.EvalSymlinks(path) // the user passes what links lead to
	if err != nil {
		return err
	}
	for dir := actual; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		bit := os.FileMode(0o001)
		switch {
		case sys.Owner(info) == u.UID:
			bit = 0o100
		case sys.Group(info) == u.GID:
			bit = 0o010
		}
		if info.Mode().Perm()&bit == 0 {
			return fmt.Errorf("%s: user %s, who runs PostgreSQL, cannot enter %s (mode %04o): name another path, "+
				"or another user with --pg-user", path, u.Name, dir, info.Mode().Perm())
		}
		if dir == "/" {
			return nil
		}
	}
}
