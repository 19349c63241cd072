package lint

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
)

// Knows is whether a rule of lint has the code.
func Knows(code finding.Code) bool {
	return slices.ContainsFunc(Rules(), func(r *rule) bool { return r.Code == code })
}

// Rules are the rules of the family PL1xx, in the order of their codes.
func Rules() []*rule {
	return finding.Rules(map[finding.Code]func(*Case, reporter){
		"PL100": unreadable,
		"PL101": longDash,
		"PL102": unknownOption,
		"PL103": eachJob(judged(depthOnSync)),
		"PL104": eachJob(judged(asyncBuffered)),
		"PL105": eachJob(measured(cachedSet)),
		"PL106": anyJob(measured(tinyFile)),
		"PL107": eachJob(measured(sameBlocks)),
		"PL108": eachJob(endless),
		"PL109": eachJob(measured(noRamp)),
		"PL110": eachJob(measured(shortForBurst)),
		"PL111": eachJob(measured(syncWithDepth)),
		"PL112": eachJob(measured(neverWritten)),
		"PL113": anyJob(rawWrite),
		"PL114": eachJob(measured(straddles)),
		"PL115": eachJob(measured(repeatedRandom)),
		"PL116": eachJob(measured(zeroData)),
		"PL117": eachJob(randomMap),
		"PL118": eachJob(manyReports),
		"PL119": anyJob(ratePerJob),
		"PL120": mixIgnored,
		"PL122": eachJob(measured(omission)),
		"PL123": anyJob(runsCommand),
		"PL124": renamed,
		"PL125": eachJob(percentSize),
		"PL126": eachJob(judged(everyIO)),
		"PL127": blankValue,
		"PL128": inverseUnit,
		"PL129": eachJob(measured(endsEarly)),
		"PL130": wrongStripe,
		"PL131": mountedTwice,
		"PL132": mountedWith("With discard, deleted files are trimmed while something else is measured, and reads of "+
			"their blocks never touch the media.", "discard"),
		"PL133":     neverMounted,
		"PL134":     sameVolume,
		"PL135":     anyJob(rateBySmallest),
		"PL136":     eachJob(rateWithPauses),
		"PL137":     eachJob(rampAboveRun),
		"PL138":     givenTwice,
		"PL139":     together,
		"PL140":     eachJob(judged(boundByDepth)),
		"PL141":     noJob,
		"PL142":     oneName,
		"PL143":     anyJob(measured(smallOnDevice)),
		"PL144":     eachJob(manyFills),
		"PL145":     eachJob(holesInFill),
		"PL146":     eachJob(loopsWithTime),
		"PL147":     notRead,
		idleComment: func(*Case, reporter) {},
		"PL149":     eachJob(verifyShared),
		"PL150":     writtenTwice,
		"PL151":     series,
		"PL152":     eachJob(replayed),
		"PL153":     eachJob(measured(neverSynced)),
		"PL154":     eachJob(judged(contradictingName)),
		"PL155":     eachJob(judged(unsynced)),
		"PL156":     lostDash,
		"PL157":     placeAlone,
		"PL158":     anyJob(noSize),
		"PL159":     syncsNothing,
		"PL160":     sectionPath,
		"PL161":     anyJob(measured(partSectors)),
		"PL162":     unmade,
		"PL163":     bootFiles,
		"PL164": mountedWith("Without barriers, no flush reaches the drive: syncs look faster than "+
			"durable ones are.", "nobarrier", "barrier=0"),
		"PL165": eachJob(verifiesNothing),
	})
}

// Judged is what Judge found, and which findings comments in place silence.
type Judged struct{ Found, Silenced []fault }

// Judge judges the documents of a case, which NewCase made. Findings come by document and line.
func Judge(c *Case, disabled ...finding.Code) Judged {
	order := map[string]int{}
	files := map[string]*script.File{}
	for i, f := range c.Scripts {
		order[f.Name], files[f.Name] = i, f
	}
	off := finding.Disabled{}
	for _, code := range disabled {
		off[code] = "disabled"
	}
	all := finding.Judge(Rules(), c, off)
	c.temper(all, files)
	if !slices.Contains(disabled, idleComment) {
		all = append(all, idleComments(c, all, disabled)...)
	}
	var j Judged
	for _, f := range all {
		switch file := files[f.File]; {
		case f.Disabled != "" || file == nil:
		case file.Disabled(string(f.Code), f.Line):
			j.Silenced = append(j.Silenced, f)
		default:
			j.Found = append(j.Found, f)
		}
	}
	slices.SortStableFunc(j.Found, func(a, b fault) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col),
			cmp.Compare(a.Code, b.Code))
	})
	return j
}

