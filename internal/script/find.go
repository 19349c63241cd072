package script

import (
	"bytes"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Finder looks for documents that may hold fio jobs below a directory.
type Finder struct {
	// Exclude are patterns of gitignore's form, from the directory down, of what is passed over.
	Exclude []string
	// Read reads a file.
	Read func(name string) ([]byte, error)
	// Own, where it is not nil, takes the options that sources and patches of fio below the directory
	// define, by the file that does.
	Own map[string]string
}

// Found is a document below a directory, or why it could not be read. Passed is why it was passed over, of one
// that starts fio.
type Found struct {
	Name   string
	Text   []byte
	Err    error
	Passed string
}

// maxDocument is the size above which a file without the ending of a job file is no script or page
// that a person wrote.
const maxDocument = 1 << 20

// hiddenFolders are those below which pipelines keep their scripts; others that begin with a dot are
// passed over.
var hiddenFolders = strings.Fields(`.github .gitlab .circleci .buildkite .ci .azure-pipelines .woodpecker .tekton`)

// sourceEndings are those of programs, pictures and archives, which hold no commands for a shell.
var sourceEndings = endings(
	`.c .h .cc .cpp .cxx .hpp .hh .go .rs .java .kt .scala .swift .m .js .ts .jsx .tsx .css .scss .less .html
	.htm .svg .png .jpg .jpeg .gif .ico .pdf .zip .gz .bz2 .xz .zst .tar .tgz .jar .class .o .a .so .dll .exe
	.bin .img .iso .pyc .whl .woff .woff2 .ttf .eot .mp4 .mov .lock .sum .csv .tsv .parquet .db .sqlite .pb
	.proto .dts .dtsi .s .asm .ld .patch .diff .po .pot .xml .log .out .golden .snap .map .pem .crt .key .deb
	.rpm .cs .fs .vb .php .ex .erl .hs .ml .lisp .el .vim .cmake .am .ac .m4`,
)

// starters are those of programs that start others, in languages that are not read.
var starters = endings(`.go .rs .java .kt .scala .js .ts .cs .php .swift`)

// documents are the endings of what people write commands into.
var documents = endings(`.md .rst .txt .sh .bash .yml .yaml .ipynb .bat .ps1`)

// startsFio is how a program names the one that it starts.
var startsFio = regexp.MustCompile("[\"'`](?:\\S*/)?fio(?:\\s+-|[\"'`]\\s*,)")

func endings(list string) map[string]bool {
	m := map[string]bool{}
	for e := range strings.FieldsSeq(list) {
		m[e] = true
	}
	return m
}

// NamesJob says whether a file is called as job files are: it is read as one whatever it holds.
func NamesJob(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".fio" || ext == ".job"
}

// Walk finds the documents below dir: job files, and whatever names fio in its text. What .gitignore
// excludes is passed over.
func (f Finder) Walk(dir string, visit func(Found)) error {
	outer := parseIgnore(f.Exclude, "")
	ignores := map[string]ignoreList{}
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, name)
		switch {
		case err != nil && name == dir:
			return err
		case err != nil:
			visit(Found{Name: name, Err: err})
			return nil
		case relErr != nil:
			return relErr
		}
		rel = filepath.ToSlash(rel)
		if rel == "." {
			ignores[rel] = append(outer, f.ignored(filepath.Join(name, ".gitignore"), "")...)
			return nil
		}
		inherited := ignores[path.Dir(rel)]
		if inherited.matches(rel, e.IsDir()) {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			if strings.HasPrefix(e.Name(), ".") && !slices.Contains(hiddenFolders, e.Name()) {
				return fs.SkipDir
			}
			ignores[rel] = append(slices.Clip(inherited), f.ignored(filepath.Join(name, ".gitignore"), rel)...)
			return nil
		}
		if strings.ContainsAny(name[:1], ":#-") { // no command in the log of a CI's runner, nor an option
			name = "./" + name
		}
		if e.Type().IsRegular() {
			f.look(name, e, visit)
		}
		return nil
	})
}

// look reads a file that may hold jobs.
func (f Finder) look(name string, e fs.DirEntry, visit func(Found)) {
	ext := strings.ToLower(filepath.Ext(name))
	job := NamesJob(name)
	info, err := e.Info()
	size := int64(maxDocument)
	if err == nil {
		size = info.Size()
	}
	if sourceEndings[ext] {
		f.define(name, ext)
		if !starters[ext] || size > maxDocument {
			return
		}
		if text, err := f.Read(name); err == nil && startsFio.Match(text) {
			visit(Found{Name: name, Passed: ext + " programs are not read"})
		}
		return
	}
	if !job && (size > maxDocument || size < 8) {
		if documents[ext] && size > maxDocument {
			visit(Found{Name: name, Passed: "it is larger than 1 MiB"})
		}
		return
	}
	text, err := f.Read(name)
	switch {
	case err != nil && job:
		visit(Found{Name: name, Err: err})
	case err != nil:
	case job || mayHoldJobs(text) || setsUpStorage(ext, text):
		visit(Found{Name: name, Text: text})
	}
}

