package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Options say what a proxy stands in front of. API or Store may be missing.
type Options struct {
	API     *APIOptions
	Store   *StoreOptions
	Control ControlOptions
	Log     *slog.Logger // nil: none
}

// Proxy carries calls and breaks those that its rules select.
type Proxy struct {
	rules   *rules
	api     *api
	store   *store
	control *control
	log     *slog.Logger
	stop    context.CancelFunc
	late    sync.WaitGroup
	failed  chan error

	arming sync.Mutex // rules and what follows from them change together
}

// Start listens on all addresses, or on none when there is an error.
func Start(ctx context.Context, o Options) (*Proxy, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	living, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &Proxy{rules: newRules(), log: o.Log, stop: stop, failed: make(chan error, 3)}
	if err := p.listen(living, o); err != nil {
		stop()
		for _, g := range p.gates() {
			_ = g.Close()
		}
		return nil, err
	}
	if p.api != nil {
		go func() { p.fail(p.api.serve()) }()
	}
	if p.store != nil {
		go func() { p.fail(p.store.serve()) }()
	}
	go func() { p.fail(p.control.serve()) }()
	return p, nil
}

func (p *Proxy) listen(ctx context.Context, o Options) (err error) {
	if o.API != nil {
		if p.api, err = newAPI(ctx, *o.API, p.rules, &p.late, o.Log); err != nil {
			return fmt.Errorf("listen for the API: %w", err)
		}
	}
	if o.Store != nil {
		if p.store, err = newStore(ctx, *o.Store, p.rules, &p.late, o.Log); err != nil {
			return fmt.Errorf("listen for the store: %w", err)
		}
	}
	if p.control, err = newControl(ctx, o.Control, p); err != nil {
		return fmt.Errorf("listen for control: %w", err)
	}
	return nil
}

func (p *Proxy) gates() (all []*gate) {
	if p.api != nil {
		all = append(all, p.api.gate)
	}
	if p.store != nil {
		all = append(all, p.store.gate)
	}
	return all
}

func (p *Proxy) fail(err error) {
	if err != nil {
		p.failed <- err
	}
}

// Failed tells of a listener that broke.
func (p *Proxy) Failed() <-chan error { return p.failed }

// APIAddr is where the proxy listens for the API, nil if it does not.
func (p *Proxy) APIAddr() net.Addr {
	if p.api == nil {
		return nil
	}
	return p.api.gate.Addr()
}

// StoreAddr is where it listens for Postgres clients, nil if it does not.
func (p *Proxy) StoreAddr() net.Addr {
	if p.store == nil {
		return nil
	}
	return p.store.gate.Addr()
}

// ControlAddr is where it takes rules.
func (p *Proxy) ControlAddr() net.Addr { return p.control.listener.Addr() }

// Close stops listening, lets calls under way end until ctx does, and drops what is late or was to be left without an answer.
func (p *Proxy) Close(ctx context.Context) error {
	p.stop()
	var wait sync.WaitGroup
	errs := make([]error, 3)
	if p.api != nil {
		wait.Go(func() { errs[0] = p.api.shutdown(ctx) })
	}
	if p.store != nil {
		wait.Go(func() { errs[1] = p.store.shutdown(ctx) })
	}
	wait.Go(func() { errs[2] = p.control.shutdown(ctx) })
	wait.Wait()
	p.late.Wait()
	return errors.Join(errs...)
}

// Arm has the rule strike from now on.
func (p *Proxy) Arm(r Rule) (id string, err error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	p.arming.Lock()
	defer p.arming.Unlock()
	a := p.rules.arm(r)
	if p.api != nil {
		if r.shuts(clusters.API) {
			p.api.gate.shut()
		}
		p.api.sever(r)
	}
	if p.store != nil {
		if r.shuts(clusters.Store) {
			p.store.gate.shut()
		}
		p.store.sever(r)
	}
	p.log.Info("armed", "rule", a.ID, "port", r.Port, "process", r.Process, "verb", r.Verb, "task", r.Task, "nth", r.Nth,
		"share", r.Share, "action", r.Action)
	return a.ID, nil
}

// Disarm takes the rule away, or every one when id is empty. It tells whether there was one.
func (p *Proxy) Disarm(ctx context.Context, id string) (bool, error) {
	p.arming.Lock()
	defer p.arming.Unlock()
	found := p.rules.disarm(func(a *armed) bool { return id == "" || a.ID == id })
	p.log.Info("disarmed", "rule", id, "found", found)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
	defer cancel()
	var errs []error
	if p.api != nil && !p.rules.any(func(r Rule) bool { return r.shuts(clusters.API) }) {
		errs = append(errs, p.api.gate.open(ctx))
	}
	if p.store != nil && !p.rules.any(func(r Rule) bool { return r.shuts(clusters.Store) }) {
		errs = append(errs, p.store.gate.open(ctx))
	}
	return found, errors.Join(errs...)
}
