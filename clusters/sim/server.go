package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// server is the database, or the API server with the leases: what can be killed and frozen as a whole. What is modelled:
//
//   - Killed, a server takes its connections along. A request that has not been served is not (CutCall); one that was, but whose reply has
//     not arrived, leaves its caller without knowledge (CutReply): that is the time between the flush of a commit and its reply, in
//     which a transaction's resolution is unknown (SQLSTATE 08007). What was acknowledged stays, since commits wait for the disk
//     (fsync and synchronous_commit on, Postgres manual, "Reliability and the Write-Ahead Log"). Until it is started again, connections
//     are refused; the recovery of the database is part of that.
//   - Frozen, a server is served by its kernel still: connections and requests are taken, and wait. When it goes on it reads them. Of one
//     whose caller has hung up, the database may notice that only when it writes the reply (client_connection_check_interval is 0, Postgres
//     manual, "Connections and Authentication"), and statement_timeout counts from when it begins with a statement; but of a
//     transaction of several statements only what was sent is there. The API server ends a request's context when it sees the connection
//     closed (net/http.Request.Context), which may be before or after the write. So of such requests each is drawn: it takes effect or
//     it does not.
type server struct {
	life   int // how often it was killed
	down   func()
	frozen bool
	held   []*held // requests that wait for it to go on, in order of arrival
	felt   []func()
}

// held is a call that waits for a frozen server, and when its caller gives up.
type held struct {
	call   *call
	giveUp kernel.Timer
}

var _ clusters.ServerFaults = (*Cluster)(nil)

// serverOf is the server that the port leads to.
func (c *Cluster) serverOf(p clusters.Port) *server {
	if p == clusters.Store {
		return c.ports.store.server
	}
	return c.ports.api.server
}

// StopServer kills the server.
func (c *Cluster) StopServer(p clusters.Port, felt func()) {
	s := c.serverOf(p)
	s.felt = append(s.felt, felt)
	if s.down != nil {
		return
	}
	s.life++
	s.down = c.Intercept(clusters.Rule{Port: p, Action: clusters.Refuse, Hit: s.tell})
	c.thaw(p) // the dead are not frozen: its requests find their connections broken
}

// StartServer starts the server again.
func (c *Cluster) StartServer(p clusters.Port) {
	s := c.serverOf(p)
	if s.down == nil {
		return
	}
	s.down()
	s.down = nil
	s.felt = nil
}

// PauseServer freezes the server, unless there is none.
func (c *Cluster) PauseServer(p clusters.Port, felt func()) {
	s := c.serverOf(p)
	if s.down != nil {
		return
	}
	s.felt = append(s.felt, felt)
	if s.frozen {
		return
	}
	s.frozen = true
	if p != clusters.Store {
		c.absent(+1)
	}
}

// ResumeServer lets the server go on, and read what has come meanwhile.
func (c *Cluster) ResumeServer(p clusters.Port) { c.thaw(p) }

func (c *Cluster) thaw(p clusters.Port) {
	s := c.serverOf(p)
	if !s.frozen {
		return
	}
	s.frozen = false
	waiting := s.held
	s.held = nil
	if s.down == nil {
		s.felt = nil
	}
	if p != clusters.Store {
		c.absent(-1)
	}
	for _, h := range waiting {
		h.giveUp.Stop()
		h.call.goOn(c.givenUp())
	}
}

// givenUp draws what becomes of requests that nobody waits for. The stream is made with the first draw.
func (c *Cluster) givenUp() *rand.Rand { return c.kernel.Stream("servers: requests given up") }

// absent counts what takes the API server away from kubelets and controllers.
func (c *Cluster) absent(by int) {
	before := c.outages
	if c.outages += by; (before == 0) != (c.outages == 0) {
		c.kube.SetOutage(c.outages > 0)
	}
}

// hold has the call wait for the server that is frozen.
func (c *call) hold() {
	s := c.port.server
	s.tell()
	h := &held{call: c}
	if !c.settled {
		h.giveUp = c.world.kernel.After(c.deadline-c.world.kernel.Now(), c.label(replied), func() { c.settle(errSilent, 0) })
	}
	s.held = append(s.held, h)
}

// tell reports that the fault was felt.
func (s *server) tell() {
	for _, felt := range slices.Clone(s.felt) {
		if felt != nil {
			felt()
		}
	}
}

// goOn has the server serve a call that it had kept waiting.
func (c *call) goOn(chance *rand.Rand) {
	now := c.world.kernel.Now()
	nobody := c.settled || c.orphaned() || c.by.worker != nil && c.by.worker.dead || now >= c.deadline
	if nobody && c.life == c.port.server.life && chance.Uint64()&1 == 0 {
		c.due = false
		if c.left || c.orphaned() {
			c.recycle()
		} else {
			c.settle(errSilent, 0)
		}
		return
	}
	c.world.kernel.After(0, c.label(effected), c.applying)
}

// broken tells that the server has died since the call left.
func (c *call) broken() bool {
	s := c.port.server
	if c.life == s.life {
		return false
	}
	s.tell()
	return true
}
