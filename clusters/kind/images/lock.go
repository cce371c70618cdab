package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock makes this process the only one that makes a kind of image. The kernel drops the lock of a process that dies.
func (s store) lock(ctx context.Context, kind string, options Options) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(string(s), kind+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if !told {
			options.say("another process is making the image of %s: waiting for it", kind)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
