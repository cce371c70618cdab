// Package proxy breaks single calls on the wire: a TLS proxy in front of a Kubernetes API server and one in front of Postgres,
// with rules that are armed over HTTP. Any dispatcher goes through it when the addresses in its kubeconfig and its database URL
// are changed; nothing else of it is.
//
// # Who calls what
//
// A rule is a clusters.Rule: port, process, verb, task, the nth call or a share, and what becomes of the call.
//
//	         the API server                                        Postgres
//	process  NAME of a server URL that ends in /as/NAME, else      application_name
//	         the User-Agent up to the first / or space
//	verb     POST, GET, DELETE, PATCH or PUT of pods, jobs or      a comment that leads a statement:
//	         workflows: create, get, list, delete, release;        /* squall:VERB */
//	         GET of a node: node-exists;
//	         leases: get-lease, put-lease
//	task     the object's name without "task-"; of a new one       task=ID or task=$N in that comment: the
//	         rather its label squall.dev/task                      statement's Nth parameter
//
// A store call is one transaction: from BEGIN to COMMIT, or a statement by itself. A comment with "more" says that such a statement is
// only the first part of a call. Without comments a rule has no verb and counts transactions, or it has the verb "commit" and counts
// those that may have written.
//
// The API server is reached over HTTP/2 where it speaks that, the client over HTTP/1.1, so that one connection carries one request.
// Tokens pass; client certificates end here, so a kubeconfig has to have a token. Postgres clients are told that there is
// no TLS (sslmode=require fails, prefer works), and SCRAM passes as it is.
//
// # What becomes of a call
//
//	action        the API server                                   Postgres
//	refuse        401: nothing else says of every request that     the connection is reset before the first
//	              nothing happened, once there is a connection     statement is sent on
//	drop          no answer, nothing is sent on                    no answer to COMMIT, rolled back
//	lose-reply    sent on, no answer                               COMMIT sent on, no answer
//	cut-reply     sent on, connection cut at the answer            likewise at COMMIT's answer
//	cut-call      connection cut, nothing is sent on               connection cut at COMMIT, rolled back
//	late          no answer, sent on after the delay               no answer to COMMIT, sent on after the delay
//	slow          sent on after the delay                          COMMIT sent on after the delay
//	slow, hold    sent on when the rule is disarmed                likewise COMMIT
//	answer        a Status object                                  an ErrorResponse, see below
//	crash-caller  sent on; the answer is held back until the       likewise at COMMIT's answer
//	              rule is disarmed or the connection dies
//
// What is late or slow takes effect even if the caller has hung up. A statement that is a transaction by itself is treated as COMMIT
// is. Hits are told when a rule strikes, of lose-reply, cut-reply and crash-caller after the effect. A store rule whose action falls on
// COMMIT counts the transactions that get there: one that the client rolls back is neither counted nor struck.
//
// A rule that refuses everything (no process, verb, task, nth or share) is an outage: the listener is closed and
// every connection reset, so that clients get "connection refused". With a process it resets that process's Postgres connections, old
// and new. Refused or dropped as a whole, watches that run are cut too. A watch is a call without a verb.
//
// # What the reference adapters make of it
//
// The same as in the simulation (package clusters/sim), which the tests of this package show call by call, but for these:
//
//   - A store call that only reads (now, confirm, read, scan, health) is ErrUnavailable whatever happens to it, where the simulation
//     says ErrUnknown of a lost one. Nobody can have been harmed by either.
//   - A store call that the store refuses (ErrFenced, ErrConflict, ...) ends in ROLLBACK: its caller learns of the refusal, as it
//     came before the fault's turn. In the simulation a lost reply hides that too.
//   - A commit that is slow or late holds its locks, and the server ends a transaction that is idle for longer than the session
//     allows (idle_in_transaction_session_timeout, which the reference store sets to its own timeout): a COMMIT later than that
//     is not applied. The simulation applies it however late. So does this proxy for clients without such a timeout.
//   - An answer of the store with throttled, conflict or exists (53300, 40001, 23505) is ErrUnavailable, ErrUnavailable and
//     ErrRejected. The refusals that a store finds in its rows (not-found, fenced, refused, expired) are no errors of Postgres,
//     and a rule with them is turned down, as one for the API with fenced, refused or connection-lost: take cut-call for the last.
//   - unavailable from the API is 401, because a 503 proves nothing and is ErrUnknown. Rule.Status asks for a 503 all the same, and
//     for the 403 of a spent quota with the code throttled.
//   - A request for which the client has no connection yet waits in an outage by drop until its TLS handshake and then like any other;
//     the simulation does not know handshakes.
//   - A caller's node is not seen, so a rule for a node is turned down.
//
// # Hidden second sends
//
// net/http sends a GET again by itself when a connection that was used before ends without a byte of an answer. So that a cut is one,
// such a request gets the first bytes of an answer before the end. client-go sends any request again on 429 and on 5xx with
// Retry-After (k8s.io/client-go/rest, with_retry.go): the rule fields retryAfter and applied make it send a create twice that was applied.
//
// # Control
//
//	POST   /rules              a rule as JSON; 201 {"id": "r1"}, or 400 with every problem by field
//	GET    /rules              what is armed, with counts
//	DELETE /rules/{id}         likewise all: /rules
//	GET    /hits?after=N&wait=S   hits from number N on; waits up to S seconds for one
//	GET    /healthz            without a token
package proxy
