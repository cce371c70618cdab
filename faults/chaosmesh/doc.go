// Package chaosmesh turns faults into objects of Chaos Mesh (chaos-mesh.org/v1alpha1), applies them, waits for them, and takes them away.
// Squall brings no Chaos Mesh: a team that runs one can have the faults of its scenarios there, without any access to nodes.
//
// Only what a fault sets is sent, never what the module's Default would add: the module may be newer than the cluster's CRDs, which
// then prune a field that the webhook adds again, and refuse every later update of the object. Defaults that a cluster without
// Chaos Mesh's webhooks needs (jitter, correlation, direction) are therefore written out.
//
// What is covered, and what is not, is in package coverage. Where a fault is covered in part, the objects are a fault of the same sort,
// and say what differs.
package chaosmesh
