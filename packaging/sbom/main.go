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

type document struct {
	SPDXVersion   string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	SPDXID        string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []module       `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type module struct {
	Name         string      `json:"name"`
	SPDXID       string      `json:"SPDXID"`
	Version      string      `json:"versionInfo"`
	Download     string      `json:"downloadLocation"`
	Analyzed     bool        `json:"filesAnalyzed"`
	Concluded    string      `json:"licenseConcluded"`
	Declared     string      `json:"licenseDeclared"`
	Copyright    string      `json:"copyrightText"`
	ExternalRefs []reference `json:"externalRefs,omitempty"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

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
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT",
		Name: "plimsoll-" + version, Namespace: "urn:plimsoll:" + version,
		Creation: creation{time.Unix(seconds, 0).UTC().Format(time.RFC3339), []string{"Tool: plimsoll-sbom"}},
	}
	add := func(name, version, license, purl string) string {
		id := "SPDXRef-" + notID.ReplaceAllString(name, "-")
		m := module{
			Name: name, SPDXID: id, Version: version, Download: "NOASSERTION",
			Concluded: license, Declared: license, Copyright: "NOASSERTION",
		}
		if purl != "" {
			m.ExternalRefs = []reference{{"PACKAGE-MANAGER", "purl", purl}}
		}
		d.Packages = append(d.Packages, m)
		return id
	}
	main := add("plimsoll", version, "Apache-2.0", "")
	d.Relationships = append(d.Relationships, relationship{d.SPDXID, "DESCRIBES", main})
	go1 := add("go", info.GoVersion, "BSD-3-Clause", "pkg:golang/std@"+info.GoVersion)
	d.Relationships = append(d.Relationships, relationship{main, "DEPENDS_ON", go1})
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		license, err := licenseOf(source, dep.Path)
		if err != nil {
			return err
		}
		id := add(dep.Path, dep.Version, license, "pkg:golang/"+dep.Path+"@"+dep.Version)
		d.Relationships = append(d.Relationships, relationship{main, "DEPENDS_ON", id})
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(d)
}

// licenseOf is the SPDX expression of a module's licence files.
func licenseOf(source, module string) (string, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Dir = source
	dir, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*"))
	if err != nil {
		return "", err
	}
	var found []string
	for _, name := range files {
		if !isLicense.MatchString(filepath.Base(name)) {
			continue
		}
		text, err := os.ReadFile(name)
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
		return "", fmt.Errorf("%s: no licence is recognised in %s", module, strings.TrimSpace(string(dir)))
	}
	slices.Sort(found)
	return strings.Join(found, " AND "), nil
}

var isLicense = regexp.MustCompile(`(?i)^(licen[sc]e|copying)`)
