package dispatcher

// System is a dispatcher under test: the reference, whose hooks are all nil, or the reference with
// one part replaced. A hook gets the reference's part and returns what stands in for it.
type System struct {
	Name    string
	Summary string
	// Settings changes the profile, unchecked.
	Settings func(Settings) Settings
	// Store wraps the database's side of the store: the conditions in the SQL statements.
	Store func(Store) Store
	// Ports wraps what a dispatcher or reconciler replica sees.
	Ports func(Ports) Ports
	// Workers wraps what the worker inside a workload sees.
	Workers func(Workers) Workers
	// Witness replaces how the reconciler judges an attempt.
	Witness func(Witness) Witness
}
