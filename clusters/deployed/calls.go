package deployed

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults/proxy"
)

var _ clusters.CallFaults = (*World)(nil)

// rule is a rule that the proxy has.
type rule struct {
	clusters.Rule
	id string
}

// openProxy connects to the control of the fault proxy, and listens for what it hits.
func (w *World) openProxy(ctx context.Context) error {
	w.proxy = &proxy.Client{
		URL: "http://faultproxy", Token: w.secrets.control,
		HTTP: proxy.Through(func(ctx context.Context) (net.Conn, error) { return w.ground.Dial(ctx, w.addresses.control) }),
	}
	ask := func(ctx context.Context) error {
		_, err := w.proxy.Rules(ctx)
		return err
	}
	if err := untilItAnswers(ctx, ask); err != nil {
		return fmt.Errorf("reach the fault proxy: %w", err)
	}
	w.GoAside(w.followHits)
	return nil
}

// followHits tells the loop of every call that a rule has struck. A caller that is to crash is killed right here, since its reply
// is held back until it is dead.
func (w *World) followHits() {
	after := 0
	for w.ctx.Err() == nil {
		hits, next, err := w.proxy.Hits(w.ctx, after)
		if err != nil {
			if w.ctx.Err() == nil {
				w.Fail(fmt.Errorf("follow the fault proxy: %w", err))
			}
			return
		}
		after = next
		for _, h := range hits {
			w.Post(func() { w.hit(h) })
		}
	}
}

func (w *World) hit(h proxy.Hit) {
	r, armed := w.rules[h.Rule]
	if !armed {
		return
	}
	w.Log.Info("hit", "process", h.Process, "verb", h.Verb, "task", h.Task, "action", string(r.Action))
	if r.Action == clusters.CrashCaller {
		w.crashCaller(h)
	}
	if r.Hit != nil {
		r.Hit()
	}
}

// Intercept has the proxy apply the rule.
func (w *World) Intercept(r clusters.Rule) (remove func()) {
	armed := &rule{Rule: r}
	if r.Action == clusters.Late {
		w.lateness = max(w.lateness, r.Delay.Max())
	}
	w.Do("arm "+string(r.Action), func(ctx context.Context) error {
		wire, err := proxy.RuleOf(r, w.Config.Seed)
		if err != nil {
			return err
		}
		armed.id, err = w.proxy.Arm(ctx, wire)
		w.rules[armed.id] = armed
		return err
	})
	return func() {
		if _, there := w.rules[armed.id]; !there {
			return
		}
		delete(w.rules, armed.id)
		w.Do("disarm "+string(r.Action), func(ctx context.Context) error { return w.proxy.Disarm(ctx, armed.id) })
	}
}

// Arm has the proxy apply a rule that is no fault of the plan, until Disarm.
func (w *World) Arm(ctx context.Context, r proxy.Rule) (id string, err error) {
	return w.proxy.Arm(ctx, r)
}

// Disarm undoes Arm.
func (w *World) Disarm(ctx context.Context, id string) error { return w.proxy.Disarm(ctx, id) }

// crashCaller kills the process whose call took effect.
func (w *World) crashCaller(h proxy.Hit) {
	if task, ok := strings.CutPrefix(h.Process, "worker-"); ok {
		w.ground.KillContainer(task)
		return
	}
	w.Crash(h.Process)
}
