package page

import "testing"

// The address of a page that the catalogue cites can be copied; no other text becomes a link.
func TestMarkdownAddresses(t *testing.T) {
	const cites = "https://docs.aws.amazon.com/ebs/latest/userguide/a_b.html"
	for text, want := range map[string]string{
		"from " + cites + " (2025-11)":             "from <" + cites + "> (2025-11)",
		cites + ".":                                "<" + cites + ">.",
		"https://evil.example/a_b":                 "https:\u200b//evil.example/a\\_b",
		"https://docs.aws.amazon.com.evil.org/x":   "https:\u200b//docs.aws.amazon.com.evil.org/x",
		"https://docs.aws.amazon.com@evil.org/x":   "https:\u200b//docs.aws.amazon.com@\u200bevil.org/x",
		"https://learn.microsoft.com/a><b>@mine":   "<https://learn.microsoft.com/a>&gt;&lt;b&gt;@\u200bmine",
		"http://docs.aws.amazon.com/x and www.a.b": "http:\u200b//docs.aws.amazon.com/x and www\u200b.a.b",
	} {
		if got := md(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// An annotation has sentences.
func TestFindingsSay(t *testing.T) {
	for _, c := range [][3]string{
		{"Two mounts, 2 cases", "Mount by UUID.", "Two mounts, 2 cases. Mount by UUID."},
		{"It is so.", "Do it.", "It is so. Do it."},
		{"", "Do it.", "Do it."},
		{"It is so", "", "It is so"},
	} {
		if got := (&Finding{Message: c[0], Fix: c[1]}).says(); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}
