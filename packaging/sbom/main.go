// Command sbom writes the modules that a Go binary is made of as SPDX 2.3 JSON: sbom BINARY VERSION
// SOURCE. The modules are read from the binary itself (go version -m), so they cannot differ from
// what is shipped; their licences are those of the files that the module cache holds for the source
// directory. A module whose licence is not recognised is an error: somebody must look at it.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/licensecheck"
)

// object is one of SPDX's JSON.
type object = map[string]any

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY VERSION SOURCE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

var notID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func write(binary, version, source string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	const document, main = "SPDXRef-DOCUMENT", "plimsoll"
	var packages, relationships []object
	add := func(of, as, name, version, license, purl string) {
		id := "SPDXRef-" + notID.ReplaceAllString(name, "-")
		m := object{
			"name": name, "SPDXID": id, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
			"licenseConcluded": license, "licenseDeclared": license, "copyrightText": "NOASSERTION",
		}
		if purl != "" {
			m["externalRefs"] = []object{
				{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + purl},
			}
		}
		packages = append(packages, m)
		relationships = append(relationships,
			object{"spdxElementId": of, "relationshipType": as, "relatedSpdxElement": id})
	}
	add(document, "DESCRIBES", main, version, "Apache-2.0", "")
	depends := func(name, version, license, module string) {
		add("SPDXRef-"+main, "DEPENDS_ON", name, version, license, module+"@"+version)
	}
	depends("go", info.GoVersion, "BSD-3-Clause", "std")
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		license, err := licenseOf(source, dep.Path)
		if err != nil {
			return err
		}
		depends(dep.Path, dep.Version, license, dep.Path)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document,
		"name": "plimsoll-" + version, "documentNamespace": "urn:plimsoll:" + version,
		"creationInfo": object{
			"created":  time.Unix(seconds, 0).UTC().Format(time.RFC3339),
			"creators": []string{"Tool: plimsoll-sbom"},
		},
		"packages": packages, "relationships": relationships,
	})
}

// licenseOf is the SPDX expression of a module's licence files.
func licenseOf(source, module string) (string, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Dir = source
	out, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	dir := strings.TrimSpace(string(out))
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, file := range files {
		// What scripts/dist.sh ships: of a directory nobody knows whether its texts are the module's own.
		if !file.Type().IsRegular() || !isLicense.MatchString(file.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return "", err
		}
		for _, m := range licensecheck.Scan(text).Match {
			if !slices.Contains(found, m.ID) && !m.IsURL {
				found = append(found, m.ID)
			}
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s: no licence is recognised in %s", module, dir)
	}
	slices.Sort(found)
	return strings.Join(found, " AND "), nil
}

var isLicense = regexp.MustCompile(`(?i)^(licen[sc]e|copying)`)
