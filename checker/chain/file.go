package chain

import (
	"github.com/squall-chaos/squall/checker/chain/extract"
)

// The first lines of every chain file.
const (
	APIVersion = "squall/v1alpha1"
	Kind       = "Chain"
)

// File is a chain file as it is written.
type File struct {
	APIVersion string        `yaml:"apiVersion" doc:"squall/v1alpha1."`
	Kind       string        `yaml:"kind" doc:"Chain."`
	Name       string        `yaml:"name" doc:"Name of the chain, for reports."`
	Inputs     []Input       `yaml:"inputs,omitempty" doc:"Where files come from, besides the directory of this file."`
	Links      []Link        `yaml:"links" doc:"The values, from the inside out."`
	Relations  []Relation    `yaml:"relations,omitempty" doc:"What else must hold between links."`
	Suppress   []Suppression `yaml:"suppress,omitempty" doc:"Findings that somebody answers for, until a day."`
}

// Input is a place that files come from.
type Input struct {
	Name  string `yaml:"name" doc:"Name of the input, for links and for --input."`
	From  string `yaml:"from" doc:"A directory, or a git repository at a reference: ../platform#main:deploy, https://example.org/platform.git#v2:deploy."`
	Owner string `yaml:"owner,omitempty" doc:"Who owns what is there, unless a link says otherwise."`
}

// Link is one value of the chain.
type Link struct {
	Name      string            `yaml:"name" doc:"Name of the link: letters, digits and underscores, as formulas name it."`
	Setting   string            `yaml:"setting,omitempty" doc:"The setting of the dispatcher that the link is, such as recovery_grace: the built-in rules apply to it."`
	Owner     string            `yaml:"owner,omitempty" doc:"Who can change the value."`
	Input     string            `yaml:"input,omitempty" doc:"The input that the file is part of; without it, the directory of this file."`
	File      Names             `yaml:"file,omitempty" doc:"A file, a glob (** stands for any directories) or a directory; or a list of them."`
	Extract   *extract.Selector `yaml:"extract,omitempty" doc:"Where in the file the value stands."`
	Value     Expression        `yaml:"value,omitempty" doc:"Instead of file and extract: a constant, or a formula over other links."`
	Default   Expression        `yaml:"default,omitempty" doc:"What holds where the file does not set the value."`
	Unit      string            `yaml:"unit,omitempty" doc:"What the value is written in."`
	Each      bool              `yaml:"each,omitempty" doc:"Every value that is found is a link of its own; without it, more than one is an error."`
	Below     Expression        `yaml:"below,omitempty" doc:"The link, or a formula over links, that this one must lie strictly below."`
	AtMost    Expression        `yaml:"at_most,omitempty" doc:"The link, or a formula over links, that this one may equal but not exceed."`
	Margin    Expression        `yaml:"margin,omitempty" doc:"What must lie between the two at least: a formula, such as pod_grace + 5s."`
	Because   string            `yaml:"because,omitempty" doc:"Why that is so."`
	Otherwise string            `yaml:"otherwise,omitempty" doc:"What happens when it is not so."`
}

// Relation is what must hold between two formulas.
type Relation struct {
	Name      string     `yaml:"name" doc:"Name of the relation, for findings and suppressions."`
	Left      Expression `yaml:"left" doc:"A link, or a formula over links."`
	Below     Expression `yaml:"below,omitempty" doc:"The formula that left must lie strictly below."`
	AtMost    Expression `yaml:"at_most,omitempty" doc:"The formula that left may equal but not exceed."`
	Differs   Expression `yaml:"differs_from,omitempty" doc:"The formula that left must not equal."`
	Margin    Expression `yaml:"margin,omitempty" doc:"What must lie between the two at least."`
	Because   string     `yaml:"because" doc:"Why that is so."`
	Otherwise string     `yaml:"otherwise,omitempty" doc:"What happens when it is not so."`
}

// Suppression keeps a finding from counting, for a while.
type Suppression struct {
	Relation string `yaml:"relation" doc:"The relation or built-in rule whose finding is meant."`
	Link     string `yaml:"link,omitempty" doc:"Only findings that concern this link."`
	Code     string `yaml:"code,omitempty" doc:"Only findings with this code."`
	Reason   string `yaml:"reason" doc:"Why the finding is put up with."`
	Owner    string `yaml:"owner" doc:"Who answers for that."`
	Until    string `yaml:"until" doc:"The last day on which it holds, as 2027-06-30."`
}

// Expression is a formula or a constant; YAML may take it for a number.
type Expression string

// Names are one name or a list of them.
type Names []string
