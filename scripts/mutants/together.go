package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// chooses is the environment's variable with the number of the mutant that a binary shall be; none
// or 0 is the source as it stands.
const chooses = "PLIMSOLL_MUTANT"

// asker is a file that is built with the mutants of a package.
const asker = `package %s

import (
	"os"
	"strconv"
)

var mutantNow, _ = strconv.Atoi(os.Getenv("` + chooses + `"))
`

// candidate is a mutant and the binaries, by their tests' directory, that are it when its number is
// chosen. Without them the mutant must be built on its own.
type candidate struct {
	mutant
	number   int
	binaries map[string]string
}

// together builds many mutants of one package into few binaries: building takes longer than most
// tests. Those that cannot be chosen when the tests run, such as constants, have none.
func (b bench) together(dir string, tried []mutant) ([]candidate, error) {
	found := make([]candidate, len(tried))
	var layers [][]int // no two mutants of a layer lie in each other
	for i, m := range tried {
		found[i] = candidate{mutant: m, number: i + 1}
		ok, err := m.canBeChosen(b.loaded[dir])
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		apart := func(layer []int) bool {
			return !slices.ContainsFunc(layer, func(o int) bool { return tried[o].meets(m) })
		}
		k := slices.IndexFunc(layers, apart)
		if k < 0 {
			k, layers = len(layers), append(layers, nil)
		}
		layers[k] = append(layers[k], i)
	}
	for k, layer := range layers {
		in := make([]candidate, len(layer))
		for j, i := range layer {
			in[j] = found[i]
		}
		binaries, err := b.buildLayer(dir, k, in)
		if err != nil {
			return nil, err
		}
		for _, i := range layer {
			found[i].binaries = binaries
		}
	}
	return found, nil
}

// meets says whether two mutants change expressions that lie in each other.
func (m mutant) meets(o mutant) bool {
	return m.file == o.file && m.whole.from < o.whole.end && o.whole.from < m.whole.end
}

// chosen is the text that is the mutant when its number is chosen, and the source otherwise.
func (m mutant) chosen(number int) string {
	if m.kind == "" {
		return fmt.Sprintf("if mutantNow == %d { %s } else { %s }", number, m.becomes, m.was)
	}
	return fmt.Sprintf("func() %s { if mutantNow == %d { return %s }; return %s }()", m.kind, number, m.becomes, m.was)
}

// imported are the packages that a package sees.
type imported map[string]*packages.Package

// Import implements types.Importer.
func (i imported) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i[path]; p != nil {
		return p.Types, nil
	}
	return nil, fmt.Errorf("%s is not loaded", path)
}

// canBeChosen says whether the package compiles with the choice between the mutant and the source.
func (m mutant) canBeChosen(pkg *packages.Package) (bool, error) {
	src, err := os.ReadFile(m.file)
	if err != nil {
		return false, err
	}
	text := string(src[:m.whole.from]) + m.chosen(1) + string(src[m.whole.end:])
	changed, err := parser.ParseFile(pkg.Fset, m.file, text, 0)
	if err != nil {
		return false, nil //nolint:nilerr // an assignment may stand where no choice can
	}
	asks, err := parser.ParseFile(pkg.Fset, "", "package "+pkg.Name+"; var mutantNow int", 0)
	if err != nil {
		return false, err
	}
	files := []*ast.File{changed, asks}
	for _, f := range pkg.Syntax {
		if filepath.Base(pkg.Fset.File(f.Pos()).Name()) != filepath.Base(m.file) {
			files = append(files, f)
		}
	}
	config := types.Config{Importer: imported(pkg.Imports)}
	_, err = config.Check(pkg.PkgPath, pkg.Fset, files, nil)
	return err == nil, nil
}

// buildLayer builds the tests that try a package, with some of its mutants.
func (b bench) buildLayer(dir string, number int, in []candidate) (map[string]string, error) {
	files := map[string]string{}
	slices.SortFunc(in, func(a, o candidate) int { return o.whole.from - a.whole.from }) // the last first: offsets stay
	for _, c := range in {
		if _, ok := files[c.file]; !ok {
			src, err := os.ReadFile(c.file)
			if err != nil {
				return nil, err
			}
			files[c.file] = string(src)
		}
		text := files[c.file]
		files[c.file] = text[:c.whole.from] + c.chosen(c.number) + text[c.whole.end:]
	}
	files[filepath.Join(dir, "mutant_now.go")] = fmt.Sprintf(asker, b.loaded[dir].Name)
	built := map[string]string{}
	for tests := range b.rooms[dir].binaries {
		built[tests] = filepath.Join(b.work, fmt.Sprintf("%s.%d.test", strings.ReplaceAll(dir+"."+tests, "/", "."), number))
		if out, err := build(built[tests], tests, filepath.Join(b.work, "layer"), files); err != nil {
			return nil, fmt.Errorf("%s with %d mutants: %w\n%s", dir, len(in), err, out)
		}
	}
	return built, nil
}

// build compiles the tests of a package, with other texts of some files, which lie in work meanwhile.
func build(binary, dir, work string, files map[string]string) ([]byte, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for file, text := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		replace[abs] = filepath.Join(work, filepath.Base(file))
		if err := os.WriteFile(replace[abs], []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o644); err != nil {
		return nil, err
	}
	return exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary,
		"./"+dir).CombinedOutput()
}
