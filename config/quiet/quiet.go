// Package quiet keeps the terminal library from questioning the terminal when the program starts.
//
// Bubble Tea asks the terminal for its background colour in its init, in every program that links
// it, whatever the program is about to do. A terminal that does not answer, such as the one that a
// script runs a command on, costs five seconds, and the question shows up in recorded output. The
// library does not ask when the environment variable CI is set, so it is set until Restore.
//
// This works because packages are initialised in the order of their import paths as soon as what
// they import is: the library under Bubble Tea imports text/template, whose path comes after that
// of this package, while this package needs nothing that text/template does not need.
package quiet

import "os"

const variable = "CI"

// asked tells whether the variable was set by this package.
var asked = hush()

func hush() bool {
	if _, set := os.LookupEnv(variable); set {
		return false
	}
	return os.Setenv(variable, "quiet") == nil
}

// Restore puts the environment back as it was. The program calls it first of all, before it
// starts anything that inherits the environment.
func Restore() {
	if asked {
		_ = os.Unsetenv(variable)
	}
}
