package scenarios

import "time"

// Expect is what must come out, by the dispatcher under test.
type Expect struct {
	Reference *Expectation `yaml:"reference,omitempty" doc:"Of the reference dispatcher."`
	Naive     *Expectation `yaml:"naive,omitempty" doc:"Of the naive dispatcher. What it violates must be found under one seed at least."`
	Planted   []Planted    `yaml:"planted,omitempty" doc:"Of dispatchers with one planted defect each."`
	Tolerate  []string     `yaml:"tolerate,omitempty" doc:"Invariants whose violation is reported but is not fatal here."`
}

// Planted is what must come out of a dispatcher with a planted defect.
type Planted struct {
	Defect      string `yaml:"defect" doc:"Name of the planted defect."`
	Expectation `yaml:",inline"`
}

// Expectation is what must come out of one dispatcher.
type Expectation struct {
	Verdict   string     `yaml:"verdict,omitempty" doc:"valid or invalid."`
	Violates  []string   `yaml:"violates,omitempty" doc:"Invariants that must be found violated."`
	Exercised []string   `yaml:"exercised,omitempty" doc:"Invariants that must really have been put to the test."`
	Tasks     []TaskEnd  `yaml:"tasks,omitempty" doc:"How tasks must end."`
	Calls     []CallRate `yaml:"calls,omitempty" doc:"How often processes may call."`
}

// TaskEnd is how a task must end.
type TaskEnd struct {
	Task          string        `yaml:"task" doc:"The task; NAME-* for each of a group."`
	Phase         string        `yaml:"phase,omitempty" doc:"The phase that its row ends in."`
	Reason        string        `yaml:"reason,omitempty" doc:"The reason that its row ends with."`
	Executions    *int          `yaml:"executions,omitempty" doc:"How often the work was truly begun."`
	MaxExecutions *int          `yaml:"max_executions,omitempty" doc:"How often the work may truly have begun."`
	Effects       *int          `yaml:"effects,omitempty" doc:"How many results were counted."`
	StartedBy     time.Duration `yaml:"started_by,omitempty" doc:"The work first began by then."`
	EndedBy       time.Duration `yaml:"ended_by,omitempty" doc:"The row reached a final phase, or stopped, by then."`
}

// CallRate is how often processes may call.
type CallRate struct {
	Verb    string `yaml:"verb" doc:"The port method."`
	Process string `yaml:"process,omitempty" doc:"Only calls of this process, or of all that begin so (dispatcher*)."`
	Task    string `yaml:"task,omitempty" doc:"Only calls that concern this task."`
	// After bounds the calls that are counted; they count from when they were made.
	After time.Duration `yaml:"after,omitempty" doc:"Only calls made later than this."`
	Min   *int          `yaml:"min,omitempty" doc:"At least this many."`
	Max   *int          `yaml:"max,omitempty" doc:"At most this many."`
}

// Of returns what is expected of the named dispatcher, or nil.
func (e Expect) Of(system string) *Expectation {
	switch system {
	case "reference":
		return e.Reference
	case "naive":
		return e.Naive
	}
	for i := range e.Planted {
		if e.Planted[i].Defect == system {
			return &e.Planted[i].Expectation
		}
	}
	return nil
}
