package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// templateForm is raised when the way templates are made changes.
const templateForm = "1"

// locales to make the data folder with, best first. macOS had no C.UTF-8 for long.
func locales() []string { return []string{"C.UTF-8", "C"} }

// fillData gives the server its data folder, unless there is one. Running initdb takes more than
// a second, copying what an earlier run made takes a tenth: so the first run on a machine leaves
// a template in the cache. The path of the template is returned when it was used.
func fillData(ctx context.Context, process *supervised, bin binaries) (string, error) {
	dir, runAs := process.spec.dir, process.spec.runAs
	if _, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION")); err == nil {
		return "", nil
	}
	template := filepath.Join(cacheDir(),
		fmt.Sprintf("template-%s-%s", strings.ReplaceAll(bin.version, "/", "-"), templateForm))
	if _, err := os.Stat(filepath.Join(template, "data", "PG_VERSION")); err == nil {
		if err := copyTree(ctx, template, dir, runAs.own); err == nil {
			return template, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("copy the template %s: %w", template, err)
		}
		// Another process dropped the template while we read it.
		if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
			return "", err
		}
	}
	if err := runInitdb(ctx, process); err != nil {
		return "", err
	}
	saveTemplate(ctx, dir, template)
	return "", nil
}

func runInitdb(ctx context.Context, process *supervised) error {
	dir, runAs := process.spec.dir, process.spec.runAs
	path := filepath.Join(dir, "password")
	if err := os.WriteFile(path, []byte(newPassword()+"\n"), 0o600); err != nil {
		return err
	}
	if err := runAs.own(path); err != nil {
		return err
	}
	var failed string
	for _, locale := range locales() {
		process.say("init " + locale)
		answer, err := process.hear(ctx)
		if err != nil {
			return err
		}
		if answer == "init 0" {
			return nil
		}
		words, _ := os.ReadFile(filepath.Join(dir, "server.log"))
		failed = string(words)
	}
	return fmt.Errorf("initdb failed:\n%s", strings.TrimSpace(failed))
}

// saveTemplate copies fresh data into the cache. Failing is no loss but time: the next start
// runs initdb again.
func saveTemplate(ctx context.Context, dir, template string) {
	if os.MkdirAll(filepath.Dir(template), 0o755) != nil {
		return
	}
	work, err := os.MkdirTemp(filepath.Dir(template), "template-") // mode 0700
	if err != nil {
		return
	}
	defer os.RemoveAll(work)
	keep := func(string) error { return nil }
	for _, name := range []string{"data", "password"} {
		if copyTree(ctx, filepath.Join(dir, name), filepath.Join(work, name), keep) != nil {
			return
		}
	}
	// The rename is atomic. It fails when another process was faster, whose template is as good.
	_ = os.Rename(work, template)
}

// copyTree copies files and folders with their modes, and hands each copy to own.
func copyTree(ctx context.Context, from, to string, own func(string) error) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rest)
		if d.IsDir() {
			if err := os.Mkdir(target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		} else if err := copyFile(path, target); err != nil {
			return err
		}
		return own(target)
	})
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
