package explore_test

// unreachable says of planted defects why one fault in the small worlds does not show them.
var unreachable = map[string]string{
	"counter-by-events":          "it takes 25 tasks to fill its places",
	"finished-taken-for-running": "it takes 10 tasks to fill its places",
	"catch-up-refused":           "it takes a hundred tasks that were missed",
}
