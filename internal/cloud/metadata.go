package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"plimsoll/internal/text"
)

// linkLocal is a question to a metadata service over plain HTTP.
type linkLocal struct {
	cloud  string      // in messages
	header http.Header // without which it does not answer
	hint   string      // where nothing answers
}

// mostMetadata is more than any answer that is asked for.
const mostMetadata = 1 << 20

// get asks twice, half a second each: a link-local service answers in milliseconds, and where it is
// out of reach its address may swallow packets. No proxy is asked. The error says what it was.
func (m linkLocal) get(ctx context.Context, url string) ([]byte, error) {
	line := &http.Transport{}
	defer line.CloseIdleConnections()
	client := &http.Client{
		Transport:     line,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for range identifyTries {
		body, err := m.once(ctx, client, url)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return body, err
		}
	}
	return nil, fmt.Errorf("%s metadata: no answer in %s; %s", m.cloud, text.Duration(identifyTries*identifyTry), m.hint)
}

func (m linkLocal) once(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	trying, cancel := context.WithTimeout(ctx, identifyTry)
	defer cancel()
	req, err := http.NewRequestWithContext(trying, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%s metadata: %w", m.cloud, err)
	}
	req.Header = m.header
	resp, err := client.Do(req)
	if err != nil {
		if trying.Err() != nil {
			return nil, trying.Err()
		}
		return nil, fmt.Errorf("%s metadata: %w; %s", m.cloud, cause(err), m.hint)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s metadata: %s; %s", m.cloud, resp.Status, m.hint)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostMetadata))
	if err != nil && trying.Err() != nil {
		return nil, trying.Err()
	}
	return body, err
}
