package findings

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/chain"
	"github.com/squall-chaos/squall/dispatcher"
)

// The part of SARIF 2.1.0 that code hosts read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"semanticVersion,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string       `json:"id"`
		Name  string       `json:"name"`
		Short sarifMessage `json:"shortDescription"`
		Help  sarifMessage `json:"help"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		ID       *int          `json:"id,omitempty"`
		Message  *sarifMessage `json:"message,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
		Col  int `json:"startColumn"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// writeSARIF writes a log for code scanning. What is suppressed is in it, marked as such.
func writeSARIF(w io.Writer, d Document) error {
	run := sarifRun{Results: []sarifResult{}, Tool: sarifTool{Driver: sarifDriver{Name: "squall", Rules: []sarifRule{}}}}
	var codes []string
	all := append(slices.Clone(d.Findings), d.Silent...)
	for _, f := range all {
		if !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	for _, code := range codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: code, Name: code, Short: sarifMessage{d.Title(code)},
			Help: sarifMessage{"squall explain " + code}})
	}
	for _, f := range all {
		run.Results = append(run.Results, d.sarifResult(f, slices.Index(codes, f.Code)))
	}
	return indented(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

func (d Document) sarifResult(f chain.Finding, rule int) sarifResult {
	r := sarifResult{RuleID: f.Code, RuleIndex: rule, Level: "error", Message: sarifMessage{sentence(f)},
		Locations: []sarifLocation{d.location(f.Place)}, Fingerprints: map[string]string{"squall/v1": f.Fingerprint}}
	if f.Severity == dispatcher.SeverityWarning {
		r.Level = "warning"
	}
	for _, p := range partsOf(f) {
		if p.Place == f.Place {
			continue
		}
		at, id := d.location(p.Place), len(r.Related)
		at.ID, at.Message = &id, &sarifMessage{fmt.Sprintf("%s = %s, %s", p.Link, p.Value, either(p.Owner, "derived"))}
		r.Related = append(r.Related, at)
	}
	if s := f.Suppressed; s != nil {
		r.Suppressions = []sarifSuppression{{"external", fmt.Sprintf("%s (%s, until %s)", s.Reason, s.Owner, s.Until)}}
	}
	return r
}

func (d Document) location(p chain.Place) sarifLocation {
	return sarifLocation{Physical: sarifPhysical{sarifArtifact{d.uri(p)}, sarifRegion{p.Line, p.Col}}}
}

// uri is a file's name as a URI reference, segment by segment: a # in it would begin a fragment.
func (d Document) uri(p chain.Place) string {
	name := p.File
	if d.Relative != nil && !p.Elsewhere {
		name = d.Relative(name)
	}
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
	}
	return strings.Join(segments, "/")
}
