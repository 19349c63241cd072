package form

import (
	_ "embed" // the help of flags
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// duration is a flag's value: a number of seconds, as fio's users type it, or with units.
type duration time.Duration

func (d *duration) Set(s string) error {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil && seconds > -1e9 && seconds < 1e9 {
		*d = duration(seconds * float64(time.Second))
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("use seconds, or a time with units such as 90s, 5m or 1h30m")
	}
	*d = duration(v)
	return nil
}

// String is what Set reads back, which fleet run passes on to the hosts.
func (d *duration) String() string { return time.Duration(*d).String() }

func (*duration) Type() string { return "DURATION" }

// flagTable has a row for each flag that is bound by name: the set of flags, the flag, what holds for it, and its
// help, in which backquotes are around the name of its value.
//
//go:embed flags.tsv
var flagTable string

const seldomAnnotation = "plimsoll_seldom"

// Bind adds flags of a set of flags.tsv: pairs of a name and where its value goes to, which holds the default.
func Bind(f *pflag.FlagSet, set string, pairs ...any) {
	for pair := range slices.Chunk(pairs, 2) {
		name := fmt.Sprint(pair[0])
		_, row, known := strings.Cut(flagTable, "\n"+set+"\t"+name+"\t")
		row, _, _ = strings.Cut(row, "\n")
		marks, help, _ := strings.Cut(row, "\t")
		_, short, _ := strings.Cut(marks, "short=")
		zero := false
		switch to := pair[1].(type) {
		case *string:
			f.StringVarP(to, name, short, *to, help)
		case *bool:
			f.BoolVarP(to, name, short, *to, help)
		case *int:
			f.IntVar(to, name, *to, help)
		case *uint64:
			f.Uint64Var(to, name, *to, help)
		case *float64:
			f.Float64Var(to, name, *to, help)
		case *[]string:
			if strings.Contains(marks, "commas") {
				f.StringSliceVar(to, name, *to, help)
			} else {
				f.StringArrayVar(to, name, *to, help)
			}
		case *time.Duration:
			zero = *to == 0
			f.Var((*duration)(to), name, help)
		case textValue:
			zero = reflect.ValueOf(to).Elem().IsZero()
			f.TextVar(to, name, to, help)
		default:
			known = false
		}
		if !known {
			panic("flags.tsv: " + set + " --" + name) // every test of the command ends here
		}
		if zero {
			f.Lookup(name).DefValue = "" // which keeps "(default 0 ns)" out of the help
		}
		if strings.Contains(marks, "typed") {
			TypedOnly(f, name)
		}
		if strings.Contains(marks, "seldom") {
			_ = f.SetAnnotation(name, seldomAnnotation, []string{"true"}) // it is there
		}
	}
}

// BindAll makes flags of the fields of options that have a tag such as flag:"level", where the set has a row of that
// name.
func BindAll(f *pflag.FlagSet, set string, options any) {
	for field, value := range reflect.ValueOf(options).Elem().Fields() {
		if name := field.Tag.Get("flag"); strings.Contains(flagTable, "\n"+set+"\t"+name+"\t") {
			Bind(f, set, name, value.Addr().Interface())
		}
	}
}

func addFormats(cmd *cobra.Command, options any) {
	v := reflect.ValueOf(options).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		words := page.Formats()
		switch field.Tag.Get("formats") {
		case "":
			continue
		case "plain":
			words = page.PlainFormats()
		}
		AddFormat(cmd, v.FieldByIndex(field.Index).Addr().Interface().(*string), words)
	}
}

type textValue interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// Seldom says that the help of a command with many flags leaves the flag out.
func Seldom(f *pflag.Flag) bool { return f.Annotations[seldomAnnotation] != nil }

// listType is the type of values that are each.
const listType = "list"

// each is the value of a flag that is given for each of several things.
type each struct{ to *[]string }

func (e each) Set(s string) error { *e.to = append(*e.to, s); return nil }
func (each) String() string       { return "" }
func (each) Type() string         { return listType }

// BindEach has a flag that is bound already take all of its occurrences as they are, with the help of a row of its own.
func BindEach(f *pflag.FlagSet, set, name string, to *[]string) {
	flag, own := f.Lookup(name), pflag.NewFlagSet(set, pflag.ContinueOnError)
	Bind(own, set, name, to)
	flag.Usage, flag.Value = own.Lookup(name).Usage, each{to}
}

// choice is a flag's value that is one of several words.
type choice struct {
	value *string
	words []string
}

func (c choice) Set(s string) error {
	if slices.Contains(c.words, s) {
		*c.value = s
		return nil
	}
	err := fmt.Errorf("use one of %s", strings.Join(c.words, ", "))
	if like := text.Nearest(s, c.words); like != "" {
		err = fmt.Errorf("did you mean %s? %w", like, err)
	}
	return err
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (choice) Type() string { return "string" }

// AddChoice adds a flag that takes one of words; help has the metavariable in backquotes and ends
// before the list.
func AddChoice[T ~string](cmd *cobra.Command, to *string, name, help string, words []T) {
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = string(w)
	}
	cmd.Flags().Var(choice{to, plain}, name, help+": "+strings.Join(plain, ", "))
	completeValues(cmd, name, words)
}

// AddFormat adds --format, whose first word is the default, and --json for --format json.
func AddFormat[T ~string](cmd *cobra.Command, format *string, words []T) {
	*format = string(words[0])
	AddChoice(cmd, format, "format", "output `FORMAT`", words)
	cmd.Flags().BoolFunc("json", "same as --format json", func(s string) error {
		on, err := strconv.ParseBool(s)
		if on {
			*format = FormatJSON
		}
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("format", "json")
}

// FormatJSON is among the formats of every command that prints data.
const FormatJSON = "json"

// TextFormat is what a command prints unless another format is asked for.
const TextFormat = string(page.Text)

// FormatShell is a plan as a script.
const FormatShell = "sh"
