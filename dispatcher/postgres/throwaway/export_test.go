package throwaway

// LookIn looks for binaries elsewhere until the returned function is called.
func LookIn(folder string) func() {
	was := binaries
	binaries = folder
	return func() { binaries = was }
}
