package cloud

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// What AWS refuses is said by its code and message, with the permission where one is missing and the
// message does not name it.
func TestRefusedByHand(t *testing.T) {
	const (
		ec2Form   = `<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>1</RequestID></Response>`
		otherForm = `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>`
	)
	for _, c := range []struct{ status, text, want string }{
		{
			"403 Forbidden", fmt.Sprintf(ec2Form, "UnauthorizedOperation", "You are not authorized."),
			"UnauthorizedOperation: You are not authorized.: the permission ec2:DescribeVolumes is missing",
		},
		{
			"403 Forbidden", fmt.Sprintf(ec2Form, "UnauthorizedOperation", "not authorized to perform: ec2:DescribeVolumes"),
			"UnauthorizedOperation: not authorized to perform: ec2:DescribeVolumes",
		},
		{"403 Forbidden", fmt.Sprintf(otherForm, "AccessDenied", "no"), "AccessDenied: no: the permission ec2:DescribeVolumes is missing"},
		{
			"400 Bad Request", fmt.Sprintf(otherForm, "AccessDeniedException", ""),
			"AccessDeniedException: 400 Bad Request: the permission ec2:DescribeVolumes is missing",
		},
		{"503 Service Unavailable", fmt.Sprintf(ec2Form, "RequestLimitExceeded", "Request limit exceeded."), "RequestLimitExceeded: Request limit exceeded."},
		{"401 Unauthorized", fmt.Sprintf(otherForm, "AuthFailure", "credentials"), "AuthFailure: credentials"},
		{"502 Bad Gateway", "<html><body>proxy", "HTTP: 502 Bad Gateway"},
		{"502 Bad Gateway", "", "HTTP: 502 Bad Gateway"},
	} {
		if got := ec2.refused(c.status, []byte(c.text)).Error(); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.status, c.text, got, c.want)
		}
	}
}

func TestRegionsAndDomains(t *testing.T) {
	for region, want := range map[string]bool{
		"eu-north-1": true, "us-gov-west-1": true, "cn-north-1": true, "": false, "Eu-north-1": false, "eu-north-1.evil": false,
		"e": false, "eu": false, "eu-": false, "eu-1": true, "eu/..": false, "eu-north-1\n": false,
	} {
		if got := regionName.MatchString(region); got != want {
			t.Errorf("%q is a region: %v", region, got)
		}
	}
	for region, want := range map[string]string{"cn-north-1": ".cn", "eu-north-1": "", "acn-1": "", "": ""} {
		if got := domain(region); got != want {
			t.Errorf("%q: %q, want %q", region, got, want)
		}
	}
}

// An error is its innermost cause, and a deadline that passed is said in plain words; one that is
// cancelled is not a deadline.
func TestCausesOfErrors(t *testing.T) {
	plain := errors.New("connection refused")
	for _, err := range []error{plain, fmt.Errorf("operation: %w", fmt.Errorf("dial: %w", plain))} {
		if got := cause(err).Error(); got != "connection refused" {
			t.Errorf("%v: %s", err, got)
		}
	}
	past, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if err := late(past); err == nil || err.Error() != "no answer in 5 s" {
		t.Errorf("%v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if late(stopped) != nil || late(t.Context()) != nil {
		t.Error("no deadline passed")
	}
}

// All volumes that the metadata or an API describes are judged in one way: facts by the catalogue, and
// its doubt where the rules do not allow the order. The baseline that EC2 states of gp2 is no order.
func TestJudgedByTheCatalogue(t *testing.T) {
	for _, c := range []struct {
		info  volumeInfo
		iops  float64
		doubt string
	}{
		{volumeInfo{Type: "gp3", SizeGiB: 100, IOPS: 3000, MiBs: 125}, 3000, ""},
		{volumeInfo{Type: "gp2", SizeGiB: 100, IOPS: 300}, 300, ""},
		{volumeInfo{Type: "st1", SizeGiB: 12800}, 500, ""},
		{volumeInfo{Type: "io1", SizeGiB: 100, IOPS: 5001}, 5001, "io1: 5,001 IOPS are above its maximum of 5,000, 50 per GiB at 100 GiB (as of 2025-11)"},
		{volumeInfo{Type: "gp4", SizeGiB: 1, IOPS: 7}, 0, "volume type"},
	} {
		p := c.info.provisioned()
		if float64(p.Facts.Sustained.IOPS) != c.iops || (p.Doubt == "") != (c.doubt == "") || len(p.Doubt) < len(c.doubt) || p.Doubt[:len(c.doubt)] != c.doubt {
			t.Errorf("%+v: %+v %q", c.info, p.Facts.Sustained, p.Doubt)
		}
	}
}
