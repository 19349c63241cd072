package lint

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/finding"
	"plimsoll/internal/script"
)

// errorsIn are the errors in one document, as code and message.
func errorsIn(files ...*script.File) []string {
	var errors []string
	for _, f := range Judge(NewCase(Case{Scripts: files})).Found {
		if f.Severity == finding.Fail {
			errors = append(errors, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.Message))
		}
	}
	return errors
}

func textOf(name, text string) *script.File {
	missing := func(name string) ([]byte, error) { return nil, fmt.Errorf("%s is not here", name) }
	return script.Parse(name, []byte(text), script.Options{Include: missing})
}

// What a person, a template or a program fills in is not judged, in a job file and in a command: each was an
// error once.
func TestWhatIsFilledInIsNoError(t *testing.T) {
	for set := range strings.FieldsSeq(`numjobs=N iodepth=X bs=Xk size=XG runtime=T iodepth=n size=XXG rw=RW rw=<rw>
		rw=[read|write] bs=blocksize bs=block_size iodepth=depth size=%SIZE% size=%size% bs=%(bs)s bs={bs} bs=:bs:
		bs=BLOCK-SIZE size=??? size=TBD bs=changeme bs=replace_me bs=_BS_ bs=~bs~ bs=!BS! rw=rwmode rw=rw_type
		rw=workload rw=pattern direct=flag rw=mode iodepth=qd rw=%s iodepth=%d size=%dG bs=@bs@ bs=<%=bs%> bs=BSk
		bs=#BS# iodepth=... bs=var_bs rw=param1 iodepth=iodepxxx rw=%1 bs=%~2 bs=%%b bs=[expr`) {
		name, _, _ := strings.Cut(set, "=")
		job := "[a]\nsize=10g\n" + set + "\n"
		command := "```\nfio --name=a --direct=1 --size=1g --" + set + "\n```\n"
		for _, f := range []*script.File{textOf("x.fio", job), textOf("x.md", command)} {
			if got := errorsIn(f); len(got) > 0 {
				t.Errorf("%s in %s: %q", set, f.Name, got)
			}
			if len(f.Jobs) != 1 || !strings.Contains(fmt.Sprint(f.Jobs[0].File), name) {
				t.Errorf("%s was not read in %s", set, f.Name)
			}
		}
	}
}

// What fio refuses for certain stays an error, beside what may be filled in.
func TestWhatIsWrittenOutStaysAnError(t *testing.T) {
	for _, set := range []string{
		"direct=true", "direct=y", "group_reporting=N", "iodepth=abc", "rw=randred", "rw=RANDREAD", "rw=seqread", "verify=crc32k",
		"rwmixread=101", "iodepth=0", "foo=1", "BS=4k", "rw=mixed", "rw=random",
	} {
		text := "[a]\nsize=10g\n" + set + "\n"
		if set == "iodepth=0" {
			text = strings.Replace(text, "[a]", "[a]\nioengine=libaio", 1)
		}
		if got := errorsIn(textOf("x.fio", text)); len(got) != 1 {
			t.Errorf("%s: %q", set, got)
		}
	}
}

