package sys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIncluded: a job file shows nobody what only the caller may read, and takes nothing from a file that
// somebody put where it may be looked for.
func TestIncluded(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("files of other users need root")
	}
	const other = 65534
	othersJob := func(base string) error {
		job := base + "/jobs/j.fio"
		return errors.Join(os.WriteFile(job, nil, 0o644), os.Chown(job, other, 0))
	}
	private := func(name string) error { return os.Chmod(name, 0o600) }
	for name, c := range map[string]struct {
		include string // from the working directory, which is below base/work; the job file is base/jobs/j.fio
		make    func(base string) error
		want    string // "" for a file that is read
	}{
		"beside the job":                    {"../jobs/f", func(string) error { return nil }, ""},
		"private, beside the job":           {"../jobs/f", func(b string) error { return private(b + "/jobs/f") }, ""},
		"private, below it":                 {"../jobs/sub/f", func(b string) error { return private(b + "/jobs/sub/f") }, ""},
		"another's, beside the job":         {"../jobs/f", func(b string) error { return os.Chown(b+"/jobs/f", other, 0) }, ""},
		"another's, private, beside it":     {"../jobs/f", func(b string) error { return errors.Join(os.Chown(b+"/jobs/f", other, 0), private(b+"/jobs/f")) }, "not readable by everyone"},
		"in the working directory":          {"f", func(string) error { return nil }, ""},
		"private, in the working directory": {"f", func(b string) error { return private(b + "/work/f") }, ""},
		"planted in the working directory":  {"f", func(b string) error { return os.Chown(b+"/work/f", other, 0) }, "it belongs to "},
		"private, beside another's job": {
			"../jobs/f", func(b string) error { return errors.Join(othersJob(b), private(b+"/jobs/f")) },
			"not readable by everyone",
		},
		"private, in the working directory, for another's job": {
			"f", func(b string) error { return errors.Join(othersJob(b), private(b+"/work/f")) }, "not readable by everyone",
		},
		"beside another's job": {"../jobs/f", othersJob, ""},
		"private, elsewhere":   {"/etc/shadow", func(string) error { return nil }, "not readable by everyone"},
		"elsewhere":            {"/etc/passwd", func(string) error { return nil }, ""},
		"in a private directory": {
			"BASE/closed/f", func(b string) error { return os.Chmod(b+"/closed", 0o700) },
			"not readable by everyone",
		},
		"a link to what is private": {
			"../jobs/l", func(b string) error { return os.Symlink("/etc/shadow", b+"/jobs/l") },
			"not readable by everyone",
		},
		"a hard link to what is private": {"../jobs/h", func(b string) error {
			return errors.Join(os.Link(b+"/closed/f", b+"/jobs/h"), private(b+"/closed/f"))
		}, "not readable by everyone"},
		"a link from a directory of that name": {"../jobs-2/f", func(b string) error { return errors.Join(os.Rename(b+"/closed", b+"/jobs-2"), private(b+"/jobs-2/f")) }, "not readable by everyone"},
		"through /proc":                        {"/proc/self/environ", func(string) error { return nil }, "the kernel generates it"},
		"a device":                             {"/dev/zero", func(string) error { return nil }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := os.MkdirTemp("/tmp", "included") //nolint:usetesting // a test's own directory is private
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(base) //nolint:errcheck // the test's own
			for _, dir := range []string{"work", "jobs/sub", "closed"} {
				if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{"work/f", "jobs/f", "jobs/sub/f", "closed/f"} {
				if err := os.WriteFile(filepath.Join(base, file), []byte("x"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Chmod(base, 0o755), c.make(base)); err != nil {
				t.Fatal(err)
			}
			t.Chdir(filepath.Join(base, "work"))
			data, err := Included("../jobs/j.fio", strings.ReplaceAll(c.include, "BASE", base))
			switch {
			case c.want == "" && (err != nil || len(data) == 0):
				t.Errorf("%q %v", data, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%q %v, want %s", data, err, c.want)
			}
		})
	}
}
