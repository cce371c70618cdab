package chain

import "github.com/squall-chaos/squall/checker/strictyaml"

// The codes of problems with chain files. Those that a chain file shares with a scenario mean the same.
const (
	CodeSyntax    = strictyaml.CodeSyntax
	CodeLimits    = strictyaml.CodeLimits
	CodeVersion   = "SQ103"
	CodeField     = strictyaml.CodeField
	CodeType      = strictyaml.CodeType
	CodeDuplicate = strictyaml.CodeDuplicate
	CodeMissing   = strictyaml.CodeMissing
	CodeName      = "SQ111"
	CodeEmpty     = strictyaml.CodeEmpty
	CodeDocuments = strictyaml.CodeDocuments
	CodeUseless   = strictyaml.CodeUseless
	CodeFile      = "SQ119"

	CodeLink      = "SQ501"
	CodeCycle     = "SQ502"
	CodeFormula   = "SQ503"
	CodeUnit      = "SQ504"
	CodeNothing   = "SQ505"
	CodeSeveral   = "SQ506"
	CodeInput     = "SQ507"
	CodeReference = "SQ508"
	CodeExtractor = "SQ509"
	CodeSchedule  = "SQ510"
	CodeFormat    = "SQ511"
	CodeDate      = "SQ512"
)

// The codes of findings.
const (
	CodeMargin  = "SQ520" // in order, but too near
	CodeEqual   = "SQ521"
	CodeOrder   = "SQ522" // the wrong way round
	CodeLimit   = "SQ523" // a number above the one that it may not exceed
	CodeRate    = "SQ524" // recovery slower than claiming
	CodeRetries = "SQ525"
	CodeExpired = "SQ530"
	CodeUnused  = "SQ531"
)
