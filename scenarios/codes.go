package scenarios

import (
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/strictyaml"
)

// The codes of problems with scenario files (SQ1xx) and settings (SQ2xx); those of faults (SQ3xx) are in package faults.
const (
	CodeSyntax       = strictyaml.CodeSyntax
	CodeLimits       = strictyaml.CodeLimits
	CodeVersion      = "SQ103"
	CodeField        = strictyaml.CodeField
	CodeType         = strictyaml.CodeType
	CodeDuplicate    = strictyaml.CodeDuplicate
	CodeMissing      = strictyaml.CodeMissing
	CodeDuration     = "SQ108"
	CodeDistribution = "SQ109"
	CodeRange        = strictyaml.CodeRange
	CodeName         = "SQ111"
	CodeTask         = "SQ112"
	CodeEmpty        = strictyaml.CodeEmpty
	CodeDocuments    = strictyaml.CodeDocuments
	CodeUseless      = strictyaml.CodeUseless
	CodePastHorizon  = "SQ116"
	CodeExpect       = "SQ117"
	CodeControl      = "SQ118"
	CodeFile         = "SQ119"
	CodeImpossible   = "SQ120"
	CodeVariation    = "SQ121"

	CodeSetting    = "SQ201"
	CodeNesting    = "SQ202"
	CodeProfile    = "SQ203"
	CodeNeedlessly = "SQ204"
	CodeScale      = "SQ205"
)

// explanation is what `squall explain` says about a code.
type explanation struct {
	code, title, text, example string
}

// Explain returns a paragraph and an example for a code.
func Explain(code string) (string, bool) {
	code = strings.ToUpper(code)
	for _, e := range explanations {
		if e.code == code {
			return e.code + ": " + e.title + "\n\n" + e.text + "\n\n" + indent(e.example), true
		}
	}
	return "", false
}

// Title is a code in a few words; "" for one that is not known.
func Title(code string) string {
	for _, e := range explanations {
		if e.code == code {
			return e.title
		}
	}
	return ""
}

func indent(text string) string {
	return strings.ReplaceAll("    "+strings.ReplaceAll(text, "\n", "\n    "), "    \n", "\n")
}

// Codes lists all codes that Explain knows, in order.
func Codes() []string {
	codes := make([]string, len(explanations))
	for i, e := range explanations {
		codes[i] = e.code
	}
	slices.Sort(codes)
	return codes
}
