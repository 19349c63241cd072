package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

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
	return retried(ctx, m.cloud, identifyTry, m.hint, func(ctx context.Context) ([]byte, error) {
		return m.once(ctx, client, url)
	})
}

// retried asks for metadata twice, as long as limit each. An answer that is late is one whose error is
// context.DeadlineExceeded.
func retried[T any](
	ctx context.Context,
	cloud string,
	limit time.Duration,
	hint string,
	ask func(context.Context) (T, error),
) (answer T, err error) {
	for range identifyTries {
		trying, cancel := context.WithTimeout(ctx, limit)
		answer, err = ask(trying)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return answer, err
		}
	}
	return answer, fmt.Errorf("%s metadata: no answer in %s; %s", cloud, text.Duration(identifyTries*limit), hint)
}

func (m linkLocal) once(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%s metadata: %w", m.cloud, err)
	}
	req.Header = m.header
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s metadata: %w; %s", m.cloud, cause(err), m.hint)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s metadata: %s; %s", m.cloud, resp.Status, m.hint)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostMetadata))
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return body, err
}
