package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// mutantSwitch is the environment variable by which a program with bugs learns which to have.
const mutantSwitch = "REWARDCTL_MUTANT_ON"

// program is a package's test program with all bugs of its Go files in it, switched off.
type program struct {
	path string
	text []byte
}

// buildMutants makes the program of a package in a folder of its own.
func buildMutants(
	ctx context.Context, folder, pkg string, all []mutant,
) (*program, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	list, err := overlay(folder, pkg, all)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "mutants.test")
	text, err := output(ctx, "go", "test", "-c", "-overlay", list, "-vet=off", "-ldflags=-s -w",
		"-o", path, pkg)
	if err != nil {
		return nil, fmt.Errorf("%s%w", text, err)
	}
	binary, err := os.ReadFile(path)
	return &program{path: path, text: binary}, err
}

// overlay writes the changed Go files of a package's mutants, and the list by which the go command
// finds them.
func overlay(folder, pkg string, all []mutant) (string, error) {
	texts := map[string]string{}
	for _, m := range all {
		for _, e := range m.edits {
			if m.pkg != pkg || !strings.HasSuffix(e.file, ".go") {
				continue
			}
			changed := edit{e.file, e.old, strings.ReplaceAll(e.new, "MUTANT",
				"mutantOn("+strconv.Quote(m.name)+")")}
			text, there := texts[e.file]
			if !there {
				b, err := os.ReadFile(e.file)
				if err != nil {
					return "", err
				}
				text = string(b)
			}
			text, err := changed.apply(text)
			if err != nil {
				return "", err
			}
			texts[e.file] = text
			texts[filepath.Join(filepath.Dir(e.file), "mutant_on.go")] = fmt.Sprintf(switchGo,
				packageName(text), mutantSwitch)
		}
	}
	replace := map[string]string{}
	for file, text := range texts {
		original, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[original] = filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

// switchGo is the file that each changed package gets besides.
const switchGo = `package %s

import "os"

var mutantIs = os.Getenv(%q)

func mutantOn(name string) bool { return mutantIs == name }
`

// packageName reads the package clause of a Go file.
func packageName(text string) string {
	_, rest, _ := strings.Cut("\n"+text, "\npackage ")
	name, _, _ := strings.Cut(rest, "\n")
	return name
}

// apply makes the edit.
func (e edit) apply(text string) (string, error) {
	if n := strings.Count(text, e.old); n != 1 {
		return "", fmt.Errorf("%s has %d times what is to be changed: %s", e.file, n, e.old)
	}
	return strings.Replace(text, e.old, e.new, 1), nil
}

// with writes the program with the mutant's changes of embedded files to path, and returns it.
func (p *program) with(m mutant, path string) (string, error) {
	changed := map[string]string{}
	for _, e := range m.edits {
		if strings.HasSuffix(e.file, ".go") {
			continue
		}
		text, there := changed[e.file]
		if !there {
			b, err := os.ReadFile(e.file)
			if err != nil {
				return "", err
			}
			text = string(b)
		}
		text, err := e.apply(text)
		if err != nil {
			return "", err
		}
		changed[e.file] = text
	}
	binary := slices.Clone(p.text)
	for file, text := range changed {
		old, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fitted, err := fit(text, len(old))
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		if !bytes.Contains(binary, old) {
			return "", fmt.Errorf("%s is not in the program: was it changed meanwhile?", file)
		}
		binary = bytes.ReplaceAll(binary, old, fitted)
	}
	// A process that starts meanwhile would hold the file open for a moment, and the system does
	// not run a file that somebody may write to.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return path, os.WriteFile(path, binary, 0o700)
}

// errNoRoom: comments are all that may go.
var errNoRoom = errors.New("the changed text is longer, and has too few comments to drop")

// comments are lines that a script or statement can do without. Those that direct the migrations
// stay.
var comments = regexp.MustCompile(`(?m)^[ \t]*-- +[^+ \n].*\n`)

// fit brings a changed script or statement to the length of the original, which is what a finished
// program has room for: spaces fill it up, comments make room.
func fit(text string, length int) ([]byte, error) {
	for len(text) > length {
		at := comments.FindStringIndex(text)
		if at == nil {
			return nil, errNoRoom
		}
		text = text[:at[0]] + text[at[1]:]
	}
	return []byte(text + strings.Repeat(" ", length-len(text))), nil
}
