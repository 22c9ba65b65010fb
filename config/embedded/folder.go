package embedded

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// prepareDir settles the server's folder. A given one is made if it is missing; a temporary one
// is only named here, and made by the supervisor, so that it cannot outlive a sudden death.
func (s *spec) prepareDir(prefix string) error {
	if s.dir == "" {
		base := s.runAs.tempBase()
		if err := s.runAs.canEnter(base); err != nil {
			return err
		}
		s.dir, s.remove = filepath.Join(base, prefix+newPassword()[:12]), true
		return nil
	}
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return err
	}
	s.dir = dir
	if _, err := os.Stat(dir); err == nil {
		return s.checkDir()
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := s.runAs.own(dir); err != nil {
		return err
	}
	return s.checkDir()
}

// checkDir accepts a folder that exists when it is empty or one of ours. An empty one is handed
// to the account that runs the server.
func (s *spec) checkDir() error {
	if err := s.runAs.canEnter(filepath.Dir(s.dir)); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		if err := s.runAs.own(s.dir); err != nil {
			return err
		}
		return os.Chmod(s.dir, 0o700)
	}
	for _, name := range []string{"data", "server.log"} {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s holds other things than a private server; choose an empty folder", s.dir)
}

// freePort asks the system for a loopback port that nobody listens on right now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// pickPort returns the wanted port, or a free one if that is 0.
func pickPort(want int) (int, error) {
	if want != 0 {
		return want, nil
	}
	return freePort()
}

// portTaken says whether somebody listens on a port that was free before.
func portTaken(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return true
	}
	_ = l.Close()
	return false
}
