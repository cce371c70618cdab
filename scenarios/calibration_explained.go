package scenarios

// What is wrong with the dumps that calibrations are made from; package clusters/calibration/dumps names the codes.
func init() {
	explanations = append(explanations, []explanation{
		{"SQ411", "not a dump of a cluster",
			"`squall calibrate` reads what kubectl prints as JSON: a list of events, pods, nodes and leases, or such objects one after another, as kubectl's watch prints them. YAML, tables, and other kinds of objects are no such thing.",
			"kubectl get events,pods,nodes -A -o json > dump.json\nkubectl get leases -n kube-node-lease -o json > leases.json\nsquall calibrate dump.json leases.json\n\nkubectl get pods -A -w -o json > watch.json   # for an hour: whole lives, deletions included"},
		{"SQ412", "a damaged dump",
			"The JSON ends in the middle, or is none from this place on. Nothing is taken from it: half a dump would count the pods that came first.",
			"kubectl get events,pods,nodes -A -o json > dump.json   # and wait for it to end"},
		{"SQ413", "nothing to measure",
			"The dumps hold no pod, node or event, or none that the selection takes. Events live for an hour by default, so a dump of a quiet hour tells little.",
			"squall calibrate dump.json -n jobs -l app=worker"},
	}...)
}