// Shells, templates, pages and programs in which something looks wrong and is not, or is not for certain.
func TestErrorsAreCertain(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"format.py", "os.system('fio --name=%s --rw=%s --bs=%s --size=%dG' % x)\ncmd = 'fio --%s=%s --name=a --rw=read' % y\n"},
		{"docstring.py", "x = \"\"\"fio --name=a \\\n --rw=%s \\\n --size=%s \"\"\" % (a, b)\n"},
		{"grows.py", "cmd = 'fio --rw=read --bs=4k'\ncmd += ' --name=a'\n"},
		{"unnamed.md", "```\nos.system(\"fio --name=a --rw=read --filename \" + f)\n```\n"},
		{"printf.sh", "printf '[global]\\nbs=%s\\niodepth=%d\\n[a]\\nrw=read\\n' 4k 3 > x.fio\n"},
		{"lines.sh", "printf '%s\\n' '[a]' 'rw=read' 'size=1g' > x.fio\n"},
		{"asked.sh", "#!/bin/bash\nBS=\"\"\nread -p size BS\nfio --name=a --rw=read --size=1g --bs=$BS\n"},
		{"asked2.sh", "#!/bin/bash\nRW=x\nread RW\nfio --name=a --rw=$RW --size=1g\n"},
		{"printed.sh", "#!/bin/bash\nBS=none\nprintf -v BS '%sk' 4\nfio --name=a --rw=read --size=1g --bs=$BS\n"},
		{"sourced.sh", "#!/bin/bash\nRW=\n. ./conf\nfio --name=a --rw=$RW --size=1g\n"},
		{"options.sh", "#!/bin/bash\nBS=none\ngetopts b: BS\nfio --name=a --rw=read --size=1g --bs=$BS\n"},
		{"counted.sh", "#!/bin/bash\nn=0\n((n += 4))\nfio --name=a --rw=read --size=1g --numjobs=$n\n"},
		{"all.sh", "#!/bin/bash\nrw=all\nif [ $rw = all ]; then f; else fio --name=a --rw=$rw --size=1g; fi\n"},
		{"more.sh", "ls *.fio | xargs fio --direct=1\nparallel fio --bs=4k ::: a.fio\ndocker run me/fio --rw=read --bs=4k\n"},
		{"Dockerfile", "FROM x\nENTRYPOINT [\"fio\", \"--direct=1\"]\nCMD [\"--name=a\", \"--rw=read\"]\n"},
		{"pod.yaml", "containers:\n- name: x\n  args: [\"--rw=read\", \"--bs=4k\"]\n"},
		{"items.yaml", "command:\n- fio\n- \"--name=x\"   # the job\n- --rw=randread # it reads\n- --size=1g\n"},
		{"folded.yaml", "steps:\n- run: >\n    fio --name=a \\\n      --rw=read \\\n      --size=1g\n"},
		{"usage.sh", "for x (a b) {\n}\necho \"Usage:\n fio --name=a --foo=2 --rw=type\n\"\n"},
		{"usage.txt", "SYNOPSIS\n   fio [options] [jobfile]\n   fio --name=job --option=value --OPTION=VALUE\n"},
		{"usage.md", "```\nfio --filename <file> --rw <mode> --name x\nfio --name x --ioengine <engine> --rw <rw>\n```\n"},
		{"either.md", "```\nfio --name=a --rw=[read|write] --bs=4k\nfio --name=a --rw=(read|write) --bs=4k\n```\n"},
		{"sentence.md", "fio —name is an option.\n\nfio --direct=1 --rw=read\n\nfio --size\n"},
		{"remarks.md", "```\n[global]\nrw=read\n(snip)\n// the size\n[a]\nsize=10g\n<-- here\n```\n"},
		{"pasted.md", "```\n$ fio --rw=randread --size=10g --filename=/dev/sdb --ioengine=libaio\n--name=x --iodepth=4\n```\n"},
		{"broken.md", "```\n[root@h ~]# fio --name=test --rw=randread --size=10g --filename=/dev/sdb --ioen\ngine=libaio\n```\n"},
		{"batch.job", "#!/bin/bash\n#SBATCH -N 1\nmodule load x\nfio --name=a --rw=read --size=1g\n"},
		{"other.job", "name = backup\ntype = full\nclient = x\n"},
		{"beamline.fio", "!\n! Comments\n%c\nabc\n%p\nposition = 1.2\n%d\n Col 1 x DOUBLE\n"},
		{"command.fio", "fio --name=a --rw=read --size=1g --direct=1\n"},
		{"includes.fio", "[a]\nrw=read\nsize=1g\ninclude ${D}/x.fio\n"},
		{"fiona.sh", "fio load --src-crs EPSG:4326 --name x.json\n"},
		{"branches.sh", "if x; then\nmount /dev/sdb /a\nelse\nmount /dev/sdb /b\nfi\nmount /dev/sdc /c || mount /dev/sdc /d\n"},
		{"cases.sh", "case $1 in\na) mount /dev/sdb /a;;\nb) mount /dev/sdb /b;;\nesac\nf() { mount /dev/sdc /a; }\ng() { mount /dev/sdc /b; }\n"},
		{"views.sh", "mount -o subvol=a /dev/sdb /a\nmount -o subvol=b /dev/sdb /b\nmount --bind /dev/sdb /c\nmount -o remount /dev/sdb /d\n"},
		{"hosts.sh", "ssh h1 'mount /dev/sdb /a'\nssh h2 'mount /dev/sdb /b'\n"},
		{"volumes.sh", "if x; then lvcreate -n d -L 1g vg; else lvcreate -n d -L 2g vg; fi\nlvcreate -n e -L 1g vg\nlvremove -f vg/e\nlvcreate -n e -L 2g vg\n"},
		{"arrays.sh", "if x; then\nmdadm -C /dev/md0 -c64 -l0 -n4 a b c d\nelse\nmdadm -C /dev/md0 -c128 -l0 -n2 a b\nfi\nmkfs.xfs -d su=64k,sw=4 /dev/md0\n"},
		{"triggers.sh", "fio --name=a --rw=read --trigger='fio --rw=read' --filename=/mnt/x--name\n"},
	} {
		if got := errorsIn(textOf(c.name, c.text)); len(got) > 0 {
			t.Errorf("%s: %q\n%s", c.name, got, c.text)
		}
	}
}

