package live

import "plimsoll/internal/finding"

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
