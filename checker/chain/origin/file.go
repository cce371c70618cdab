package origin

import (
	"fmt"
	"os"
)

// maxBytes of one file that is read.
const maxBytes = 16 << 20

func osStat(name string) (os.FileInfo, error) { return os.Stat(name) }

// ReadFile reads a file, but never more than a text may have: the name may be that of a device.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > maxBytes:
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", name, info.Size(), maxBytes)
	}
	return os.ReadFile(name)
}