var (
	// fioSource is a file of fio's source that defines options, or a patch that is named after fio.
	fioSource = regexp.MustCompile(`(?:^|/)(?:options|engines/[^/]+)\.c$|fio.*\.(?:patch|diff)$`)
	// definition is the name or the second name of an option in it.
	definition = regexp.MustCompile(`(?m)^\+?\s*\.(?:name|alias)\s*=\s*"([a-z][a-z0-9_]*)",`)
)

// define notes the options that a source of fio defines.
func (f Finder) define(name, ext string) {
	if f.Own == nil || ext != ".c" && ext != ".patch" && ext != ".diff" || !fioSource.MatchString(filepath.ToSlash(name)) {
		return
	}
	text, err := f.Read(name)
	if err != nil || !bytes.Contains(text, []byte("FIO_OPT_")) {
		return
	}
	for _, m := range definition.FindAllSubmatch(text, -1) {
		f.Own[string(m[1])] = name
	}
}

var (
	// fioWord is the program in a command, or a variable that holds it.
	fioWord = regexp.MustCompile(
		`(?i)(?:^|[^\w.@-])fio(?:[\s"'\x60,$]|_?(?:cmd|bin|prog|path|args|opts)|-[0-9]|\.(?:exe|job|conf)|$)|\.fio\b`,
	)
	// sectionWord and optionWords are a job file's.
	sectionWord = regexp.MustCompile(`(?m)^\s*\[[\w .${}-]+\]`)
	optionWords = regexp.MustCompile(`(?m)^\s*(?:rw|readwrite|ioengine)\s*=`)
	// storageWord is a command of a script that sets storage up.
	storageWord = regexp.MustCompile(`(?m)^\s*(?:sudo\s+)?(?:mdadm\s+(?:-C|--create)|mkfs\.\w+|lvcreate)\s`)
)

// setsUpStorage says whether a text is a shell script with commands that set storage up.
func setsUpStorage(ext string, text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	shell := ext == ".sh" || ext == ".bash" || bytes.HasPrefix(first, []byte("#!")) && bytes.HasSuffix(first, []byte("sh"))
	return shell && storageWord.Match(text)
}

// mayHoldJobs says whether a text names the program, or has a section and options of a job file.
func mayHoldJobs(text []byte) bool {
	if bytes.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
		return false
	}
	if (bytes.Contains(text, []byte("fio")) || bytes.Contains(text, []byte("FIO"))) && fioWord.Match(text) {
		return true
	}
	return bytes.Contains(text, []byte("rw=")) && sectionWord.Match(text) && optionWords.Match(text)
}

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	form        *regexp.Regexp
	not, folder bool
}

type ignoreList []ignoreRule

// matches says whether the last rule that matches excludes a path.
func (l ignoreList) matches(rel string, folder bool) bool {
	out := false
	for _, r := range l {
		if (!r.folder || folder) && r.form.MatchString(rel) {
			out = !r.not
		}
	}
	return out
}

// ignored reads a .gitignore.
func (f Finder) ignored(name, base string) ignoreList {
	text, err := f.Read(name)
	if err != nil || len(text) > maxDocument {
		return nil
	}
	return parseIgnore(strings.Split(string(text), "\n"), base)
}

// parseIgnore reads patterns that hold below base.
func parseIgnore(lines []string, base string) ignoreList {
	var list ignoreList
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		r := ignoreRule{}
		line, r.not = strings.CutPrefix(line, "!")
		line, r.folder = strings.CutSuffix(line, "/")
		anchored := strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		prefix := "^"
		if base != "" {
			prefix += regexp.QuoteMeta(base) + "/"
		}
		if !anchored {
			prefix += "(?:.*/)?"
		}
		form, err := regexp.Compile(prefix + globForm(line) + "$")
		if err == nil {
			r.form = form
			list = append(list, r)
		}
	}
	return list
}

// globForm is a pattern of gitignore's as a regular expression.
func globForm(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch rest := glob[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[' && strings.Contains(rest, "]"):
			end := strings.IndexByte(rest, ']')
			b.WriteString(strings.Replace(rest[:end+1], "[!", "[^", 1))
			i += end
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String()
}

// MatchPath says whether a path, from the directory down, is one of a pattern of gitignore's form.
func MatchPath(pattern, rel string) bool {
	l := parseIgnore([]string{pattern, strings.TrimSuffix(pattern, "/") + "/**"}, "")
	return l.matches(filepath.ToSlash(rel), false)
}
