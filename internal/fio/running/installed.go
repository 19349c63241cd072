package running

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
)

// ErrMissing is in the chain of Installed's error when there is no fio.
var ErrMissing = errors.New("fio is not installed")

// Installed asks the fio in PATH for its version and refuses one older than fio.Oldest.
func Installed(ctx context.Context, m *sys.Machine) (fio.Version, error) {
	out, err := printed(ctx, m)
	if errors.Is(err, sys.ErrNotFound) {
		return fio.Version{}, fmt.Errorf("%w; install it with the system's package manager, such as: apt-get install fio",
			ErrMissing)
	}
	if err != nil {
		return fio.Version{}, err
	}
	v, err := fio.ParseVersion(out)
	if err != nil {
		return v, err
	}
	if v.Before(fio.Oldest) {
		return v, fmt.Errorf("%s is too old: plimsoll needs %s or newer", v, fio.Oldest)
	}
	return v, nil
}

// InstalledOptions is the table of the fio in PATH, by its version.
func InstalledOptions(ctx context.Context, m *sys.Machine) (*fio.OptionTable, error) {
	out, err := printed(ctx, m)
	if err != nil {
		return nil, err
	}
	v, err := fio.ParseVersion(out)
	if err != nil { // a build of its own: all may be there
		return fio.EveryOption(), nil
	}
	return fio.OptionsOf(v), nil
}

func printed(ctx context.Context, m *sys.Machine) (string, error) {
	return m.Output(sys.WithFamily(ctx), "fio", "--version")
}
