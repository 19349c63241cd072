package lab

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // for init.sh
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/lab/agent"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

//go:embed init.sh
var initScript string

// The guest's programs, copied from the host with their libraries. Without the first the lab cannot
// run; the others are there when the host has them. Busybox has the rest.
var (
	neededPrograms = strings.Fields("bash busybox fio kmod mdadm mkfs.xfs mount udevadm")
	otherPrograms  = strings.Fields(`
		mdmon xfs_info xfs_growfs xfs_io xfs_repair xfs_db xfs_spaceman xfs_admin xfs_quota mke2fs mkfs.btrfs
		mkfs.ext4 tune2fs dumpe2fs e2fsck resize2fs lvm dmsetup nvme lsblk blkid wipefs sfdisk parted sgdisk partx
		partprobe umount findmnt iostat blockdev losetup fallocate fsfreeze filefrag flock timeout stat dd sync cmp
		sha256sum blkdiscard fstrim swapon swapoff mkswap mountpoint lsof fuser setpriv taskset chrt ionice sysctl
		strace growpart`)
	modules = strings.Fields(`
		md-mod raid0 raid1 raid10 raid456 linear dm-mod dm-delay dm-flakey dm-log-writes dm-snapshot dm-raid
		dm-thin-pool dm-zero xfs ext4 btrfs libcrc32c crc32c-intel virtio_pci virtio_console virtio_blk loop overlay
		null_blk mq-deadline kyber-iosched bfq brd`)
	udevRules = strings.Fields(`
		01-md-raid-creating 50-udev-default 55-dm 56-lvm 60-block 60-persistent-storage 60-persistent-storage-dm
		63-md-raid-arrays 64-md-raid-assembly 69-lvm 95-dm-notify`)
	links = map[string]string{
		"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64",
		"usr/lib/systemd/systemd-udevd": "/usr/bin/udevadm", "etc/mtab": "/proc/mounts",
		"usr/sbin/modprobe": "/usr/bin/kmod", "usr/sbin/insmod": "/usr/bin/kmod", "usr/sbin/rmmod": "/usr/bin/kmod",
		"usr/sbin/lsmod": "/usr/bin/kmod", "usr/sbin/depmod": "/usr/bin/kmod", "usr/sbin/modinfo": "/usr/bin/kmod",
	}
	lvmCommands = strings.Fields(`
		pvcreate pvremove pvs pvdisplay pvscan vgcreate vgremove vgs vgdisplay vgchange vgscan lvcreate lvremove lvs
		lvdisplay lvchange lvconvert lvextend pvresize`)
	// generated files: udev gives block devices to the group disk, and refuses rules with groups
	// that it cannot find.
	texts = map[string]string{
		"etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
		"etc/group": "root:x:0:\ntty:x:5:\ndisk:x:6:\nlp:x:7:\nkmem:x:15:\ndialout:x:20:\ncdrom:x:24:\ntape:x:26:\n" +
			"audio:x:29:\nvideo:x:44:\ninput:x:101:\nsgx:x:102:\nkvm:x:103:\nrender:x:104:\n",
		"etc/fstab": "", "etc/hostname": "lab\n", "etc/hosts": "127.0.0.1 localhost lab\n",
		"etc/nsswitch.conf":     "passwd: files\ngroup: files\nhosts: files\n",
		"etc/mdadm/mdadm.conf":  "CREATE owner=root group=disk mode=0660 auto=yes\nHOMEHOST <any>\n",
		"etc/os-release":        "ID=plimsoll-lab\nPRETTY_NAME=\"plimsoll lab\"\n",
		"root/.bashrc":          "PS1='lab:\\w# '\n",
		"etc/udev/rules.d/keep": "",
	}
)

// image is the guest's kernel and initramfs, in the cache.
type image struct {
	boot

	dir string
	id  string // hash of everything in it but plimsoll
}

