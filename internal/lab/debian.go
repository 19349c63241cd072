package lab

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed" // for debian.sh
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/sys"
)

//go:embed debian.sh
var debianScript string

const (
	mmdebstrap = "mmdebstrap"
	// rootLabel is how the kernel and fstab find the disk.
	rootLabel = "plimsoll-root"
	// rootSize is three times what is in it: room for two initramfs at a time, logs and results.
	rootSize = "1536M"
	// debianKernel is the smallest kernel package that has what EC2 instances have.
	debianKernel = "linux-image-cloud-amd64"
)

var (
	debianPrograms = []string{mmdebstrap, "mke2fs", "e2fsck", "debugfs", "cp"}
	// debianPackages are what the system has beyond dpkg and coreutils. With busybox and zstd its initramfs is
	// as that of an installed system; dracut-core is for the test that takes initramfs-tools away, as on RPM systems.
	debianPackages = append(strings.Fields(`
		systemd-sysv udev dbus busybox mdadm lvm2 xfsprogs e2fsprogs fio nvme-cli kmod procps util-linux gdisk parted
		initramfs-tools dracut-core zstd`), debianKernel)
)

// debianAvailable says in one line why no Debian can be made and booted here; it is empty when one
// can.
func debianAvailable(m *sys.Machine) (reason string) {
	for _, p := range debianPrograms {
		if programPath(m.Root, p) == "" {
			return p + " is not installed (docs/lab.md names the packages)"
		}
	}
	if _, _, err := debianSource(m.Root); err != nil {
		return err.Error()
	}
	return ""
}

// debianSource finds the suite that the host runs, such as bookworm, and the mirror that its
// packages come from.
func debianSource(root fs.FS) (suite, mirror string, err error) {
	release, err := fs.ReadFile(root, "etc/os-release")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(release)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); ok {
			suite = strings.Trim(name, `"'`)
		}
	}
	if suite == "" || suite == "." || strings.Contains(suite, "/") {
		return "", "", fmt.Errorf("/etc/os-release has no VERSION_CODENAME: only a Debian host can make a Debian guest")
	}
	files, err := fs.Glob(root, "etc/apt/sources.list.d/*")
	if err != nil {
		return "", "", err
	}
	for _, name := range append(files, "etc/apt/sources.list") {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			continue // the next may be there
		}
		find := findInLines
		if path.Ext(name) == ".sources" {
			find = findInStanzas
		}
		if mirror = find(string(text), suite); mirror != "" {
			return suite, mirror, nil
		}
	}
	return "", "", fmt.Errorf("no source in /etc/apt has the suite %s: name Debian's mirror there", suite)
}

// findInLines looks for "deb [options] URI SUITE main ..." (sources.list(5)) and returns the URI.
func findInLines(text, suite string) string {
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "deb ")
		if !ok {
			continue
		}
		if _, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(strings.TrimSpace(line), "[") {
			line = rest
		}
		if f := strings.Fields(line); len(f) > 2 && f[1] == suite && slices.Contains(f[2:], "main") {
			return f[0]
		}
	}
	return ""
}

// findInStanzas does the same in deb822 format: stanzas between empty lines.
func findInStanzas(text, suite string) string {
	fields := map[string][]string{}
	found := func() string {
		uris := fields["uris"]
		if slices.Contains(fields["types"], "deb") && slices.Contains(fields["suites"], suite) &&
			slices.Contains(fields["components"], "main") && !slices.Contains(fields["enabled"], "no") && len(uris) > 0 {
			return uris[0]
		}
		return ""
	}
	name := ""
	lines := bufio.NewScanner(strings.NewReader(text + "\n\n"))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
			if uri := found(); uri != "" {
				return uri
			}
			clear(fields)
			name = ""
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			fields[name] = append(fields[name], strings.Fields(line)...)
		default:
			key, value, _ := strings.Cut(line, ":")
			name = strings.ToLower(key)
			fields[name] = strings.Fields(value)
		}
	}
	return ""
}

// makeDisk returns the disk image of a Debian as after its installation, from the cache when
// nothing has changed.
func makeDisk(ctx context.Context, m *sys.Machine, cache string, log io.Writer) (*disk, error) {
	suite, mirror, err := debianSource(m.Root)
	if err != nil {
		return nil, err
	}
	builder, err := fs.Stat(m.Root, programPath(m.Root, mmdebstrap))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintln(h, suite, mirror, builder.Size(), builder.ModTime().UnixNano(), debianPackages, rootLabel, rootSize,
		debianScript)
	dir := filepath.Join(cache, "debian-"+hex.EncodeToString(h.Sum(nil)[:8]))
	err = fill(dir, func(tmp string) error {
		if err := reach(ctx, mirror, suite); err != nil {
			return err
		}
		fmt.Fprintf(log,
			"lab: making a disk with Debian %s from %s, once for each set of packages; this takes a minute or two\n", suite,
			mirror)
		return buildDebian(ctx, m, filepath.Join(tmp, "root.ext4"), suite, mirror)
	})
	if err != nil {
		return nil, fmt.Errorf("lab: Debian %s: %w", suite, err)
	}
	return &disk{golden: filepath.Join(dir, "root.ext4")}, nil
}

// reach tells a mirror that is out of reach from a build that fails.
func reach(ctx context.Context, mirror, suite string) error {
	if !strings.HasPrefix(mirror, "http") {
		return nil // a directory, or a way that only apt knows
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead,
		strings.TrimSuffix(mirror, "/")+"/dists/"+suite+"/InRelease", http.NoBody)
	if err != nil {
		return fmt.Errorf("mirror %s: %w", mirror, err)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: the mirror cannot be reached: %w", ErrUnavailable, err)
	}
	_ = r.Body.Close() // empty
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: the mirror cannot be reached: %s: %s", ErrUnavailable, req.URL, r.Status)
	}
	return nil
}

// buildDebian makes the file system in one go: mmdebstrap's hook packs the tree while it is still
// complete, with its owners, also where an ordinary user builds in a namespace.
func buildDebian(ctx context.Context, m *sys.Machine, image, suite, mirror string) error {
	hook := fmt.Sprintf("image=%s size=%s label=%s\n%s", shellQuote(image), rootSize, rootLabel, debianScript)
	argv := []string{
		mmdebstrap,
		"--quiet",
		"--variant=minbase",
		"--format=null",
		"--include=" + strings.Join(debianPackages, ","),
		"--customize-hook=" + hook,
	}
	for _, dir := range []string{"doc", "info", "locale", "man"} {
		argv = append(argv, "--dpkgopt=path-exclude=/usr/share/"+dir+"/*")
	}
	ctx = sys.WithLimit(ctx, sys.NoLimit) // it downloads
	return m.Run(ctx, io.Discard, append(argv, suite, "-", mirror)...)
}
