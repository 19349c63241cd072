package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
)

// wrongField is what is wrong with one field of a suite, by its name in YAML: ".size".
type wrongField struct {
	field string
	err   error
}

func (w *wrongField) Error() string { return strings.TrimPrefix(w.field, ".") + ": " + w.err.Error() }
func (w *wrongField) Unwrap() error { return w.err }

func wrong(field, format string, args ...any) *wrongField {
	return &wrongField{field, fmt.Errorf(format, args...)}
}

// Valid refuses a suite that no YAML and no job file of a user's could have given, wherever it was
// read: a run's record is no more trusted than a file.
func (s *Suite) Valid() error {
	if len(s.Scenarios) == 0 {
		return errors.New("a suite needs scenarios")
	}
	if s.Cooldown < 0 {
		return fmt.Errorf("cooldown %s: want 0 or more", s.Cooldown)
	}
	seen := map[int]bool{}
	for i := range s.Scenarios {
		c := &s.Scenarios[i]
		if err := c.valid(); err != nil {
			return fmt.Errorf("scenario %d: %w", c.ID, err)
		}
		if seen[c.ID] {
			return fmt.Errorf("id %d is used twice", c.ID)
		}
		seen[c.ID] = true
	}
	return nil
}

// valid refuses a scenario that cannot be; its error names the field. Which options its job may have
// is permit's business, and the installed fio's.
func (c *Scenario) valid() error {
	name, _, _ := strings.Cut(c.Name, "@") // a point of a sweep: rand-read@iodepth=8
	switch {
	case c.ID < 1 || c.ID > 999:
		return wrong(".id", "a scenario needs an id from 1 to 999")
	case !c.AsIs && !validName(name) || len(c.Name) > longestName || strings.ContainsFunc(c.Name,
		func(r rune) bool { return r < ' ' || r == 0x7f }):
		return wrong(".name", "name %q: want lower-case letters, digits and hyphens, such as rand-write", c.Name)
	case c.Size > MostSize:
		return wrong(".size", "size %s: want at most %s, the largest file that Linux can hold", c.Size, MostSize)
	case !slices.Contains(topology.Roles, c.Role):
		return wrong(".role", "role %q: want data or wal", c.Role)
	case c.Runtime < 0 || c.Ramp < 0:
		return wrong(".runtime", "runtime %s, ramp %s: want 0 or more", c.Runtime, c.Ramp)
	case !slices.Contains([]FileUse{SharedFile, FilePerJob, RegionPerJob}, c.Files):
		return wrong(".files", "files %q: want job (one for each job) or shared (one for all)", c.Files)
	}
	if c.Kind() == OfServer {
		if err := c.Postgres.valid(); err != nil {
			return &wrongField{".postgres", err}
		}
		return nil
	}
	if err := writable(&c.Job); err != nil {
		return &wrongField{".fio", err}
	}
	return nil
}

// longestName is that of a scenario: a job file's name and the point of a sweep.
const longestName = 512

// writable refuses a job that fio would read otherwise than it was looked at, or that is none.
func writable(job *fio.JobFile) error {
	if err := job.Writable(); err != nil {
		return err
	}
	if len(job.Jobs()) == 0 {
		return errors.New("it holds no job")
	}
	return nil
}

// valid refuses a load that pgbench must not run.
func (p *Postgres) valid() error {
	switch {
	case p.Builtin != "" && p.Script != "":
		return errors.New("builtin: and script: cannot be combined; keep one")
	case p.Builtin != "" && !slices.Contains(builtins, p.Builtin):
		return fmt.Errorf("builtin %q: want one of %s", p.Builtin, strings.Join(builtins, ", "))
	case p.Probes() && len(p.Clients) > 0:
		return fmt.Errorf("clients: without builtin: or script: nothing would run")
	case strings.ContainsAny(p.Script, "\x00\\"):
		return fmt.Errorf("script: SQL only; a backslash would begin a command of pgbench's own")
	case p.Transactions < 0:
		return fmt.Errorf("transactions: want a number above 0")
	}
	if i := slices.IndexFunc(p.Clients, func(n int) bool { return n < 1 || n > MostClients }); i >= 0 {
		return fmt.Errorf("clients: %d: want 1 to %d", p.Clients[i], MostClients)
	}
	return nil
}