// Beside each of those stands what is certain.
func TestErrorsOfScriptsStay(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"folded.yaml", "steps:\n- run: >\n    fio --name=a \\\n    --rw=read\n", "3 PL100 The backslash is before a space"},
		{"branch.sh", "if x; then\nmount /dev/sdb /a\nmount /dev/sdb /b\nfi\n", "3 PL131 /dev/sdb is already mounted on /a"},
		{"f.sh", "f() {\nlvcreate -n d -L 1g vg\nlvcreate -n d -L 1g vg\n}\n", "3 PL134 Line 2 already makes vg/d."},
		{"set.sh", "BS=4kz\nfio --name=a --rw=randred --size=1g\n", "2 PL102 fio refuses rw=randred"},
		{"code.md", "```\nfio --direct=1 --rw=read\n```\n", "2 PL141 The command has options and no --name"},
		{"line.md", "fio —name=a —rw=read\n", "1 PL101 2 words are spelled with a long dash"},
		{"docker.sh", "docker exec c fio --name=a --foo=1\n", `1 PL102 fio has no option "foo".`},
		{"x.job", "#!/usr/bin/fio\n[a]\nrw=read\niodpeth=4\n", `4 PL102 fio has no option "iodpeth"; did you mean iodepth?`},
		{"merge.fio", "[a]\nrw=read\nsize=1g\n>>>>>>> 2efb67f (test: add)\n", "4 PL102 >>>>>>> 2efb67f (test: add) is git's mark"},
		{"gone.fio", "[a]\nrw=rw\nsize=1g\nrwmixcycle=40\n", "4 PL124 rwmixcycle is gone; drop it."},
		{"near.sh", "RW=randred\nfio --name=a --rw=$RW --size=1g\n", "2 PL102 fio refuses rw=randred"},
	} {
		got := errorsIn(textOf(c.name, c.text))
		if len(got) != 1 || !strings.HasPrefix(got[0], c.says) {
			t.Errorf("%s: %q\nwant %q\n%s", c.name, got, c.says, c.text)
		}
	}
}

// A word that a script of the same run puts another one in the place of is no value: with the script it is not
// judged, without it, it is.
func TestWordsThatAScriptReplaces(t *testing.T) {
	job := textOf("x.fio", "[a]\nrw=foo\nbs=q\nsize=10g\n")
	if got := errorsIn(job); len(got) != 2 {
		t.Errorf("alone: %q", got)
	}
	for _, text := range []string{
		"#!/bin/sh\nsed -e 's/rw=foo/rw=read/' -e 's|bs=q|bs=4k|' x.fio > y.fio\n",
		"t = open('x.fio').read().replace(\"foo\", rw).replace('q', bs)\n",
	} {
		if got := errorsIn(textOf("x.fio", "[a]\nrw=foo\nbs=q\nsize=10g\n"), textOf("make", text)); len(got) > 0 {
			t.Errorf("%q\n%s", got, text)
		}
	}
}

// One option that no fio has is a mistake; two are another fio's.
func TestSeveralUnknownOptionsAreAnotherFios(t *testing.T) {
	judge := func(text string) (all []finding.Finding) {
		for _, f := range Judge(NewCase(Case{Scripts: []*script.File{textOf("x.fio", text)}})).Found {
			if f.Code == "PL102" {
				all = append(all, f)
			}
		}
		return all
	}
	if got := judge("[a]\nrw=read\nsize=1g\nshare_mmap=1\n"); len(got) != 1 || got[0].Severity != finding.Fail {
		t.Errorf("%v", got)
	}
	got := judge("[a]\nrw=read\nsize=1g\nshare_mmap=1\nrepl=1\niodpeth=4\n")
	if len(got) != 3 || got[0].Severity != finding.Warn || got[1].Severity != finding.Warn || got[2].Severity != finding.Fail ||
		!strings.Contains(got[0].Message, "another fio") {
		t.Errorf("%v", got)
	}
}

// A file that is included and not there is a warning, and what stands in the job itself is judged.
func TestMissingIncludeIsAWarning(t *testing.T) {
	all := Judge(NewCase(Case{Scripts: []*script.File{textOf("x.fio", "[a]\nrw=randred\nsize=1g\ninclude common.fio\n")}})).Found
	var said []string
	for _, f := range all {
		said = append(said, fmt.Sprintf("%d %s %s", f.Line, f.Code, f.Severity))
	}
	if want := "2 PL102 error|4 PL100 info"; strings.Join(said, "|") != want {
		t.Errorf("%q, want %s", said, want)
	}
}
