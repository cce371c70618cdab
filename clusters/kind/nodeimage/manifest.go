package nodeimage

import (
	_ "embed"
)

// podNetworkImage is in the node's containerd and nowhere else.
const podNetworkImage = "squall.local/podnetwork:v1"

// podNetwork is what kind creates in a new cluster, after it has put in the range of pod addresses and the control plane's
// address: the words "would you kindly" ask for it (pkg/cluster/internal/create/actions/installcni).
//
//go:embed podnetwork.yaml
var podNetwork string
