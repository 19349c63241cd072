package live

import (
	_ "embed"

	"plimsoll/internal/finding"
)

// Rules are the family PL9xx: what a machine at work shows.
func Rules() []*finding.Rule[*Facts] {
	all := pages()
	for _, r := range all {
		code := r.Code
		r.Check = func(f *Facts, report func(finding.Finding)) {
			for _, c := range Judge(f).Causes {
				if c.Code == code {
					report(c.Finding())
				}
			}
		}
	}
	return all
}

// Finding is a cause in the form that all commands print.
func (c Cause) Finding() finding.Finding {
	severity := finding.Warn
	if c.Elsewhere || c.Confidence == Possible {
		severity = finding.Info
	}
	return finding.Finding{
		Code: c.Code, Severity: severity, Title: c.Title, Subject: c.Subject, Message: c.Message, Evidence: c.Evidence,
		Commands: c.Next,
	}
}

func titleOf(code finding.Code) string {
	for _, r := range pages() {
		if r.Code == code {
			return r.Title
		}
	}
	return ""
}

func pages() []*finding.Rule[*Facts] { return finding.Rules[*Facts](texts, nil) }

//go:embed rules.txt
var texts string
