//go:build kind

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/manifests"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
	"github.com/squall-chaos/squall/scenarios"
)

// newScenariosCommand is about scenarios as others can use them.
func newScenariosCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "Print scenarios for other tools",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRenderCommand(c))
	return cmd
}

// renderFlags say where the faults are to strike.
type renderFlags struct {
	chaosMesh bool
	namespace string
	seed      uint64
	form      string
	apiServer []string
	database  string
	http      []string
}

func newRenderCommand(c *console) *cobra.Command {
	var f renderFlags
	cmd := &cobra.Command{
		Use:   "render --chaosmesh SCENARIO",
		Short: "Print the faults of a scenario as objects of Chaos Mesh",
		Long: `Print the faults that a seed draws from a scenario as objects of Chaos Mesh, for "kubectl apply -f -". No cluster is needed: the
objects are judged by Chaos Mesh's own validation. They strike what "squall manifests" installs into the namespace. A fault that
Chaos Mesh cannot express is left out, and named on stderr with the reason; squall list --chaosmesh shows what it can.

The form "workflow" is one Workflow: the plan begins when it is created, and everything heals at the scenario's horizon. The form
"objects" is an object per fault with its duration, to be applied at the time that stands above it.`,
		Example: "  squall scenarios render --chaosmesh database-crash -n batch --database app=postgres | kubectl apply -f -",
		Args:    exactly("scenario", "`squall list scenarios` shows all"),
		RunE:    func(_ *cobra.Command, args []string) error { return f.render(c, args[0]) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.chaosMesh, "chaosmesh", false, "as objects of Chaos Mesh")
	flags.StringVarP(&f.namespace, "namespace", "n", "squall", "the namespace that the dispatcher is in")
	flags.Uint64Var(&f.seed, "seed", 1, "draw the faults of this seed")
	flags.StringVar(&f.form, "form", string(chaosmesh.WorkflowForm), "what to print: "+strings.Join(formNames(), ", "))
	flags.StringSliceVar(&f.apiServer, "api-server", []string{"10.96.0.1"}, "the `address` at which Pods reach the API server: its ClusterIP (kubectl get service kubernetes)")
	flags.StringVar(&f.database, "database", "", "the `host` of the database, or LABEL=VALUE of its Pods (default: postgres.NAMESPACE.svc)")
	flags.StringArrayVar(&f.http, "http", nil, "calls by this port go to a plain HTTP server in Pods, `PORT=LABEL=VALUE:NUMBER[/PATH]`; may be repeated")
	return cmd
}

func formNames() []string {
	var names []string
	for _, f := range chaosmesh.Forms() {
		names = append(names, string(f))
	}
	return names
}

func (f *renderFlags) render(c *console, name string) error {
	if !f.chaosMesh {
		return usage("squall scenarios render: as what? --chaosmesh is all there is")
	}
	if !slices.Contains(formNames(), f.form) {
		return unknownName("value of --form", f.form, formNames(), oneOf(formNames()))
	}
	s, _, err := openScenario(name)
	if err != nil {
		return err
	}
	site, err := f.site(s)
	if err != nil {
		return err
	}
	plan, err := s.Plan(f.seed)
	if err != nil {
		return err
	}
	if len(plan) == 0 {
		return usage("scenario %s has no faults: there is nothing to render", s.Name)
	}
	r, err := site.Render(plan, chaosmesh.Form(f.form))
	var refused *chaosmesh.Refused
	switch {
	case errors.As(err, &refused):
		return s.FaultProblem(f.seed, refused.Index, faults.CodeChaosMesh, refused.Error(), "")
	case err != nil:
		return broken(err)
	}
	return f.print(c, s, site, r)
}

// print writes the objects, and what is not among them.
func (f *renderFlags) print(c *console, s *scenarios.Scenario, site chaosmesh.Site, r chaosmesh.Rendered) error {
	for _, m := range r.Left() {
		c.note("%s", m.Complaint())
	}
	if len(r.Objects) == 0 {
		return usage("scenario %s: Chaos Mesh can express none of its faults; `squall list --chaosmesh` shows what it can", s.Name)
	}
	text, err := r.YAML(site, fmt.Sprintf("the faults of scenario %s, seed %d, as objects of Chaos Mesh", s.Name, f.seed))
	if err != nil {
		return broken(err)
	}
	_, err = c.out.Write(text)
	return err
}

// site is where the flags say that the faults strike.
func (f *renderFlags) site(s *scenarios.Scenario) (chaosmesh.Site, error) {
	settings, err := s.DispatcherSettings()
	if err != nil {
		return chaosmesh.Site{}, err
	}
	if err := manifests.CheckNamespace(f.namespace); err != nil {
		return chaosmesh.Site{}, usage("%w", err)
	}
	site := chaosmesh.Site{Namespace: f.namespace, Name: s.Name, Horizon: s.Horizon, PodGrace: settings.PodGrace,
		Dispatchers: s.Replicas.Dispatchers, Reconcilers: s.Replicas.Reconcilers, APIServer: f.apiServer,
		HTTP: map[clusters.Port]chaosmesh.HTTPServer{}}
	for _, g := range s.Nodes {
		site.Nodes = append(site.Nodes, clusters.NodeGroup(g))
	}
	for _, address := range f.apiServer {
		if err := chaosmesh.CheckHost(address); err != nil {
			return site, usage("--api-server %w", err)
		}
	}
	database := f.database
	if database == "" {
		database = "postgres." + f.namespace + ".svc"
	}
	if site.Database, err = chaosmesh.ParseDatabase(database); err != nil {
		return site, usage("--database %w", err)
	}
	for _, text := range f.http {
		port, server, err := chaosmesh.ParseHTTP(text)
		if err != nil {
			return site, usage("--http %w", err)
		}
		site.HTTP[port] = server
	}
	return site, nil
}
