package config

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// secretMax bounds the size of a file with a secret.
const secretMax = 4096

// openToOthers are the permissions that a file with a secret must not have.
const openToOthers fs.FileMode = 0o077

// readSecret reads a secret from a file of its own: its first line.
func readSecret(path string) (s Secret, problem, wayOut string) {
	f, err := os.Open(path)
	if err != nil {
		return s, "cannot be read: " + reason(err), "name a file that holds the password"
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, "cannot be read: " + reason(err), ""
	}
	if !info.Mode().IsRegular() {
		return s, "is not a file", "name a file that holds the password"
	}
	if info.Mode().Perm()&openToOthers != 0 {
		return s, fmt.Sprintf("can be read by other users (mode %04o)", info.Mode().Perm()),
			"chmod 600 " + path
	}
	content, err := io.ReadAll(io.LimitReader(f, secretMax+1))
	if err != nil {
		return s, "cannot be read: " + reason(err), ""
	}
	line, _, _ := strings.Cut(string(content), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" || len(content) > secretMax {
		return s, "holds no password in its first line", "write the password there"
	}
	return NewSecret(line), "", ""
}

// resolve returns a secret that is given directly, or else the one in a file.
func resolve(key string, given Secret, path string) (Secret, error) {
	if given.Set() || path == "" {
		return given, nil
	}
	s, problem, wayOut := readSecret(path)
	if problem != "" {
		return s, &Error{Key: key, Value: path, Problem: problem, WayOut: wayOut}
	}
	return s, nil
}

// checkMode refuses a configuration file that holds a password and can be read by others.
func (f *file) checkMode(mode fs.FileMode) error {
	if mode.Perm()&openToOthers == 0 {
		return nil
	}
	for name, values := range f.contexts {
		for _, k := range keys() {
			v, given := values[k.name]
			if !given {
				continue
			}
			u, _, _ := splitURL(v.text)
			if k.secret() || strings.HasSuffix(k.name, "url") && u.password != "" {
				return &Error{
					Where: v.where, Key: join("contexts."+name, k.name),
					Problem: fmt.Sprintf("is a password in a file that other users can read "+
						"(mode %04o)", mode.Perm()),
					WayOut: "chmod 600 " + f.path,
				}
			}
		}
	}
	return nil
}