// kernelVersion finds the newest kernel with its modules; a cloud kernel goes first, since it boots
// faster.
func kernelVersion(root fs.FS) (string, error) {
	found, err := fs.Glob(root, "boot/vmlinuz-*")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int {
		cloud := func(s string) int { return strings.Count(s, "cloud") }
		return cmp.Or(cloud(a)-cloud(b), strings.Compare(a, b))
	})
	for _, name := range slices.Backward(found) {
		version := strings.TrimPrefix(name, "boot/vmlinuz-")
		if _, err := fs.Stat(root, "lib/modules/"+version+"/modules.dep"); err == nil {
			return version, nil
		}
	}
	return "", errors.New("no /boot/vmlinuz-* with its /lib/modules: install linux-image-cloud-amd64")
}

// inGuest is where a host file goes: the guest has /usr merged.
func inGuest(name string) string {
	for _, dir := range []string{"bin/", "sbin/", "lib/", "lib64/"} {
		if strings.HasPrefix(name, dir) {
			return "usr/" + name
		}
	}
	return name
}

// imageTree gathers what the guest holds, without plimsoll itself and the libraries of its programs, which change only
// with etc/ld.so.cache.
func imageTree(ctx context.Context, m *sys.Machine, kernel string) (t tree, programs []string, err error) {
	t = tree{}
	for i, name := range slices.Concat(neededPrograms, otherPrograms) {
		p := m.Program(name)
		if p != "" {
			programs = append(programs, p)
		} else if i < len(neededPrograms) {
			return nil, nil, fmt.Errorf("%s is not installed", name)
		}
	}
	copied := append(slices.Clone(programs), "etc/ld.so.cache", "etc/mke2fs.conf", "etc/lvm/lvm.conf",
		"usr/lib64/libgcc_s.so.1", "usr/lib/x86_64-linux-gnu/libgcc_s.so.1") // pthread_cancel opens it by name
	for _, rule := range udevRules {
		copied = append(copied, "usr/lib/udev/rules.d/"+rule+".rules", "lib/udev/rules.d/"+rule+".rules")
	}
	ours, err := moduleFiles(m.Root, kernel)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Concat(copied, ours) {
		if err := t.copy(m.Root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	for name, to := range links {
		t.link(name, to)
	}
	if lvm := m.Program("lvm"); lvm != "" {
		for _, name := range lvmCommands {
			t.link("usr/sbin/"+name, "lvm")
		}
	}
	applets, err := m.Output(ctx, "busybox", "--list")
	if err != nil {
		return nil, nil, err
	}
	for name := range strings.FieldsSeq(applets) {
		if t["usr/bin/"+name] == nil && t["usr/sbin/"+name] == nil {
			t.link("usr/bin/"+name, "busybox")
		}
	}
	for name, text := range texts {
		t.text(name, 0o644, text)
	}
	for dir := range strings.FieldsSeq("proc sys dev run tmp var/lib var/log root data wal mnt usr/lib64") {
		t.dir(dir)
	}
	t.add(&node{name: "dev/console", mode: fs.ModeCharDevice | 0o600, dev: [2]uint32{5, 1}})
	t.add(&node{name: "dev/null", mode: fs.ModeCharDevice | 0o666, dev: [2]uint32{1, 3}})
	t.text("init", 0o755, initScript)
	return t, programs, nil
}

// moduleFiles lists the guest's kernel modules and modprobe's indexes, which may name modules that
// are not there.
func moduleFiles(root fs.FS, kernel string) ([]string, error) {
	dir := "lib/modules/" + kernel + "/"
	dep, err := root.Open(dir + "modules.dep")
	if err != nil {
		return nil, err
	}
	defer dep.Close() //nolint:errcheck // only read
	files, err := moduleClosure(dep, modules)
	if err != nil {
		return nil, err
	}
	indexes, err := fs.Glob(root, dir+"modules.*")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		indexes = append(indexes, dir+f)
	}
	return indexes, nil
}

// copy adds a file of the root, with the links to it followed.
func (t tree) copy(root fs.FS, name string) error {
	info, err := fs.Stat(root, name)
	if err != nil {
		return err
	}
	t.add(&node{
		name: inGuest(name), mode: info.Mode().Perm(), size: info.Size(),
		open:   func() (fs.File, error) { return root.Open(name) },
		origin: fmt.Sprint(name, info.Size(), info.ModTime().UnixNano()),
	})
	return nil
}

// sign writes everything by which one tree differs from another.
func (t tree) sign(h hash.Hash) {
	for _, n := range t.sorted() {
		fmt.Fprintf(h, "%q %v %v %q %q\n", n.name, n.mode, n.dev, n.data, n.origin)
	}
}

// buildImage returns the image for this host, from the cache when nothing has changed.
func buildImage(ctx context.Context, m *sys.Machine, cache, binary string) (*image, error) {
	version, err := kernelVersion(m.Root)
	if err != nil {
		return nil, err
	}
	t, programs, err := imageTree(ctx, m, version)
	if err != nil {
		return nil, fmt.Errorf("lab image: %w", err)
	}
	bz := "boot/vmlinuz-" + version
	info, err := fs.Stat(m.Root, bz)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintln(h, version, info.Size(), info.ModTime().UnixNano())
	t.sign(h)
	sources, _ := fs.Glob(agent.Source, "*.go") // a pattern that is one
	for _, name := range sources {
		data, err := agent.Source.ReadFile(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %d %s", name, len(data), data)
	}
	img := &image{id: hex.EncodeToString(h.Sum(nil)[:8])}
	img.dir = filepath.Join(cache, "image-"+img.id)
	img.kernel, img.initrd = filepath.Join(img.dir, "vmlinuz"), filepath.Join(img.dir, "rootfs.cpio")
	return img, fill(img.dir, func(dir string) error {
		packed, err := fs.ReadFile(m.Root, bz)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "vmlinuz"), packed, 0o600); err != nil {
			return err
		}
		needed, err := libraries(ctx, m, programs...)
		if err != nil {
			return err
		}
		for _, name := range needed {
			if err := t.copy(m.Root, name); err != nil {
				return err
			}
		}
		if err := t.copy(os.DirFS(filepath.Dir(binary)), filepath.Base(binary)); err != nil {
			return err
		}
		plimsoll := t[filepath.Base(binary)]
		delete(t, plimsoll.name)
		plimsoll.name, plimsoll.mode = "usr/bin/plimsoll", 0o755
		t.add(plimsoll)
		f, err := os.Create(filepath.Join(dir, "rootfs.cpio"))
		if err != nil {
			return err
		}
		return cmp.Or(writeCPIO(f, t), f.Close())
	})
}

