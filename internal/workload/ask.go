package workload

import (
	"bufio"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"plimsoll/internal/yamlfile"
)

// question is one line of a description: its key, the answer that Enter stands for, what stands in
// until it is answered, and what is asked.
type question struct{ key, otherwise, meanwhile, text string }

//go:embed questions.tsv
var questionText string

// aboutStream are the questions about a stream.
var aboutStream = func() (all []question) {
	for line := range strings.Lines(questionText) {
		col := strings.Split(strings.TrimSpace(line), "\t")
		all = append(all, question{col[0], col[1], col[2], col[3]})
	}
	return all
}()

// errNoAnswers is returned when the input ends before the questions do.
var errNoAnswers = errors.New("input ended before all questions were answered")

// Ask asks a person for a demand and returns it as YAML. An answer that cannot be is asked for
// again, with the reason.
func Ask(in io.Reader, out io.Writer) (string, error) {
	a := asker{bufio.NewScanner(in), out}
	text := ""
	for _, q := range []question{
		{"workload", "app", "", "name of the application"},
		{"capacity", "100GiB", "", "how much data it holds"},
	} {
		line := func(answer string) string { return text + q.key + ": " + answer + "\n" }
		answer, err := a.ask(q, func(s string) error {
			const rest = "streams: [{does: random read, block: 4KiB, rate: 1 IOPS}]\n" // makes a whole file of it
			return reason(Parse("app.yaml", []byte(line(s)+rest)))
		})
		if err != nil {
			return "", err
		}
		text = line(answer)
	}
	text += "streams:\n"
	for n := 1; ; n++ {
		stream, err := a.stream(text)
		if err != nil {
			return "", err
		}
		text += stream
		more, err := a.ask(question{text: "another stream? yes or no", otherwise: "no"}, func(s string) error {
			if s != "yes" && s != "no" && s != "y" && s != "n" {
				return errors.New("want yes or no")
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		if more[0] != 'y' || n == mostStreams {
			break
		}
	}
	if _, err := Parse("app.yaml", []byte(text)); err != nil {
		return "", err
	}
	return text, nil // as it was answered: 5MB/s stays 5MB/s, which the demand has a note on
}

type asker struct {
	in  *bufio.Scanner
	out io.Writer
}

// ask one question until its answer passes.
func (a asker) ask(q question, check func(string) error) (string, error) {
	for {
		hint := ""
		if q.otherwise != "" {
			hint = " [" + q.otherwise + "]"
		}
		fmt.Fprintf(a.out, "%s%s: ", q.text, hint)
		if !a.in.Scan() {
			return "", errors.Join(a.in.Err(), errNoAnswers)
		}
		answer := strings.TrimSpace(a.in.Text())
		answer = cmp.Or(answer, q.otherwise)
		var err error
		if answer != "" {
			err = check(answer)
		} else if !strings.Contains(q.text, "; empty ") {
			err = errors.New("an answer is needed")
		}
		if err == nil {
			return answer, nil
		}
		fmt.Fprintf(a.out, "  %v\n", err)
	}
}

// reason is a mistake without its place, which a person who answers does not see.
func reason(_ *Demand, err error) error {
	if m, ok := errors.AsType[*yamlfile.Mistake](err); ok {
		return m.Err
	}
	return err
}

func (a asker) stream(before string) (string, error) {
	lines := map[string]string{}
	whole := func(with map[string]string) string {
		text, sep := before, "  - "
		// Keys that are not answered yet stand in with what goes with anything.
		for _, q := range aboutStream {
			if v := cmp.Or(with[q.key], q.meanwhile); v != "" {
				text += sep + q.key + ": " + v + "\n"
				sep = "    "
			}
		}
		return text
	}
	for _, q := range aboutStream {
		if q.key == "reads" && !strings.HasSuffix(lines["does"], "readwrite") ||
			q.key == "sync" && strings.HasSuffix(lines["does"], " read") {
			continue
		}
		answer, err := a.ask(q, func(s string) error {
			trial := map[string]string{q.key: s}
			maps.Copy(trial, lines)
			if strings.HasSuffix(trial["does"], "readwrite") && trial["reads"] == "" {
				trial["reads"] = "50%"
			}
			return reason(Parse("app.yaml", []byte(whole(trial))))
		})
		if err != nil {
			return "", err
		}
		lines[q.key] = answer
	}
	return strings.TrimPrefix(whole(lines), before), nil
}
