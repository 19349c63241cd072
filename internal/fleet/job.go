package fleet

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"plimsoll/internal/text"
)

// jobs has a file for each engine that starts members and gives no pipe to them.
//
//go:embed jobs
var jobs embed.FS

// Job is a fleet run that an engine carries out: each member starts at Start by its own clock, and its
// sealed run is collected and merged by Import.
type Job struct {
	Engine  string   // of JobEngines
	Args    []string // of plimsoll run
	Members int
	Image   string // of plimsoll, for kubernetes
	Start   time.Time
}

// JobEngines have a template.
func JobEngines() []string { return []string{"ansible", "slurm", "kubernetes"} }

// jinja begins an expression, a statement or a comment, which Ansible would evaluate or take out.
var jinja = regexp.MustCompile(`\{[{%#]`)

// File is what the engine is given.
func (j Job) File() (string, error) {
	template, err := jobs.ReadFile("jobs/" + j.Engine)
	if err != nil {
		return "", err
	}
	start := j.Start.UTC().Format(time.RFC3339)
	words := append([]string{"--start-at=" + start}, j.Args...)
	for i, w := range words {
		// Ansible's command puts in what the member's environment says of $NAME, and its home for ~.
		expanded := j.Engine == "ansible" && (strings.Contains(w, "$") || strings.HasPrefix(w, "~"))
		if expanded || !utf8.ValidString(w) || strings.ContainsFunc(w, unicode.IsControl) || jinja.MatchString(w) {
			return "", fmt.Errorf("%s: an engine would read it as something else: use plain words", text.Quote(w))
		}
		if j.Engine == "kubernetes" { // which expands $(NAME), and takes $$ for $
			words[i] = strings.ReplaceAll(w, "$", "$$")
		}
	}
	list, err := json.Marshal(words)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("START", start, "MEMBERS", strconv.Itoa(j.Members), "IMAGE", strconv.Quote(j.Image),
		"LIST", strings.Trim(string(list), "[]"), "WORDS", text.ShellLine(words)).Replace(string(template)), nil
}
