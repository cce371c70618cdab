package kube

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// connect prepares clients of the two API groups over one transport. Their callers bound themselves, so the default limit
// of five requests per second is off.
func connect(config *rest.Config) (pods, leases rest.Interface, err error) {
	c := rest.CopyConfig(config)
	c.QPS, c.RateLimiter = -1, nil
	if c.UserAgent == "" {
		c.UserAgent = "squall"
	}
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the API server: %w", err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // it would send again
	p, err := core.NewForConfigAndClient(c, client)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the API server: %w", err)
	}
	l, err := coordination.NewForConfigAndClient(c, client)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the API server: %w", err)
	}
	return p.RESTClient(), l.RESTClient(), nil
}

// send makes one request, never a second one, and says what its error means. The answer is decoded into out, if any
// is given.
func send(ctx context.Context, r *rest.Request, out runtime.Object) error {
	// Any connection counts as one on which the request was written: more is not to be known for certain.
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	answer := r.MaxRetries(0).Do(ctx)
	err := answer.Error()
	if err == nil && out != nil {
		err = answer.Into(out)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", meaning(err, connected.Load()), err)
}
