package kubernetes

import (
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// Container is what a kubelet runs for one pod: ground truth, whatever the object says.
type Container struct {
	// Workload is the pod as its kubelet first saw it.
	Workload dispatcher.Workload
	Node     string
	// Ticket is the UID that its worker shows: the pod's, or that of the launcher which the pod is part of.
	Ticket dispatcher.UID
	Number int // of the cluster's containers, from 1, in the order in which kubelets saw the pods
	// Task and NodeID are the names of Workload.Task and Node in the Host's tables.
	Task   history.ID
	NodeID history.ID
	// Guest is the Host's own: its model of what runs inside.
	Guest any

	server     *Server
	pod        *pod
	node       *node
	stage      stage
	cause      cause
	poweredOff bool // it ran when its machine was switched off
	code       int  // its exit code, once it ended
	parked     bool // its preparation was cut short by that
	restarts   int  // how often it was started again in place

	made    []*pod // of a launcher: its parts
	decided bool   // of a launcher: it knows how it will end, and waits for its parts
	outcome int    // its exit code then

	// state and failure are the kubelet's word on the pod; the API server may not know it yet.
	state   dispatcher.WorkloadState
	failure dispatcher.Failure

	startTime time.Duration // status.startTime
	index     int           // in Server.running
	starting  kernel.Timer
	arrives   func() // a report does: made once
	deadline  kernel.Timer
	grace     kernel.Timer
}

// stage is where a container is in its life.
type stage uint8

const (
	preparing stage = iota // image pull, startup
	running
	ended
)

// cause is why the kubelet is stopping a container; the first one stays.
type cause uint8

const (
	byItself cause = iota
	byDeadline
	byDeletion // seen as deletionTimestamp
	byRemoval  // the object is gone
	byShutdown // graceful node shutdown
)

// Alive tells whether the container runs.
func (c *Container) Alive() bool { return c.stage == running }

// Exit ends the container from inside. Detail is what the history says of it; empty means "exit CODE". It does
// nothing if the container is already dead.
func (c *Container) Exit(code int, detail string) {
	if c.stage != running {
		return
	}
	if detail == "" {
		detail = exitDetail(code)
	}
	c.server.end(c, code, detail)
	c.server.report(c)
}

func exitDetail(code int) string {
	switch code {
	case 0:
		return "exit 0"
	case 1:
		return "exit 1"
	case killedCode:
		return "exit 137"
	case 143:
		return "exit 143"
	}
	return "exit " + strconv.Itoa(code)
}

// killedCode is the exit code of a process that SIGKILL ended: 128 + 9.
const killedCode = 137

// run starts the container's process.
func (s *Server) run(c *Container) {
	c.stage = running
	c.state = dispatcher.WorkloadRunning
	c.index = len(s.running)
	s.running = append(s.running, c)
	s.observeContainer(c, history.ContainerStarted, "")
	s.report(c)
	if c.Workload.Work.Launcher {
		s.makeLater(c, s.hop())
		return
	}
	s.host.ContainerStarted(c)
}

// end is the end of the process, whoever ended it, and what the kubelet makes of it.
func (s *Server) end(c *Container, code int, detail string) {
	c.grace.Stop()
	again := c.restartable(code)
	if again {
		s.startAgain(c)
	} else {
		c.deadline.Stop()
		c.stage = ended
		c.state, c.failure = c.verdict(code)
		c.code = code
	}
	last := len(s.running) - 1
	moved := s.running[last]
	s.running[c.index], moved.index = moved, c.index
	s.running[last] = nil
	s.running = s.running[:last]
	s.observeContainer(c, history.ContainerEnded, detail)
	if c.pod.gone && !again {
		c.node.forget(c)
	}
}

// restartable tells whether the kubelet starts a container again that failed by itself (restartPolicy OnFailure).
func (c *Container) restartable(code int) bool {
	return code != 0 && c.restarts < c.Workload.Restarts && c.cause == byItself && c.node.on && !c.pod.gone
}

// The waits between two starts of a container that fails (pkg/kubelet/kubelet.go, initialCrashLoopBackOff and MaxCrashLoopBackOff).
const (
	firstBackOff = 10 * time.Second
	mostBackOff  = 5 * time.Minute
)

// startAgain has the container start once more after a while; to the API server its pod runs on.
func (s *Server) startAgain(c *Container) {
	wait := min(firstBackOff<<c.restarts, mostBackOff)
	c.restarts++
	c.stage = preparing
	c.starting = s.k.After(wait, s.k.Label("kubelet starts the container again"), func() { s.run(c) })
}

// kill is SIGKILL.
func (s *Server) kill(c *Container, detail string) {
	s.end(c, killedCode, detail)
	s.host.Killed(c)
}

// verdict is the phase that follows from the exit code and from what came before it. A passed deadline fixes the phase
// (pkg/kubelet/kubelet_pods.go, generateAPIPodStatus); for deletions see the package comment.
func (c *Container) verdict(code int) (dispatcher.WorkloadState, dispatcher.Failure) {
	switch {
	case c.cause == byDeadline:
		return dispatcher.WorkloadFailed, dispatcher.FailureDeadline
	case c.cause != byItself:
		return dispatcher.WorkloadFailed, dispatcher.FailureEvicted
	case code == 0:
		return dispatcher.WorkloadSucceeded, dispatcher.FailureNone
	}
	return dispatcher.WorkloadFailed, dispatcher.FailureError
}

func (s *Server) observeContainer(c *Container, kind history.Kind, detail string) {
	s.host.Observe(history.Event{Kind: kind, Task: c.Task, Token: uint64(c.Workload.Token), Node: c.NodeID,
		Object: string(c.Workload.UID), Detail: detail})
}

// CapacityType is that of the container's machine.
func (c *Container) CapacityType() clusters.CapacityType {
	return c.server.groups[c.node.group].CapacityType
}
