// Package postgres runs a real PostgreSQL on the volumes that are measured: initdb with the log on
// the WAL path, the server as a child of plimsoll under an unprivileged user on a private unix
// socket, pgbench, pg_test_fsync and pg_test_timing. It never listens on a network, touches no
// server that is there, and removes everything that it made (docs/postgres.md).
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Install is a PostgreSQL that is installed.
type Install struct {
	Bin     string
	Version string // of the server: "15.18"
	Major   int
	Pgbench string // version; empty where there is none
}

// oldest is the first major version whose statistics are known.
const oldest = 13

// Find looks for the programs: in bin, where given, else what pg_config says, Debian's and RPM's
// directories, newest first, and PATH. What is asked for its version runs as u already, the server's
// user.
func Find(ctx context.Context, u User, bin string) (Install, error) {
	if bin != "" {
		return look(ctx, u, bin)
	}
	var places []string
	add := func(dir string) {
		if dir = strings.TrimSpace(dir); dir != "" && !slices.Contains(places, dir) {
			places = append(places, dir)
		}
	}
	if dir, err := u.output(ctx, "pg_config", "--bindir"); err == nil {
		add(dir)
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"} {
		dirs, _ := filepath.Glob(pattern) // the pattern is right
		slices.SortFunc(dirs, func(a, b string) int { return -cmp.Compare(number(a), number(b)) })
		for _, dir := range dirs {
			add(dir)
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		add(dir)
	}
	var first error
	for _, dir := range places {
		found, err := look(ctx, u, dir)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			first = cmp.Or(first, err)
		}
	}
	if first != nil {
		return Install{}, first
	}
	return Install{}, fmt.Errorf("no PostgreSQL is installed (initdb, postgres and pgbench were looked for in %s): "+
		"install postgresql (Debian, Ubuntu) or postgresql-server and postgresql-contrib (RPM), or name its programs with "+
		"--pg-bin DIR", text.Some(places, 4))
}

var digits = regexp.MustCompile(`[0-9]+`)

func number(dir string) int {
	n, _ := strconv.Atoi(digits.FindString(dir)) // 0 without
	return n
}

func look(ctx context.Context, u User, dir string) (Install, error) {
	found := Install{Bin: dir}
	for _, name := range []string{"initdb", "postgres", "pgbench"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return found, fmt.Errorf("%s has no %s: name the directory of PostgreSQL's programs with --pg-bin (%w)", dir, name,
				os.ErrNotExist)
		}
	}
	err := u.enters(dir)
	if err != nil {
		return found, err
	}
	if found.Version, found.Major, err = version(ctx, u, filepath.Join(dir, "postgres")); err != nil {
		return found, err
	}
	if found.Pgbench, _, err = version(ctx, u, filepath.Join(dir, "pgbench")); err != nil {
		return found, err
	}
	if found.Major < oldest {
		return found, fmt.Errorf("%s is PostgreSQL %s: plimsoll needs %d or newer", dir, found.Version, oldest)
	}
	return found, nil
}

var versionForm = regexp.MustCompile(`\(PostgreSQL\) (([0-9]{1,3})(?:\.[0-9]+|[a-z]+[0-9]+)?)`)

func version(ctx context.Context, u User, program string) (version string, major int, err error) {
	out, err := u.output(ctx, program, "--version")
	if err != nil {
		return "", 0, err
	}
	return parseVersion(out)
}

func parseVersion(out string) (version string, major int, err error) {
	found := versionForm.FindStringSubmatch(out)
	if found == nil {
		return "", 0, fmt.Errorf("%q does not name a version of PostgreSQL", text.Clean(text.FirstLine(out), 80))
	}
	major, err = strconv.Atoi(found[2])
	return found[1], major, err
}

// output is what a program prints that runs as the user, with nothing of the caller's environment.
func (u User) output(ctx context.Context, argv ...string) (string, error) {
	return sys.Child{
		Argv: argv, Dir: "/", Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, UID: u.UID, GID: u.GID,
	}.Output(ctx, sys.QueryLimit)
}

// program is one of the installed programs.
func (i Install) program(name string) string { return filepath.Join(i.Bin, name) }
