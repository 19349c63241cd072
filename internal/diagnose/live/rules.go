package live

import (
	"strings"

	"plimsoll/internal/finding"
)

// Rules are the family PL9xx: what a machine at work shows.
func Rules() []*finding.Rule[*Facts] {
	var all []*finding.Rule[*Facts]
	for _, p := range finding.Pages() {
		if strings.HasPrefix(string(p.Code), "PL9") {
			all = append(all, &finding.Rule[*Facts]{Code: p.Code, Check: func(f *Facts, report func(finding.Finding)) {
				for _, c := range Judge(f).Causes {
					if c.Code == p.Code {
						report(c.Finding())
					}
				}
			}})
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
	p, _ := finding.PageOf(code)
	return p.Title
}
