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
	"time"
)

// templateForm is raised when the way templates are made changes.
const templateForm = "1"

// locales to make the data folder with, best first. macOS had no C.UTF-8 for long.
func locales() []string { return []string{"C.UTF-8", "C"} }

// fillData gives the server its data folder, unless there is one, which it reports as found.
// Running initdb takes more than a second, copying what an earlier run made takes a tenth: so
// the first run on a machine leaves a template in the cache.
func fillData(ctx context.Context, process *supervised, bin binaries, useTemplate bool) (
	found bool, err error,
) {
	dir, runAs := process.spec.dir, process.spec.runAs
	if _, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION")); err == nil {
		return true, nil
	}
	template := filepath.Join(cacheDir(),
		fmt.Sprintf("template-%s-%s", strings.ReplaceAll(bin.version, "/", "-"), templateForm))
	if useTemplate {
		err := copyTemplate(ctx, template, dir, runAs)
		if err == nil || ctx.Err() != nil {
			return false, err
		}
		// There is none, or it went away or is damaged: what was copied of it goes as well.
		if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
			return false, err
		}
	}
	if err := runInitdb(ctx, process); err != nil {
		return false, err
	}
	saveTemplate(ctx, dir, template, !useTemplate)
	return false, nil
}

// copyTemplate copies a template, and makes sure that nobody replaced it meanwhile.
func copyTemplate(ctx context.Context, template, dir string, runAs *account) error {
	before, err := os.Stat(template)
	if err != nil {
		return err
	}
	if err := copyTree(ctx, template, dir, runAs.own); err != nil {
		return err
	}
	after, err := os.Stat(template)
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) {
		return fmt.Errorf("the template %s was replaced while it was read", template)
	}
	return nil
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

// saveTemplate copies fresh data into the cache, also in place of a damaged template. Failing is
// no loss but time: the next start runs initdb again.
func saveTemplate(ctx context.Context, dir, template string, replace bool) {
	if os.MkdirAll(filepath.Dir(template), 0o755) != nil {
		return
	}
	sweep(filepath.Dir(template))
	work, err := os.MkdirTemp(filepath.Dir(template), workPrefix) // mode 0700
	if err != nil {
		return
	}
	defer os.RemoveAll(work)
	keep := func(string) error { return nil }
	if os.Mkdir(filepath.Join(work, "whole"), 0o700) != nil {
		return
	}
	for _, name := range []string{"data", "password"} {
		if copyTree(ctx, filepath.Join(dir, name), filepath.Join(work, "whole", name), keep) != nil {
			return
		}
	}
	if replace {
		_ = os.Rename(template, filepath.Join(work, "damaged"))
	}
	// Renames are atomic. This one fails when another process was faster, whose template is good.
	_ = os.Rename(filepath.Join(work, "whole"), template)
}

// workPrefix opens the names of folders in the cache that are being filled.
const workPrefix = "making-"

// sweep removes what processes that were killed while they filled the cache have left there.
func sweep(cache string) {
	left, _ := filepath.Glob(filepath.Join(cache, workPrefix+"*")) // the pattern is valid
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
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