// libraries are the loader and the libraries of programs, as ldd(1) finds them, by their full names without the
// leading slash.
func libraries(ctx context.Context, m *sys.Machine, programs ...string) ([]string, error) {
	argv := []string{"ldd"}
	for _, p := range programs {
		argv = append(argv, "/"+p)
	}
	out, err := m.Output(ctx, argv...)
	if failed, ok := errors.AsType[*sys.Failed](err); err != nil && (!ok || failed.Code != 1) { // 1: of one that is static
		return nil, err
	}
	var found []string
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if strings.Contains(line, "=> not found") {
			return nil, fmt.Errorf("a program needs the library %s, which is not there", f[0])
		}
		for _, name := range f {
			if strings.HasPrefix(name, "/") && !strings.HasSuffix(name, ":") {
				found = text.Once(found, name[1:])
			}
		}
	}
	return found, nil
}

// moduleClosure returns the files of kernel modules and of those they depend on, below
// lib/modules/VERSION. A name that modules.dep does not know is built in, or absent; both are for
// modprobe in the guest to say.
func moduleClosure(dep io.Reader, names []string) ([]string, error) {
	files, needs := map[string]string{}, map[string][]string{}
	lines := bufio.NewScanner(dep)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		file, rest, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			return nil, fmt.Errorf("modules.dep: %q: want a file, a colon and the files it needs", lines.Text())
		}
		files[moduleName(file)] = file
		needs[file] = strings.Fields(rest)
	}
	var found []string
	for _, name := range names {
		file, ok := files[moduleName(name)]
		if !ok {
			continue
		}
		for _, f := range append([]string{file}, needs[file]...) { // modules.dep lists indirect ones, too
			found = text.Once(found, f)
		}
	}
	return found, lines.Err()
}

// moduleName is a module's name as the kernel has it: kernel/drivers/md/dm-mod.ko.xz is dm_mod.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}