// Fix applies the certain repairs of findings in one document's text and says how many were made.
// Of two in one place the first is made, and none where the text is not what was judged: lint again.
func Fix(text string, found []fault) (string, int) {
	var edits []finding.Edit
	for _, f := range found {
		edits = append(edits, f.Edits...)
	}
	slices.SortStableFunc(edits,
		func(a, b finding.Edit) int { return cmp.Or(cmp.Compare(b.Line, a.Line), cmp.Compare(b.Col, a.Col)) })
	lines := strings.SplitAfter(text, "\n")
	made := 0
	var last finding.Edit
	for _, e := range edits {
		if e.Line < 1 || e.Line > len(lines) || e.Line == last.Line && e.Col+utf8.RuneCountInString(e.Old) > last.Col {
			continue
		}
		line := []rune(lines[e.Line-1])
		if e.Col < 1 || e.Col > len(line) || !utf8.ValidString(lines[e.Line-1]) { // of other bytes runes keep nothing
			continue
		}
		rest, stands := strings.CutPrefix(string(line[e.Col-1:]), e.Old)
		if !stands {
			continue
		}
		lines[e.Line-1] = string(line[:e.Col-1]) + e.New + rest
		last = e
		made++
	}
	return strings.Join(lines, ""), made
}

// replaced is the repair that puts text in the place of old, which is known to begin at a column of a line;
// none where the document does not have it there as fio reads it: it came out of a variable, or has quotes.
func replaced(f *script.File, line, col int, old, text string) []finding.Edit {
	if rest := f.From(line, col); rest == "" || !strings.HasPrefix(rest, old) {
		return nil
	}
	return []finding.Edit{{Line: line, Col: col, Old: old, New: text}}
}

// set are the repairs of what sets an option: another name, another value, or the same ones to leave it.
func set(f *script.File, o fio.Option, name, value string) []finding.Edit {
	rest := f.From(o.Line, o.Col)
	behind, stands := strings.CutPrefix(strings.TrimLeft(rest, `"'-`), o.Name)
	at := func(now string) int { return o.Col + utf8.RuneCountInString(rest) - utf8.RuneCountInString(now) }
	switch {
	case !stands:
		return nil
	case name != o.Name:
		return replaced(f, o.Line, at(o.Name+behind), o.Name, name)
	}
	behind = strings.TrimLeft(behind, " \t")
	if after, sets := strings.CutPrefix(behind, "="); sets {
		behind = after
	}
	if behind != "" && !strings.HasPrefix(behind, o.Pad+o.Value) {
		behind = strings.TrimLeft(behind[:1], `"'`) + behind[1:]
	}
	return replaced(f, o.Line, at(behind), o.Pad+o.Value, value)
}

// idleComment is about what the other rules found: Judge asks it last (idleComments).
const idleComment finding.Code = "PL148"

// idleComments finds the comments that silence none of the findings.
func idleComments(c *Case, all []fault, disabled []finding.Code) []fault {
	type place struct{ file, code string }
	lines := map[place][]int{} // of findings, in order
	for _, f := range all {
		at := place{f.File, string(f.Code)}
		lines[at] = append(lines[at], f.Line)
	}
	for _, of := range lines {
		slices.Sort(of)
	}
	var idle []fault
	page, _ := finding.PageOf(idleComment)
	report := func(file string, line int, message string) {
		idle = append(idle, page.Fill(fault{
			File: file, Subject: says("%s:%d:1", file, line), Line: line, Col: 1, Message: message,
		}))
	}
	known := map[string]bool{}
	for _, r := range Rules() {
		known[string(r.Code)] = true
	}
	for _, file := range c.Scripts {
		for _, d := range file.Disables {
			if d.Malformed {
				report(
					file.Name,
					d.Line,
					`The comment does not have the form "plimsoll: disable=PL107 reason": it silences nothing.`,
				)
			}
			for _, code := range d.Codes {
				switch {
				case !known[code]:
					report(file.Name, d.Line,
						says("No lint rule has the code %s.", strings.TrimSpace(code)))
				case slices.Contains(disabled, finding.Code(code)) || code == string(idleComment):
				case !d.CoversOne(lines[place{file.Name, code}]):
					report(file.Name, d.Line, says("%s finds nothing in the lines that this comment covers.", code))
				}
			}
		}
	}
	return idle
}
