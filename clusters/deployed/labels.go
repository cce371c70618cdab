package deployed

// RunLabel is on every object that a run makes; its value is the run's namespace.
const RunLabel = "squall.dev/run"

// Labels of everything that a run makes.
func (w *World) Labels(component string) map[string]string {
	l := map[string]string{"app.kubernetes.io/managed-by": "squall", RunLabel: w.Namespace()}
	if component != "" {
		l["app.kubernetes.io/component"] = component
	}
	return l
}
