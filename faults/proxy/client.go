package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Client arms the rules of a proxy that runs elsewhere.
type Client struct {
	URL   string // of control, such as http://faultproxy:9443
	Token string
	HTTP  *http.Client // nil: http.DefaultClient; that of Through where the proxy is reached through a tunnel
}

// Through is a client whose connections dial makes, through a tunnel. It lets an idle connection go long before control does: through a tunnel the
// news of its end takes a while, and a rule that is sent meanwhile would be lost with it (net/http sends neither POST nor DELETE again).
func Through(dial func(context.Context) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		IdleConnTimeout: controlIdle / 4,
	}}
}

// poll is how long Hits waits for one.
const poll = 30 * time.Second

// Arm has the rule strike from now on.
func (c *Client) Arm(ctx context.Context, r Rule) (id string, err error) {
	body, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("arm a rule: %w", err)
	}
	var made struct{ ID string }
	if err := c.call(ctx, http.MethodPost, "/rules", body, &made); err != nil {
		return "", fmt.Errorf("arm a rule: %w", err)
	}
	return made.ID, nil
}

// Disarm takes the rule away. Calls that it has struck go on as it has decided.
func (c *Client) Disarm(ctx context.Context, id string) error {
	if id == "" {
		return errors.New("disarm a rule: it has no ID; DisarmAll takes all away")
	}
	if err := c.call(ctx, http.MethodDelete, "/rules/"+url.PathEscape(id), nil, nil); err != nil {
		return fmt.Errorf("disarm rule %s: %w", id, err)
	}
	return nil
}

// DisarmAll takes all rules away.
func (c *Client) DisarmAll(ctx context.Context) error {
	if err := c.call(ctx, http.MethodDelete, "/rules", nil, nil); err != nil {
		return fmt.Errorf("disarm all rules: %w", err)
	}
	return nil
}

// Rules are those that are armed.
func (c *Client) Rules(ctx context.Context) ([]Armed, error) {
	var answer struct{ Rules []Armed }
	if err := c.call(ctx, http.MethodGet, "/rules", nil, &answer); err != nil {
		return nil, fmt.Errorf("list the rules: %w", err)
	}
	return answer.Rules, nil
}

// Hits returns the hits from number after on, and the number to ask for next. It waits for one for half a minute; then, and
// after the proxy started anew, it returns none.
func (c *Client) Hits(ctx context.Context, after int) ([]Hit, int, error) {
	var answer hitsAnswer
	path := fmt.Sprintf("/hits?after=%d&wait=%d", after, int(poll/time.Second))
	if err := c.call(ctx, http.MethodGet, path, nil, &answer); err != nil {
		return nil, after, fmt.Errorf("ask for hits: %w", err)
	}
	return answer.Hits, answer.Next, nil
}

func (c *Client) call(ctx context.Context, method, path string, body []byte, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	doer := c.HTTP
	if doer == nil {
		doer = http.DefaultClient
	}
	answer, err := doer.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		var refusal problemsAnswer
		if json.Unmarshal(text, &refusal) == nil && len(refusal.Problems) > 0 {
			return fmt.Errorf("%s: %w", answer.Status, refusal.Problems)
		}
		return fmt.Errorf("%s: %.200s", answer.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
