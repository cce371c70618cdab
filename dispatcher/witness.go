package dispatcher

import "context"

// Sighting is what is known about an attempt's execution.
type Sighting string

// The sightings. Only Ended, Absent and NodeGone say something about the container;
// Silent says that the API server can no longer tell.
const (
	SightUnknown  Sighting = ""          // an error, a timeout: nothing is known, nothing may be concluded
	SightPending  Sighting = "pending"   // the object exists, nothing has run
	SightAlive    Sighting = "alive"     // the object exists and nothing says that its container stopped, or what it launched
	SightEnded    Sighting = "ended"     // the kubelet reported the containers' end
	SightAbsent   Sighting = "absent"    // proof by a live read that no object of this attempt exists
	SightNodeGone Sighting = "node-gone" // proof by a live read that the object's node was removed
)

// Evidence is one look at an attempt.
type Evidence struct {
	Sighting Sighting
	Workload Workload // the object seen under the task's name, whichever attempt it is of; zero when Absent
	// Foreign is set when the object under the task's name belongs to another attempt or was
	// not bound to this one.
	Foreign bool
}

// Witness finds out what is known about a task's current attempt. An error means SightUnknown.
type Witness interface {
	Look(ctx context.Context, t Task) (Evidence, error)
}
