package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/adrg/xdg"
)

// account is the unprivileged user a server runs as when we are root: PostgreSQL refuses to run
// as root. Nil means the current user.
type account struct {
	name     string
	uid, gid int
}

// unprivileged returns the account for servers: nil unless we are root, then the first of the
// users "postgres" and "nobody" that exists.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr != nil || gidErr != nil || uid <= 0 {
			continue
		}
		return &account{name: name, uid: uid, gid: gid}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user " +
		`"postgres" or "nobody" to run it as; run as another user`)
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// own hands a file or folder that we made as root over to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// canEnter says whether the account may pass through a folder and all folders above it.
func (a *account) canEnter(dir string) error {
	if a == nil {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		owned := false
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			owned = int(st.Uid) == a.uid || int(st.Gid) == a.gid
		}
		if !owned && info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("user %s, whom the server runs as, may not enter %s; "+
				"choose a folder elsewhere, such as under /tmp", a.name, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// tempBase returns the folder for temporary server folders: the usual one, unless the account
// cannot enter it.
func (a *account) tempBase() string {
	base := os.TempDir()
	if a.canEnter(base) != nil {
		return "/tmp"
	}
	return base
}

// cacheDir returns the folder for templates and fetched binaries. Root's own cache is closed to
// the account that runs the server, so root uses the system's.
func cacheDir() string {
	if os.Geteuid() == 0 {
		if runtime.GOOS == "darwin" {
			return "/Library/Caches/rewardctl"
		}
		return "/var/cache/rewardctl"
	}
	return filepath.Join(xdg.CacheHome, "rewardctl")
}

// removeRest removes what the supervisor could not: it may lack the right to unlink its folder.
func (s spec) removeRest() error {
	if !s.remove {
		return nil
	}
	err := os.RemoveAll(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// serverEnvironment is what a server sees of our environment: nothing that could redirect it.
func serverEnvironment(s spec) []string {
	env := []string{
		"HOME=/", "LC_ALL=C", "TZ=UTC", "INITDB=" + s.initdb, "SUPERVISE=" + superviseScript,
	}
	for _, name := range []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
