package history

import "fmt"

// The words of every enumeration, by value. They are what files and scenarios say.
var (
	outcomeWords = []string{OK: "ok", Fail: "fail", Unknown: "unknown"}

	verbWords = []string{
		Submit: "submit", Cancel: "cancel", Resume: "resume", Read: "read",
		Now: "now", Lead: "lead", Confirm: "confirm",
		Claim: "claim", Launched: "launched", Unclaim: "unclaim", Reject: "reject",
		Scan: "scan", Observe: "observe", Requeue: "requeue", Conclude: "conclude", Cleaned: "cleaned", Postpone: "postpone", Health: "health",
		Start: "start", Heartbeat: "heartbeat", Finish: "finish",
		Create: "create", Get: "get", List: "list", Delete: "delete", Release: "release", NodeExists: "node-exists",
		GetLease: "get-lease", PutLease: "put-lease", Watch: "watch",
	}

	codeWords = []string{
		Timeout: "timeout", Unavailable: "unavailable", NotFound: "not-found", Exists: "exists", Conflict: "conflict",
		Fenced: "fenced", Refused: "refused", Throttled: "throttled", Rejected: "rejected", Expired: "expired",
		Internal: "internal", Reset: "connection-lost",
	}

	phaseWords = []string{
		Pending: "pending", Running: "running", Succeeded: "succeeded", Failed: "failed",
		Cancelled: "cancelled", NeedsAttention: "needs-attention",
	}

	kindWords = []string{
		Row:              "row",
		ContainerStarted: "container-started", ContainerEnded: "container-ended",
		WorkStarted: "work-started", WorkEnded: "work-ended",
		EffectCounted: "effect-counted", EffectRefused: "effect-refused", EffectLost: "effect-lost",
		ObjectCreated: "object-created", ObjectDeleting: "object-deleting", ObjectGone: "object-gone", ObjectPhase: "object-phase", ObjectBound: "object-bound",
		NodeAdded: "node-added", NodeReady: "node-ready", NodeNotReady: "node-not-ready", NodeGone: "node-gone",
		ProcessStarted: "process-started", ProcessCrashed: "process-crashed",
		ProcessPaused: "process-paused", ProcessResumed: "process-resumed",
		LeaseHeld:    "lease-held",
		FaultPlanned: "fault-planned", FaultStruck: "fault-struck", FaultObserved: "fault-observed", FaultHealed: "fault-healed",
		Healed: "healed", Ended: "ended", FaultMissed: "fault-missed",
	}
)

// word is the word of a value, empty for none, and a visible mistake for a value that has no word.
func word(words []string, value uint8, what string) string {
	if int(value) < len(words) {
		return words[value]
	}
	return fmt.Sprintf("%s %d", what, value)
}

// parse is the inverse of word for the words of real values.
func parse[T ~uint8](words []string, text, what string) (T, error) {
	if value, ok := valueOf[T](words, text); ok {
		return value, nil
	}
	err := fmt.Errorf("unknown %s %q", what, text)
	if near := Nearest(text, words); near != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return 0, err
}

func valueOf[T ~uint8, S ~string | ~[]byte](words []string, text S) (T, bool) {
	for i, w := range words {
		if w != "" && w == string(text) {
			return T(i), true
		}
	}
	return 0, false
}

// String returns "ok", "fail" or "unknown", empty for none.
func (o Outcome) String() string { return word(outcomeWords, uint8(o), "outcome") }

// String returns the port method's name in lower case, words joined by hyphens.
func (v Verb) String() string { return word(verbWords, uint8(v), "verb") }

// String returns the word of the code, empty for none.
func (c Code) String() string { return word(codeWords, uint8(c), "code") }

// String returns the phase as package dispatcher spells it, empty for none.
func (p Phase) String() string { return word(phaseWords, uint8(p), "phase") }

// String returns the kind's name in lower case, words joined by hyphens.
func (k Kind) String() string { return word(kindWords, uint8(k), "kind") }

// ParseOutcome is the inverse of Outcome.String; the error names the nearest word.
func ParseOutcome(text string) (Outcome, error) { return parse[Outcome](outcomeWords, text, "outcome") }

// ParseVerb is the inverse of Verb.String; the error names the nearest word.
func ParseVerb(text string) (Verb, error) { return parse[Verb](verbWords, text, "verb") }

// ParseCode is the inverse of Code.String; the error names the nearest word.
func ParseCode(text string) (Code, error) { return parse[Code](codeWords, text, "code") }

// ParsePhase is the inverse of Phase.String; the error names the nearest word.
func ParsePhase(text string) (Phase, error) { return parse[Phase](phaseWords, text, "phase") }

// ParseKind is the inverse of Kind.String; the error names the nearest word.
func ParseKind(text string) (Kind, error) { return parse[Kind](kindWords, text, "kind") }

// Verbs lists every verb.
func Verbs() []Verb { return all[Verb](verbWords) }

// Kinds lists every kind of event.
func Kinds() []Kind { return all[Kind](kindWords) }

func all[T ~uint8](words []string) []T {
	values := make([]T, 0, len(words))
	for i, w := range words {
		if w != "" {
			values = append(values, T(i))
		}
	}
	return values
}

// Terminal tells whether the phase is final.
func (p Phase) Terminal() bool { return p == Succeeded || p == Failed || p == Cancelled }

// Stopped tells whether the system will do nothing more about the task by itself.
func (p Phase) Stopped() bool { return p.Terminal() || p == NeedsAttention }
