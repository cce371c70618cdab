// Package linearize decides whether what callers saw of the store can be explained by one order of
// atomic steps: of each task's row (the ledger) and of each role's leadership.
//
// Two searches share one step function per model (ledger.step, leadership.step):
//
//   - search places every operation as late as it can, just before a return forces it: a frontier
//     of configurations (which open operations have happened, in which state) moves along the
//     history. This is Lowe's just-in-time linearization (Testing for linearizability, 2017). Its memory
//     follows how many operations are open at once, never how long a partition is, so a
//     partition needs no cutting at its quiet points: a quiet point is where the frontier holds bare states.
//   - porcupine is the reference that search is cross-checked against, and the fallback for a
//     partition with more than 64 operations open at once.
//
// # What keeps the frontier small
//
// Operations that only look (a read, a refusal) are placed as soon as they fit: they change nothing, so
// no later choice is lost. Of open operations that are alike in everything but their interval only
// the one that returns first is tried: two such operations can change places in any order. And a
// configuration that used fewer of the operations that may not have happened wins over one that used more
// and is the same otherwise. Porcupine does none of this, so k lost replies cost it 2^k.
//
// # Unknown outcomes
//
// An operation without a known outcome is narrowed from the server's own log: applied, then it
// happened between its call and its effect; not applied, then it is left out. Only where there is no log it
// stays open for ever and may or may not have happened. A claim without a log may even have granted any token.
//
// # What a refusal proves
//
// Refused is justified exactly when the row would not have let the worker in. A conflict of a write that
// carries a version proves nothing here: heartbeats, sightings and cleanups also change the version, and they are
// not part of this search; so it is always allowed. Fenced is judged by the leadership model: it needs a
// newer term.
package linearize
