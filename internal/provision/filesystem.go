package provision

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/provision/records"
)

func (p *planner) mount(w *records.Work, owner string) {
	want, point := w.Want, w.Want.Mount
	var made []string // missing directories, outermost first
	for d := point; d != "/" && !p.has(d) && !p.made[d]; d = path.Dir(d) {
		made = slices.Insert(made, 0, d)
		p.made[d] = true
	}
	if len(made) > 0 {
		st := records.Step{
			Title:   "make the directory " + point,
			Touches: made,
			Check:   []records.Cond{{Is: "path", Of: point}},
		}
		for _, dir := range made {
			st.Do = append(st.Do, records.Run("mkdir", dir).When("absent", dir, ""))
			st.Again = st.Do // a power cut may have taken an empty directory that is not on the journal's filesystem
			st.Undo = slices.Insert(st.Undo, 0, records.Run("rmdir", dir).When("empty", dir, ""))
		}
		w.Add(st)
	}
	by := "UUID=" + w.FilesystemUUID()
	if want.ByLabel {
		by = "LABEL=" + want.Label
	}
	pass := 0
	if want.FS == "ext4" {
		pass = 2 // fsck after the root; XFS has none to run
	}
	l := &records.Lines{
		File: "/etc/fstab",
		Name: w.Array,
		Text: fmt.Sprintf("%s %s %s %s 0 %d", by, point, want.FS, want.Options, pass),
	}
	var reload []records.Action
	if p.has("/run/systemd/system") {
		reload = []records.Action{records.Run("systemctl", "daemon-reload")}
	}
	mounted := []records.Cond{{Is: "mounted", Of: point}}
	byLine := records.Run("mount", point)
	mount := byLine
	if p.passing {
		mount = records.Run("mount", "-t", want.FS, "-o", want.Options, "@array", point)
	} else {
		w.Add(records.Step{
			Title:   "mount the filesystem at boot, with a line in /etc/fstab",
			Touches: []string{"/etc/fstab"},
			Check:   []records.Cond{{Is: "lines", Of: "/etc/fstab", Want: l.Text}},
			Do:      slices.Concat([]records.Action{{Add: l}}, p.relabel("/etc/fstab"), reload),
			Undo:    append([]records.Action{{Cut: l}}, reload...),
		})
	}
	unmount := records.Run("umount", point).When("mounted", point, "")
	w.Add(records.Step{
		Title:   "mount it on " + point,
		Touches: []string{point},
		Check:   mounted,
		Do:      append([]records.Action{mount}, p.relabel(point)...),
		Again:   []records.Action{mount},
		Undo:    []records.Action{unmount},
	})
	if !p.passing {
		p.order(point)
	}
	if want.Owner != "" || want.Mode != "" {
		st := records.Step{Touches: []string{point}}
		if want.Owner != "" {
			st.Title = fmt.Sprintf("set the owner of %s to %s", point, want.Owner)
			st.Do = append(st.Do, records.Run("chown", want.Owner, point))
		}
		if want.Mode != "" {
			if st.Title == "" {
				st.Title = fmt.Sprintf("set the mode of %s to %s", point, want.Mode)
			} else {
				st.Title += " and its mode to " + want.Mode
			}
			st.Do = append(st.Do, records.Run("chmod", want.Mode, point))
		}
		if owner != "::" { // else its user is known on the machine that is meant alone
			st.Check = []records.Cond{{Is: "owner", Of: point, Want: owner}}
		}
		// The journal, on another filesystem, must not know of it before it is on the drive.
		st.Do = append(st.Do, records.Run("sync", "--file-system", point))
		w.Add(st)
	}
	if p.passing {
		return
	}
	w.Add(records.Step{
		Title: "check the line in /etc/fstab: unmount, then mount again using that line",
		Check: mounted,
		Do:    []records.Action{unmount, byLine},
		Again: []records.Action{byLine},
	})
}

// owner is "UID:GID:MODE" of the mount point, parts empty that are not asked for.
func (p *planner) owner(ctx context.Context, want records.Want) (string, error) {
	user, group, _ := strings.Cut(want.Owner, ":")
	id := func(file, name string) (string, error) {
		if _, err := strconv.ParseUint(name, 10, 32); err == nil || name == "" {
			return name, nil
		}
		for line := range strings.Lines(p.text("etc/" + file)) {
			if f := strings.Split(line, ":"); len(f) > 2 && f[0] == name {
				return strings.TrimSpace(f[2]), nil
			}
		}
		out, err := p.Output(ctx, "getent", file, name) // users may come from elsewhere
		if f := strings.Split(out, ":"); err == nil && len(f) > 2 {
			return f[2], nil
		}
		if p.imagined {
			p.note("%s: this machine knows no %s entry %s: make it on the one that is meant, before the step that gives "+
				"%[1]s to it", want.Mount, file, name)
			return "", nil
		}
		return "", fmt.Errorf("owner %s: %s knows no %s; create it first, or give its number", want.Owner,
			path.Join("/etc", file), name)
	}
	uid, err := id("passwd", user)
	if err != nil {
		return "", err
	}
	gid, err := id("group", group)
	if err != nil {
		return "", err
	}
	mode := ""
	if want.Mode != "" {
		n, err := strconv.ParseUint(want.Mode, 8, 12)
		if err != nil {
			return "", fmt.Errorf("mode %.20q: want octal, such as 0700", want.Mode)
		}
		mode = fmt.Sprintf("%04o", n)
	}
	return uid + ":" + gid + ":" + mode, nil
}

// packageOf is the package of a program, where it has another name.
var packageOf = map[string]string{
	"sgdisk":    "gdisk (gptfdisk on SUSE and Arch)",
	"mkfs.xfs":  "xfsprogs",
	"mkfs.ext4": "e2fsprogs",
	"blkid":     "util-linux",
	"wipefs":    "util-linux",
	"pvcreate":  "lvm2",
	"vgcreate":  "lvm2",
	"lvcreate":  "lvm2",
}

// relabel gives files the SELinux label of their place, where SELinux is on: the root of a new
// filesystem has none, and confined services may not use it (restorecon(8)).
func (p *planner) relabel(paths ...string) []records.Action {
	if !p.has("/sys/fs/selinux/enforce") || !p.Installed("restorecon") {
		return nil
	}
	return []records.Action{records.Run(append([]string{"restorecon"}, paths...)...)}
}

// order says how a service waits for a mount that must not keep the machine from booting.
func (p *planner) order(mount string) {
	if p.has("/run/systemd/system") {
		p.note("the boot does not wait for %s (nofail): a service that needs it must say so: RequiresMountsFor=%s "+
			"in its unit", mount, mount)
	}
}
