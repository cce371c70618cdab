// Package postgres is the store on a Postgres server. It does what dispatcher/memory does, which is the specification;
// dispatchertest holds both to it.
//
// # One transaction per method
//
// A method that writes is one READ COMMITTED transaction of at most four statements, sent in one round trip, and
// a COMMIT of its own:
//
//	SELECT ... FROM leadership WHERE role and epoch FOR SHARE    a leader's write only
//	SELECT ... FROM tasks WHERE id FOR UPDATE
//	UPDATE tasks ... WHERE id, token, version, epoch, state RETURNING ...
//	COMMIT
//
// The UPDATE alone decides whether anything is written: the conditions of the protocol are in its WHERE. The two
// locks before it make that decision hold until the commit (no new term can begin in between), make the clock of the
// UPDATE one that was read when nobody else was about to write the row, and provide the row from which the caller is
// told why nothing was written. The order of locks is leadership, then tasks; claims skip rows that are locked.
//
// Claim skips what others have locked (FOR UPDATE SKIP LOCKED). With Settings.MaxInFlight claims queue up for the
// row of the leadership, since otherwise two could each see the last free place.
//
// # The clock
//
// squall_now() is the one clock: the server's clock plus an offset, zero but in tests.
//
// # Errors
//
// Until COMMIT is sent nothing has happened, whatever the error is: ErrUnavailable, also after a lost connection, a
// deadlock (40P01) or a serialization failure (40001). ErrRejected is for data that Postgres cannot store (SQLSTATE classes 22 and
// 23: an ID with a NUL byte, say). A COMMIT that the server refused with an ERROR has not happened either. Every other
// failure of COMMIT, the lost reply first, is ErrUnknown.
//
// # What it takes for granted
//
// Commits that were acknowledged stay: synchronous_commit is not off, and a standby that is promoted was
// synchronous. After promoting one that was not, call squall_promoted() once. Prepared statements are
// used, so a pooler in between has to keep sessions apart.
//
// A replica that dies with a transaction open keeps its locks until the server notices; the sessions of Open ask the
// server to do so within Settings.StoreTimeout (idle_in_transaction_session_timeout).
package postgres
