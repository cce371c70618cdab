package dispatcher

// Remedy is the command with which a person takes a NeedsAttention task on again. Every store writes
// it into the row, so that whoever finds the task also finds the way out.
func Remedy(id TaskID) string { return "squall task resume " + string(id) }
