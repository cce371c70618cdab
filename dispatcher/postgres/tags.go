package postgres

// tagged names the method of dispatcher.Store that a statement belongs to, in a comment before it, so that a proxy in between
// and pg_stat_activity can tell the calls apart. One statement of a transaction is enough.
func tagged(method, statement string) string {
	return "/* squall:" + method + " */ " + statement
}

// taggedTask also says which task is meant: the statement's first parameter, which in these statements is @id.
func taggedTask(method, statement string) string {
	return "/* squall:" + method + " task=$1 */ " + statement
}

// taggedPart marks a statement of its own that is not the last of its method.
func taggedPart(method, statement string) string {
	return "/* squall:" + method + " more */ " + statement
}
