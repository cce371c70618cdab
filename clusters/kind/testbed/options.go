package testbed

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// Options describe a cluster to create.
type Options struct {
	Name     string    // without the prefix; "" is DefaultName
	Image    string    // node image, in the engine or to be pulled
	OnDemand int       // workers; 0 is DefaultOnDemand
	Spot     int       // workers; 0 is DefaultSpot
	Progress io.Writer // nil: silent
}

// What Options leave out.
const (
	DefaultName     = "dev"
	DefaultOnDemand = 2
	DefaultSpot     = 2
)

// Prefix marks the names of Squall's clusters, and so those of their node containers and networks.
const Prefix = "squall-"

// How fast a cluster of this package notices, by its configuration. A world puts them into the settings of the dispatcher.
const (
	// NodeGrace passes between the last sign of life of a node and its condition Ready being Unknown.
	NodeGrace = 8 * time.Second
	// NodeMonitor is how often the controller manager looks: NotReady shows up to this much later.
	NodeMonitor = time.Second
	// UnreachableToleration passes between the taint of a node that is NotReady and the deletion of its pods.
	UnreachableToleration = 10 * time.Second
)

// Names become host names of node containers ("squall-NAME-control-plane"), which end at 63 characters.
var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

func (o Options) complete() (Options, error) {
	var err error
	if o.Name, err = short(o.Name); err != nil {
		return o, err
	}
	if o.Image == "" {
		return o, fmt.Errorf("cluster %s: no node image given", o.Name)
	}
	if o.OnDemand < 0 || o.Spot < 0 {
		return o, fmt.Errorf("cluster %s: a negative number of nodes", o.Name)
	}
	if o.OnDemand == 0 {
		o.OnDemand = DefaultOnDemand
	}
	if o.Spot == 0 {
		o.Spot = DefaultSpot
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, nil
}

// short is the name without the prefix, checked; "" is the default.
func short(name string) (string, error) {
	name = strings.TrimPrefix(name, Prefix)
	if name == "" {
		name = DefaultName
	}
	if !validName.MatchString(name) {
		return "", fmt.Errorf("%w: %q; use up to 32 lower-case letters, digits and dashes", ErrName, name)
	}
	return name, nil
}
