package plans

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/report/page"
	"plimsoll/internal/script"
)

// linted is what lint finds in documents with hostile names and contents, of every severity.
func linted() Linted {
	c := lint.Case{}
	for name, text := range map[string]string{
		"a b%,:\n::error::x.fio": "[a\x1b]\nrw=randread\niodpeth=32\nsize=1g\niodepth=32\nruntime=60\n",
		"../ü/x.sh":              "fio —name=a —rw=read\n$RUN \"x fio $OPTS\"\n",
		"\xff.fio":               "rw=read\n[a]\n",
	} {
		c.Scripts = append(c.Scripts, script.Parse(name, []byte(text), script.Options{}))
	}
	return Linted{Files: c.Scripts, Findings: lint.Judge(lint.NewCase(c)).Found, Tool: "test"}
}

func TestSARIFKeepsToItsSchema(t *testing.T) {
	text, err := os.ReadFile("testdata/schemas/sarif-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]Linted{"findings": linted(), "nothing": {Tool: "test"}} {
		var out bytes.Buffer
		if err := page.Write(&out, page.SARIF, Lint(l), page.Options{Details: true}); err != nil {
			t.Fatal(err)
		}
		got, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each rule of a report in SARIF has an address of its own, which ends in the code that plimsoll explain takes.
func TestSARIFRulesHaveAnAddress(t *testing.T) {
	var out bytes.Buffer
	if err := page.Write(&out, page.SARIF, Lint(linted()), page.Options{Details: true}); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Rules []struct{ ID, HelpURI string }
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	rules := report.Runs[0].Tool.Driver.Rules
	if len(rules) < 3 {
		t.Fatalf("%d rules, want some", len(rules))
	}
	for _, r := range rules {
		if u, err := url.Parse(r.HelpURI); err != nil || !u.IsAbs() || !strings.HasSuffix(r.HelpURI, ":"+r.ID) {
			t.Errorf("helpUri of %s is %q (%v): want an absolute one that ends in its code", r.ID, r.HelpURI, err)
		}
		if !slices.ContainsFunc(lint.Rules(), func(l *finding.Rule[*lint.Case]) bool { return string(l.Code) == r.ID }) {
			t.Errorf("no lint rule has the code %s", r.ID)
		}
	}
}

// workflowCommand is the form of GitHub's documentation ("Workflow commands": ::error
// file={name},line={line},col={col},title={title}::{message}), in which , : and line ends of a
// property are escaped. There is no schema of it.
var workflowCommand = regexp.MustCompile(`^::(error|warning|notice) file=[^,:\r\n]+,line=[1-9][0-9]*,col=[1-9][0-9]*,title=[^,:\r\n]+::[^\r\n]+$`)

func TestGitHubFormatIsAnnotationsOnly(t *testing.T) {
	l := linted()
	var out bytes.Buffer
	if err := page.Write(&out, page.GitHub, Lint(l), page.Options{Details: true}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(l.Findings) || len(lines) < 5 {
		t.Fatalf("%d lines for %d findings", len(lines), len(l.Findings))
	}
	for _, line := range lines {
		if !workflowCommand.MatchString(line) {
			t.Errorf("no annotation: %q", line)
		}
	}
}
