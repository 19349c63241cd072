package lab

import (
	"context"
	"crypto/sha256"
	_ "embed" // for debian.sh
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
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
func debianAvailable(ctx context.Context, m *sys.Machine) (reason string) {
	for _, p := range debianPrograms {
		if !m.Installed(p) {
			return p + " is not installed (docs/lab.md names the packages)"
		}
	}
	if _, _, err := debianSource(ctx, m); err != nil {
		return err.Error()
	}
	return ""
}

// debianSource finds the suite that the host runs, such as bookworm, and the mirror that its
// packages come from, as apt reads its sources.
func debianSource(ctx context.Context, m *sys.Machine) (suite, mirror string, err error) {
	release, err := fs.ReadFile(m.Root, "etc/os-release")
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
	sources, err := m.Output(ctx, "apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)",
		"Created-By: Packages")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(sources) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == suite && f[1] == "main" {
			return suite, f[2], nil
		}
	}
	return "", "", fmt.Errorf("no source in /etc/apt has the suite %s: name Debian's mirror there", suite)
}

// makeDisk returns the disk image of a Debian as after its installation, from the cache when
// nothing has changed.
func makeDisk(ctx context.Context, m *sys.Machine, cache string, log io.Writer) (*disk, error) {
	suite, mirror, err := debianSource(ctx, m)
	if err != nil {
		return nil, err
	}
	builder, err := fs.Stat(m.Root, m.Program(mmdebstrap))
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
	hook := fmt.Sprintf("image=%s size=%s label=%s\n%s", text.ShellQuote(image), rootSize, rootLabel, debianScript)
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
