package dispatchertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

var workloadCases = []workloadCase{
	{"create/answers with the object", func(c *cluster) {
		want := request("a")
		got := c.create(want)
		if got.UID == "" || got.Version == 0 {
			c.Fatalf("no identity: %+v", got)
		}
		c.equal("state", got.State, dispatcher.WorkloadPending)
		c.equal("deleting", got.Deleting, false)
		c.equal("request", asked(got), want)
		c.equal("request as read", asked(c.get(got.Name)), want)
		c.equal("identity as read", c.get(got.Name).UID, got.UID)
	}},
	{"create/takes over all that the work needs", func(c *cluster) {
		want := request("a")
		want.OnDemand, want.Held, want.Token = true, false, 1<<40
		want.Work = dispatcher.Work{
			Run: time.Minute, IgnoreTerm: true, IgnoreTimeouts: true, IgnoreFence: true, Hang: true,
			FailUntil: 3, CrashAt: time.Second, NoResult: true, Launcher: true, Pods: 4, Stragglers: 1,
		}
		c.equal("request", asked(c.create(want)), want)
		c.equal("request as read", asked(c.get(want.Name)), want)
	}},
	{"create/a name is taken once", func(c *cluster) {
		first := c.create(request("a"))
		second := request("a")
		second.Token++
		_, err := c.api.Create(c.ctx, second)
		c.is(err, dispatcher.ErrExists)
		c.equal("object", c.get(first.Name).UID, first.UID)
		c.equal("token", c.get(first.Name).Token, first.Token)
	}},
	{"create/a terminating object keeps its name", func(c *cluster) {
		w := c.create(request("a"))
		c.delete(w, false)
		_, err := c.api.Create(c.ctx, request("a"))
		c.is(err, dispatcher.ErrExists)
	}},
	{"create/an invalid object is rejected for good", func(c *cluster) {
		w := request("a")
		w.Name = "Not_A_Name"
		_, err := c.api.Create(c.ctx, w)
		c.is(err, dispatcher.ErrRejected)
	}},
	{"create/a task that cannot be a label is rejected for good", func(c *cluster) {
		for _, id := range []dispatcher.TaskID{"-a", dispatcher.TaskID(strings.Repeat("a", 64))} {
			_, err := c.api.Create(c.ctx, request(id))
			c.is(err, dispatcher.ErrRejected)
			c.absent(dispatcher.WorkloadName(id))
		}
		longest := request(dispatcher.TaskID(strings.Repeat("a", 63)))
		c.equal("request", asked(c.create(longest)), longest)
	}},
	{"create/in whole seconds: no longer a deadline, no shorter a grace", func(c *cluster) {
		w := request("a")
		w.Deadline, w.Grace = 90*time.Second+600*time.Millisecond, 400*time.Millisecond
		made := c.create(w)
		c.equal("deadline", made.Deadline, 90*time.Second)
		c.equal("grace", made.Grace, time.Second)
		w = request("b")
		w.Deadline = 999 * time.Millisecond
		_, err := c.api.Create(c.ctx, w)
		c.is(err, dispatcher.ErrRejected)
	}},
	{"get/of an unknown name is proof of absence", func(c *cluster) {
		c.absent("task-nobody")
		c.is(c.api.Delete(c.ctx, "task-nobody", "uid", false), dispatcher.ErrNotFound)
		c.is(c.api.Delete(c.ctx, "task-nobody", "uid", true), dispatcher.ErrNotFound)
		c.is(c.api.Release(c.ctx, "task-nobody", "uid"), dispatcher.ErrNotFound)
	}},
	{"precondition/another object under the name is left alone", func(c *cluster) {
		w := c.create(request("a"))
		c.is(c.api.Delete(c.ctx, w.Name, "uid-other", false), dispatcher.ErrConflict)
		c.is(c.api.Delete(c.ctx, w.Name, "uid-other", true), dispatcher.ErrConflict)
		c.is(c.api.Release(c.ctx, w.Name, "uid-other"), dispatcher.ErrConflict)
		got := c.get(w.Name)
		c.equal("deleting", got.Deleting, false)
		c.equal("held", got.Held, true)
	}},
	{"precondition/a successor is another object", func(c *cluster) {
		old := c.create(request("a"))
		c.release(old)
		c.delete(old, true)
		c.vanishes(old.Name)
		now := c.create(request("a"))
		if now.UID == old.UID {
			c.Fatalf("two objects have the UID %s", old.UID)
		}
		c.is(c.api.Delete(c.ctx, old.Name, old.UID, false), dispatcher.ErrConflict)
		c.is(c.api.Release(c.ctx, old.Name, old.UID), dispatcher.ErrConflict)
		c.equal("deleting", c.get(now.Name).Deleting, false)
	}},
	{"life/pending, running, succeeded", func(c *cluster) {
		made := c.create(request("a"))
		w := c.becomes("running", made.Name, isRunning)
		c.newer(made, w)
		if w.Node == "" {
			c.Fatalf("it runs nowhere: %+v", w)
		}
		c.world.Exit(w.Name, 0)
		end := c.becomes("ended", w.Name, hasEnded)
		c.newer(w, end)
		c.equal("state", end.State, dispatcher.WorkloadSucceeded)
		c.equal("failure", end.Failure, dispatcher.FailureNone)
	}},
	{"life/a container that fails", func(c *cluster) {
		w := c.running(request("a"))
		c.world.Exit(w.Name, dispatcher.ExitFenced)
		end := c.becomes("ended", w.Name, hasEnded)
		c.equal("state", end.State, dispatcher.WorkloadFailed)
		c.equal("failure", end.Failure, dispatcher.FailureError)
		c.equal("exit code", end.ExitCode, dispatcher.ExitFenced)
	}},
	{"life/the deadline ends it", func(c *cluster) {
		w := request("a")
		w.Deadline = 2 * time.Second
		c.create(w)
		end := c.becomes("ended", w.Name, hasEnded)
		c.equal("state", end.State, dispatcher.WorkloadFailed)
		c.equal("failure", end.Failure, dispatcher.FailureDeadline)
	}},
	{"delete/graceful, of a running workload that we hold", func(c *cluster) {
		w := c.running(request("a"))
		c.delete(w, false)
		deleting := c.get(w.Name)
		c.newer(w, deleting)
		c.equal("deleting", deleting.Deleting, true)
		c.equal("has a deletion time", deleting.DeletedAt.IsZero(), false)
		c.equal("nanoseconds of it", deleting.DeletedAt.Nanosecond(), 0)
		end := c.becomes("ended", w.Name, hasEnded)
		c.equal("held", end.Held, true)
		c.release(end)
		c.vanishes(w.Name)
	}},
	{"delete/again changes nothing", func(c *cluster) {
		w := c.running(request("a"))
		c.delete(w, false)
		first := c.get(w.Name)
		c.delete(w, false)
		c.equal("deletion time", c.get(w.Name).DeletedAt.Equal(first.DeletedAt), true)
		c.equal("identity", c.get(w.Name).UID, w.UID)
	}},
	{"delete/by force does not wait for the kubelet, but for us", func(c *cluster) {
		w := request("a")
		w.Grace = time.Hour
		w.Work.IgnoreTerm = true
		w = c.running(w)
		c.delete(w, false)
		c.delete(w, true)
		c.equal("held", c.get(w.Name).Held, true)
		c.release(w)
		c.absent(w.Name)
	}},
	{"delete/by force, of a workload that nobody holds", func(c *cluster) {
		w := request("a")
		w.Held, w.Grace = false, time.Hour
		w.Work.IgnoreTerm = true
		w = c.running(w)
		c.delete(w, true)
		c.absent(w.Name)
	}},
	{"release/lets go of the object and changes nothing else", func(c *cluster) {
		w := c.running(request("a"))
		c.release(w)
		got := c.get(w.Name)
		c.newer(w, got)
		c.equal("held", got.Held, false)
		c.equal("deleting", got.Deleting, false)
		c.equal("state", got.State, dispatcher.WorkloadRunning)
		c.release(w)
		c.delete(w, false)
		c.vanishes(w.Name)
	}},
	{"list/shows each object once, in pages", func(c *cluster) {
		want := fmt.Sprint(c.fill(5))
		for _, limit := range []int{0, 1, 2, 5, 9} {
			c.equal(fmt.Sprintf("list by %d", limit), fmt.Sprint(c.names(limit)), want)
		}
	}},
	{"list/is live unless told otherwise", func(c *cluster) {
		c.equal("nothing", fmt.Sprint(c.names(0)), "[]")
		w := c.create(request("a"))
		page, err := c.api.List(c.ctx, dispatcher.List{})
		c.ok(err)
		c.equal("objects", len(page.Items), 1)
		c.equal("object", page.Items[0].UID, w.UID)
		c.equal("request", asked(page.Items[0]), request("a"))
		c.release(w)
		c.delete(w, true)
		c.vanishes(w.Name)
		c.equal("nothing again", fmt.Sprint(c.names(0)), "[]")
	}},
	{"list/a token that is none is refused", func(c *cluster) {
		_, err := c.api.List(c.ctx, dispatcher.List{Continue: "no token", Limit: 1})
		if !dispatcher.Definite(err) {
			c.Fatalf("got error %v", err)
		}
	}},
	{"node/exists or not", func(c *cluster) {
		w := c.running(request("a"))
		exists, err := c.api.NodeExists(c.ctx, w.Node)
		c.ok(err)
		c.equal("its node", exists, true)
		exists, err = c.api.NodeExists(c.ctx, "no-such-node")
		c.ok(err)
		c.equal("another node", exists, false)
	}},
}

// newer demands a larger version.
func (c *cluster) newer(before, after dispatcher.Workload) {
	c.Helper()
	if after.Version <= before.Version {
		c.Fatalf("resourceVersion went from %d to %d", before.Version, after.Version)
	}
}

// asked is the part of an object that its creator decides.
func asked(w dispatcher.Workload) dispatcher.Workload {
	return dispatcher.Workload{
		Name: w.Name, Task: w.Task, Attempt: w.Attempt, Token: w.Token, OnDemand: w.OnDemand,
		Deadline: w.Deadline, Grace: w.Grace, Work: w.Work, Held: w.Held,
	}
}
