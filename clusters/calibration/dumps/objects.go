package dumps

// What is read of the objects; everything else in them is ignored, so that any version of Kubernetes will do.

type meta struct {
	Name          string            `json:"name"`
	Namespace     string            `json:"namespace"`
	UID           string            `json:"uid"`
	Labels        map[string]string `json:"labels"`
	Created       stamp             `json:"creationTimestamp"`
	Deleted       stamp             `json:"deletionTimestamp"`
	DeletionGrace *int64            `json:"deletionGracePeriodSeconds"`
}

type podObject struct {
	Meta meta `json:"metadata"`
	Spec struct {
		NodeName       string            `json:"nodeName"`
		RestartPolicy  string            `json:"restartPolicy"`
		NodeSelector   map[string]string `json:"nodeSelector"`
		InitContainers []struct{}        `json:"initContainers"`
		Containers     []struct {
			Name string `json:"name"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase      string            `json:"phase"`
		Reason     string            `json:"reason"`
		Conditions []condition       `json:"conditions"`
		Containers []containerStatus `json:"containerStatuses"`
	} `json:"status"`
}

type condition struct {
	Type       string `json:"type"`
	Status     string `json:"status"`
	Transition stamp  `json:"lastTransitionTime"`
	Heartbeat  stamp  `json:"lastHeartbeatTime"`
}

type containerStatus struct {
	Name     string `json:"name"`
	Restarts int    `json:"restartCount"`
	State    struct {
		Running *struct {
			Started stamp `json:"startedAt"`
		} `json:"running"`
		Terminated *terminated `json:"terminated"`
	} `json:"state"`
}

type terminated struct {
	ExitCode int    `json:"exitCode"`
	Reason   string `json:"reason"`
	Started  stamp  `json:"startedAt"`
	Finished stamp  `json:"finishedAt"`
}

type nodeObject struct {
	Meta meta `json:"metadata"`
	Spec struct {
		ProviderID string `json:"providerID"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

type leaseObject struct {
	Meta meta `json:"metadata"`
	Spec struct {
		Renewed stamp `json:"renewTime"`
	} `json:"spec"`
}

// eventObject is an event of core/v1 or of events.k8s.io/v1, which name the same things differently.
type eventObject struct {
	Meta            meta      `json:"metadata"`
	Involved        reference `json:"involvedObject"`
	Regarding       reference `json:"regarding"`
	Reason          string    `json:"reason"`
	Message         string    `json:"message"`
	Note            string    `json:"note"`
	Time            stamp     `json:"eventTime"`
	First           stamp     `json:"firstTimestamp"`
	Last            stamp     `json:"lastTimestamp"`
	DeprecatedFirst stamp     `json:"deprecatedFirstTimestamp"`
	DeprecatedLast  stamp     `json:"deprecatedLastTimestamp"`
}

type reference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// when is the event's first time, as exact as it is known.
func (e *eventObject) when() stamp {
	return e.Time.or(e.First).or(e.DeprecatedFirst).or(e.Meta.Created)
}

func (e *eventObject) subject() reference {
	if e.Involved.Kind != "" {
		return e.Involved
	}
	return e.Regarding
}

func (e *eventObject) text() string {
	if e.Message != "" {
		return e.Message
	}
	return e.Note
}
