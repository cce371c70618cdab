// Package memory is the reference store: dispatcher.Store as an executable specification. The simulation
// runs on it, and a store on a real database is right when it passes dispatchertest as this one does.
//
// Read it as SQL: a method is one transaction, a row is a line of the table tasks, an index is an index.
// The rules that hold everywhere:
//
//   - A leader's write is judged in this order: an epoch other than the role's current one is Fenced, a
//     missing row is NotFound, a row whose token or version moved on is a Conflict, a row in whose phase the
//     write makes no sense is a Conflict, a reason that the method does not know is Rejected. A refused
//     write changes nothing.
//   - A worker gets one refusal, Refused, whatever is wrong with its ticket: it has to stop in any case.
//   - Tokens come from one counter over all tasks, epochs from one counter per role. Neither is ever
//     handed out twice, not even when commits are lost (see Rewind).
//   - Every change of a row makes its version larger. A call that finds its work done already changes nothing.
//   - Running rows owe no cleanup. A row that owes cleanup is not claimed, and a cancel of it is done
//     when the cleanup is.
//   - Once a cancel was acknowledged the task ends Cancelled, whatever ends the attempt; the store refuses
//     the worker from that moment on.
//   - A terminal row keeps everything but CleanupAt and Version.
//   - A moment is due when it is now or past; a start deadline is missed when it is past.
//
// Attempt stays on the row when the attempt ends, because cleanup needs its token and its workload; that it is
// over shows in Phase. The store is not safe for concurrent use: the simulation is one thread, and locks
// would only hide that.
package memory
