package throwaway

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that the server runs as: Postgres refuses to be root.
type account struct{ credential *syscall.Credential } // nil: whoever we are

// unprivileged returns ourselves, or, when we are root, an account that Debian's package or every system has.
func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	var missing []error
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			missing = append(missing, err)
			continue
		}
		uid, err := strconv.ParseUint(found.Uid, 10, 32)
		if err != nil {
			return account{}, err
		}
		gid, err := strconv.ParseUint(found.Gid, 10, 32)
		if err != nil {
			return account{}, err
		}
		return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return account{}, fmt.Errorf("a Postgres server does not run as root, and there is no other user to run it as: %w", errors.Join(missing...))
}

// own gives the file to the account.
func (a account) own(file string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(file, int(a.credential.Uid), int(a.credential.Gid))
}

func (a account) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential, Setpgid: true}
}
