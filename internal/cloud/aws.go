package cloud

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"

	"plimsoll/internal/text"
)

// APIBudget is the most time that asking an AWS service takes.
const APIBudget = 5 * time.Second

// service is an AWS service that takes signed forms and answers in XML (the query protocol), and
// the one call that is made to it.
//
// Only credentials and signature are the SDK's. Its EC2 client would add 36 MB to the binary
// (measured), because html/template keeps the linker from dropping methods (golang/go#72895), for
// one call whose protocol is a signed form and an XML answer.
type service struct {
	name    string // in messages
	id      string // in AWS_ENDPOINT_URL_… and, in lower case, in the services section of AWS's config file
	host    string // first label of the endpoint, and the name that signatures are for
	version string
	action  string
	prefix  string // of the action as a permission: ec2 in ec2:DescribeVolumes
	instead string // what else can be done where the permission is missing
}

func (s service) permission() string { return s.prefix + ":" + s.action }

// client is a service with what it takes to ask it.
type client struct {
	service
	cfg  aws.Config
	keys aws.Credentials
	url  string
}

var regionName = regexp.MustCompile(`^[a-z]{2}[a-z0-9-]{2,30}$`)

// open takes credentials, region and endpoint from the standard variables and files; region, where
// not empty, comes after those.
func (s service) open(ctx context.Context, region string) (c client, err error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithDefaultRegion(region))
	if err != nil {
		return c, fmt.Errorf("AWS configuration: %w", err)
	}
	if !regionName.MatchString(cfg.Region) {
		return c, fmt.Errorf("%s: the region is not known (%.40q): set AWS_REGION", s.name, cfg.Region)
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if timeout := late(ctx); timeout != nil {
		return c, fmt.Errorf("%s: %w", s.name, timeout)
	}
	if err != nil {
		return c, fmt.Errorf("%s: no credentials: give the instance a role with %s%s", s.name, s.permission(), s.instead)
	}
	return client{s, cfg, keys, s.endpoint(ctx, cfg)}, nil
}

// endpoint is chosen as the SDK's clients do it: AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL, the
// services section and endpoint_url of the config file, each unless
// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is set, and last the region's own.
func (s service) endpoint(ctx context.Context, cfg aws.Config) string {
	standard := "https://" + s.host + "." + cfg.Region + ".amazonaws.com" + domain(cfg.Region)
	if ignore, _, _ := config.GetIgnoreConfiguredEndpoints(ctx, cfg.ConfigSources); ignore {
		return standard
	}
	if own := os.Getenv("AWS_ENDPOINT_URL_" + strings.ToUpper(s.id)); own != "" {
		return own
	}
	if os.Getenv("AWS_ENDPOINT_URL") == "" {
		for _, source := range cfg.ConfigSources {
			if of, ok := source.(interface {
				GetServiceBaseEndpoint(ctx context.Context, id string) (string, bool, error)
			}); ok {
				if own, found, err := of.GetServiceBaseEndpoint(ctx, s.id); found && err == nil {
					return own
				}
			}
		}
	}
	return cmp.Or(aws.ToString(cfg.BaseEndpoint), standard)
}

// domain is what China's endpoints add.
func domain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return ".cn"
	}
	return ""
}

// ask posts one signed form and reads the XML answer or the service's own error.
func (c client) ask(ctx context.Context, form url.Values, answer any) error {
	text, err := c.post(ctx, form)
	if timeout := late(ctx); err != nil && timeout != nil {
		err = timeout
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if err := xml.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%s: the answer is not XML: %w", c.name, err)
	}
	return nil
}

// late says in plain words that the budget is spent, nil while it is not.
func late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer in %s", text.Duration(APIBudget))
	}
	return nil
}

func (c client) post(ctx context.Context, form url.Values) ([]byte, error) {
	form.Set("Action", c.action)
	form.Set("Version", c.version)
	body := form.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.url, "/")+"/",
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
	if err := v4.NewSigner().SignHTTP(ctx, c.keys, req, hash, c.host, c.cfg.Region, time.Now()); err != nil {
		return nil, err
	}
	resp, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return nil, cause(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = c.refused(resp.Status, text)
	}
	return text, err
}

// refused reads an error document: Response/Errors/Error of EC2, ErrorResponse/Error of the others.
func (s service) refused(status string, text []byte) error {
	type failure struct {
		Code    string `xml:"Code"`
		Message string `xml:"Message"`
	}
	var doc struct {
		Errors []failure `xml:"Errors>Error"`
		Error  failure   `xml:"Error"`
	}
	_ = xml.Unmarshal(text, &doc) // a proxy's answer is no XML: then the status must do
	said := append(doc.Errors, doc.Error)[0]
	err := fmt.Errorf("%s: %s", cmp.Or(said.Code, "HTTP"), cmp.Or(said.Message, status))
	denied := slices.Contains([]string{"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"}, said.Code)
	if denied && !strings.Contains(said.Message, s.permission()) {
		return fmt.Errorf("%w: the permission %s is missing", err, s.permission())
	}
	return err
}

// cause shortens the SDK's chain of "operation error …" to what is wrong.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
