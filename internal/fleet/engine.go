package fleet

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/text"
)

// Engines are the built-in ways to reach a host. Anything else is a template: words with {host} in
// them, and COMMAND for what is run.
var engines = map[string]string{
	"ssh":  "ssh -T -o BatchMode=yes -o ServerAliveInterval=5 -o ServerAliveCountMax=3 -- {host} COMMAND",
	"srun": "srun -N1 -n1 -w {host} --export=ALL COMMAND",
}

// Engine reaches hosts: a command that gives standard input and output on one.
type Engine struct {
	name  string
	words []string
	shell bool // the far side is given one line and has a shell read it, as ssh has
}

// ParseEngine reads --via.
func ParseEngine(via string) (*Engine, error) {
	line, known := engines[via]
	if !known {
		line = via
	}
	e := &Engine{name: via, words: strings.Fields(line)}
	if !known && len(e.words) > 0 { // what else it says, such as env TOKEN=…, is no part of a report
		e.name = filepath.Base(e.words[0])
	}
	if !known && len(e.words) < 2 {
		return nil, fmt.Errorf("--via %s: use ssh, srun, or a template such as 'docker exec -i {host} COMMAND'",
			text.Quote(via))
	}
	if n := len(e.words); e.words[n-1] != "COMMAND" || slices.Contains(e.words[:n-1], "COMMAND") {
		return nil, fmt.Errorf("--via %s: the template must end in COMMAND", text.Quote(via))
	}
	if !strings.Contains(line, "{host}") || strings.Contains(e.words[0], "{host}") {
		return nil, fmt.Errorf("--via %s: the template must have {host} after its first word", text.Quote(via))
	}
	e.shell = slices.ContainsFunc(e.words, func(w string) bool { return filepath.Base(w) == "ssh" })
	return e, nil
}

// argv is the command that runs argv on a host.
func (e *Engine) argv(host string, argv ...string) []string {
	var all []string
	for _, w := range e.words[:len(e.words)-1] {
		all = append(all, strings.ReplaceAll(w, "{host}", host))
	}
	if e.shell {
		return append(all, text.ShellLine(argv))
	}
	return append(all, argv...)
}

// hostName is what a host may be called: nothing that a shell or an option parser reads as anything
// else.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_.@:%\[\]][A-Za-z0-9_.@:%\[\]-]*$`)

// mostHosts is how many hosts a fleet may have.
const mostHosts = 1000

// ParseHosts reads --hosts: names with commas or spaces between them, ranges such as
// db[1-8].example, and @FILE by means of read, with a name a line.
func ParseHosts(spec string, read func(file string) ([]byte, error)) ([]string, error) {
	if file, ok := strings.CutPrefix(spec, "@"); ok {
		data, err := read(file)
		if err != nil {
			return nil, err
		}
		var words strings.Builder
		for line := range strings.Lines(string(data)) {
			line, _, _ = strings.Cut(line, "#")
			words.WriteString(" " + strings.TrimSpace(line))
		}
		spec = words.String()
	}
	var hosts []string
	for word := range strings.FieldsFuncSeq(spec, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\n' ||
			r == '\t'
	}) {
		some, err := expand(word)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, some...)
		if len(hosts) > mostHosts {
			return nil, fmt.Errorf("--hosts names more than %d hosts", mostHosts)
		}
	}
	seen := map[string]bool{}
	for _, h := range hosts {
		if !hostName.MatchString(h) {
			return nil, fmt.Errorf(
				"%s is not a host name: use letters, digits and _ . @ : %% [ ] -, and no - at its beginning", text.Quote(h),
			)
		}
		if seen[h] {
			return nil, fmt.Errorf("host %s is named twice", text.Quote(h))
		}
		seen[h] = true
	}
	if len(hosts) == 0 {
		return nil, errors.New("--hosts names no host; use a list such as --hosts db[1-3] or --hosts @FILE")
	}
	return hosts, nil
}

var hostRange = regexp.MustCompile(`^([^\[\]]*)\[([0-9]{1,6})-([0-9]{1,6})\](.*)$`)

// expand makes the names of a range: db[08-10] is db08, db09, db10.
func expand(word string) ([]string, error) {
	m := hostRange.FindStringSubmatch(word)
	if m == nil {
		return []string{word}, nil
	}
	var from, to int
	if _, err := fmt.Sscanf(m[2]+" "+m[3], "%d %d", &from, &to); err != nil || to < from || to-from >= mostHosts {
		return nil, fmt.Errorf("--hosts %s: use a range such as db[1-8]", text.Quote(word))
	}
	if hostRange.MatchString(m[4]) {
		return nil, fmt.Errorf("--hosts %s: use one range in a name, such as db[1-8]", text.Quote(word))
	}
	var hosts []string
	for i := from; i <= to; i++ {
		hosts = append(hosts, fmt.Sprintf("%s%0*d%s", m[1], len(m[2]), i, m[4]))
	}
	return hosts, nil
}
