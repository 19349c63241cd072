package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// errMissing is in the chain of the error of a host that has no plimsoll; errVersion of one that
// has another version.
var (
	errMissing = errors.New("plimsoll was not found there")
	errVersion = errors.New("install the same on all hosts, or use --copy always")
)

// placing makes a fresh directory of the user's own, puts what comes on standard input there as plimsoll, and prints
// its name if it has the checksum that is wanted. What counts, and is printed, is the way without links, each part of
// which is looked at, and the directory that the shell is in: its name may be a link of somebody else's by then.
// A copy that never started (see EndCopy) goes after ten minutes, in which it would have.
const placing = `set -eu
umask 077
no() { echo "$1 could be changed by others: nothing is copied below it" >&2; exit 1; }
mkdir -p "${XDG_CACHE_HOME:-$HOME/.cache}"
cd "${XDG_CACHE_HOME:-$HOME/.cache}"
d=$(pwd -P)
case $d in *[!A-Za-z0-9/_.@+-]*) echo "$d: want a plain name, to copy below it" >&2; exit 1 ;; esac
p=$d
while [ "$p" ]; do
  [ -O "$p" ] || [ "$(stat -c %u "$p")" = 0 ] || no "$p"
  case $(stat -c %A "$p") in
    *[tT]) ;;
    ????????w*) no "$p" ;;
    ?????w*) [ "$(stat -c %G "$p")" = "$(id -un)" ] || no "$p" ;;
  esac
  p=${p%/*}
done
d=${d%/}/plimsoll
mkdir -p "$d"
cd "$d"
[ "$(pwd -P)" = "$d" ] && [ -O . ] || no "$d"
chmod go-w .
find . -maxdepth 2 -path './fleet-????????/plimsoll' -mmin +10 -exec sh -c 'rm -f "$1" && rmdir "${1%/*}"' - {} \;
t=$(mktemp -d fleet-XXXXXXXX)
cat >"$t/plimsoll"
s=$(sha256sum "$t/plimsoll")
if [ "${s%% *}" != SUM ]; then rm -r "$t"; echo "the copy has another checksum" >&2; exit 1; fi
chmod 500 "$t/plimsoll"
echo "$d/$t/plimsoll"`

// placed is what a path may be that a host says plimsoll was put at.
var placed = regexp.MustCompile(`^(/[A-Za-z0-9_.@+-]+)+/plimsoll/fleet-[A-Za-z0-9]{8}/plimsoll$`)

// EndCopy removes a copy that has started, of its own name, so that nothing is left of it, whoever is killed. Any other
// program stays.
func EndCopy(self string) {
	if placed.MatchString(self) && os.Remove(self) == nil {
		_ = os.Remove(filepath.Dir(self)) // only if it was alone in it
	}
}

// again connects to a host once more, with a copy of this program.
func (c *coordinator) again(ctx context.Context, h *host) {
	h.end()
	h.try++ // what its old connection still sends, its end too, is of an earlier try
	h.copied = true
	c.Note(h.Name, "plimsoll is copied there")
	go c.copyTo(ctx, h)
}

// copyTo puts this program on a host; the event that follows has its name there.
func (c *coordinator) copyTo(ctx context.Context, h *host) {
	name, err := c.place(ctx, h)
	c.events <- event{from: h, copied: name, err: err}
}

func (c *coordinator) place(ctx context.Context, h *host) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.hello)
	defer cancel()
	program, err := os.ReadFile(c.Self)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(program)
	script := strings.Replace(placing, "SUM", hex.EncodeToString(sum[:]), 1)
	var out, errs sys.Tail
	code, err := sys.Process{
		Argv: c.Engine.argv(h.Name, "sh", "-c", script), In: bytes.NewReader(program), Out: &out, Err: &errs,
	}.Run(ctx)
	name := out.String()
	switch {
	case err != nil:
		return "", err
	case code != 0:
		return "", fmt.Errorf("plimsoll could not be copied: exit code %d: %s", code, text.Clean(errs.String(), 400))
	case !placed.MatchString(name):
		return "", fmt.Errorf("plimsoll could not be copied: the host answered %.80q", name)
	}
	return name, nil
}

// cleanUp removes the copies.
func (c *coordinator) cleanUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.hello)
	defer cancel()
	var all sync.WaitGroup
	for _, h := range c.hosts {
		if h.binary == "" {
			continue
		}
		all.Go(func() {
			var errs sys.Tail
			dir := strings.TrimSuffix(h.binary, "/plimsoll")
			if code, err := (sys.Process{Argv: c.Engine.argv(h.Name, "rm", "-rf", dir), Out: &errs, Err: &errs}).Run(
				ctx,
			); err != nil ||
				code != 0 {
				c.Note(h.Name, "the copy in "+dir+" is still there: "+text.Clean(errs.String(), 400))
			}
		})
	}
	all.Wait()
}
