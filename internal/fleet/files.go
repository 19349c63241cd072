package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// mostSent is how much the files of a plan may be together: a plan is one line of the protocol.
const mostSent = 512 * units.KiB

// sentFile is a file of the coordinator that goes along with a plan.
type sentFile struct {
	Arg    int    `json:"arg"`              // its name in the arguments
	Before string `json:"before,omitempty"` // of the argument, such as --topology=
	Name   string `json:"name"`             // without directories
	Data   []byte `json:"data"`
}

// filesOf reads the files that arguments of plimsoll run name on this machine: suites, job files, a
// topology. What is not here is a name on the hosts, or of something that is built in.
func filesOf(args []string) (files []sentFile, err error) {
	const topology = "--topology="
	size, behind := units.Bytes(0), false
	for i, arg := range args {
		f := sentFile{Arg: i}
		if arg == "--" {
			behind = true
			continue
		}
		if !behind {
			rest, ok := strings.CutPrefix(arg, topology)
			if !ok {
				continue
			}
			f.Before, arg = topology, rest
		}
		if here, err := suite.IsFile(arg); behind && (!here || err != nil) {
			if err != nil {
				return nil, err
			}
			continue
		}
		if !sys.IsFile(arg) {
			continue
		}
		if f.Data, err = sys.ReadFile(arg, sys.ConfigLimit); err != nil {
			return nil, err
		}
		f.Name = filepath.Base(arg)
		if size += units.Bytes(len(f.Data)); size > mostSent {
			return nil, fmt.Errorf("%s: the files for the hosts are larger than %s together; copy them there and name them "+
				"by paths that do not exist here", arg, mostSent)
		}
		files = append(files, f)
	}
	return files, nil
}

// receiveFiles writes the files of a plan to a directory of their own, which is the caller's to
// remove, and returns the arguments with their names there.
func receiveFiles(p *plan) (args []string, dir string, err error) {
	args = slices.Clone(p.Args)
	if len(p.Files) == 0 {
		return args, "", nil
	}
	if dir, err = sys.TempDir("fleet"); err != nil {
		return nil, "", err
	}
	for i, f := range p.Files {
		if f.Arg < 0 || f.Arg >= len(args) || filepath.Base(f.Name) != f.Name || !filepath.IsLocal(f.Name) {
			return nil, dir, fmt.Errorf("a file that was sent has the name %.80q", f.Name)
		}
		own := filepath.Join(dir, strconv.Itoa(i)) // two files may have one name
		if err := os.Mkdir(own, 0o700); err != nil {
			return nil, dir, err
		}
		name := filepath.Join(own, f.Name)
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			return nil, dir, err
		}
		args[f.Arg] = f.Before + name
	}
	return args, dir, nil
}
