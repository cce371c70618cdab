package scenarios

var explanations []explanation
