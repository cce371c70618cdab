package explore_test

// unreachable says of planted defects why one fault in the small worlds does not show them.
var unreachable = map[string]string{}
