package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Where there is no terminal a line is printed this often, the first one sooner; a bar is drawn anew this often.
const (
	lineEvery = 10 * time.Second
	firstLine = time.Second
	barEvery  = 200 * time.Millisecond
)

// progress tells on stderr how far the command is. Methods may be called from any goroutine.
type progress struct {
	what  string // plural: seeds
	total int
	began time.Time
	count atomic.Int64
	bad   atomic.Int64
	found atomic.Int64 // the total, as far as it is known, of what has none
	known atomic.Int64 // of count: what was known before, and took no time
	stage atomic.Pointer[string]

	show    func() // draws or prints the present state
	closing func()
	stop    chan struct{}
	stopped sync.WaitGroup
	above   io.Writer // writes lines above the bar; nil when there is no bar
}

// begin shows progress over that many of what; total 0 means that nobody knows how many.
func (c *console) begin(what string, total int) *progress {
	p := &progress{what: what, total: total, began: time.Now(), stop: make(chan struct{}), show: func() {}, closing: func() {}}
	if c.quiet {
		return p
	}
	first, every := firstLine, lineEvery
	if isTerminal(c.err) {
		first, every = barEvery, barEvery
		p.bar(c)
	} else {
		lines := c.lines("squall: ")
		p.show = func() { fmt.Fprintln(lines, p.line()) }
	}
	p.stopped.Go(func() {
		next := time.NewTimer(first)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				p.show()
				next.Reset(every)
			case <-p.stop:
				return
			}
		}
	})
	return p
}

func (p *progress) bar(c *console) {
	container := mpb.New(mpb.WithOutput(c.err), mpb.WithWidth(64))
	done := func(decor.Statistics) string { return p.line() }
	options := []mpb.BarOption{mpb.BarRemoveOnComplete(), mpb.BarWidth(24), mpb.AppendDecorators(decor.Any(done, decor.WCSyncSpace))}
	add := container.AddBar
	if p.total == 0 {
		add = container.AddSpinner // nobody knows how far it is
	}
	bar := add(int64(p.total), options...)
	p.above = container
	p.show = func() { bar.SetCurrent(min(p.count.Load(), int64(max(p.total-1, 0)))) }
	p.closing = func() {
		bar.Abort(true) // removes the bar: the results say the rest
		container.Wait()
	}
}

// step counts one done.
func (p *progress) step(bad bool) {
	p.count.Add(1)
	if bad {
		p.bad.Add(1)
	}
}

// add counts some that need not be done any more.
func (p *progress) add(n int) { p.count.Add(int64(n)) }

// skip counts some that were known before. What is told is then of the others: how fast those go says when it ends.
func (p *progress) skip(n int) {
	p.known.Add(int64(n))
	p.add(n)
}

// reach tells how far a search is that finds out on the way how much there is.
func (p *progress) reach(count, total, bad int) {
	p.found.Store(int64(total))
	p.count.Store(int64(count))
	p.bad.Store(int64(bad))
}

// at tells what is being done now, and how much of it is done; of 0: nobody knows of how much.
func (p *progress) at(what string, done, of int) {
	if of > 0 {
		what = fmt.Sprintf("%s: %d of %d", what, done, of)
	}
	p.stage.Store(&what)
}

// end takes the bar away. It may be called twice.
func (p *progress) end() {
	select {
	case <-p.stop:
		return
	default:
	}
	close(p.stop)
	p.stopped.Wait()
	p.closing()
}

// over is where to write results while the bar is there: above it, if they go to the same terminal.
func (p *progress) over(out io.Writer) io.Writer {
	if p.above != nil && isTerminal(out) {
		return p.above
	}
	return out
}

// line says how far it is, how fast, and how long it will take.
func (p *progress) line() string {
	known := int(p.known.Load())
	text := progressLine(p.what, int(p.count.Load())-known, max(p.total-known, int(p.found.Load()), 0), int(p.bad.Load()), time.Since(p.began))
	if stage := p.stage.Load(); stage != nil {
		text += "; " + *stage
	}
	return text
}

func progressLine(what string, count, total, bad int, took time.Duration) string {
	text := fmt.Sprintf("%d %s", count, what)
	if total > 0 {
		text = fmt.Sprintf("%d of %d %s", count, total, what)
	}
	if bad > 0 {
		text += fmt.Sprintf(", %d invalid", bad)
	}
	if count == 0 || took <= 0 {
		return text
	}
	rate := float64(count) / took.Seconds()
	text += fmt.Sprintf(", %.3g/s", rate)
	if total > count {
		left := time.Duration(float64(total-count) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return text
}
