package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"rewardctl/repair"
	"rewardctl/repair/batchfile"
	"rewardctl/tui"
)

// pathsMax is how many paths a name is completed with.
const pathsMax = 200

// Paths returns the files and folders whose paths begin so. Hidden ones are left out, unless the
// name begins with a dot.
func (c *consolePlans) Paths(_ context.Context, begun string) []string {
	if rest, home := strings.CutPrefix(begun, "~/"); home {
		begun = filepath.Join(c.wiring.app.env("HOME"), rest)
		if rest == "" || strings.HasSuffix(rest, "/") {
			begun += "/"
		}
	}
	folder, name := filepath.Split(begun)
	entries, err := os.ReadDir(orElse(folder, "."))
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		if hidden || !strings.HasPrefix(e.Name(), name) || len(found) == pathsMax {
			continue
		}
		path := folder + e.Name()
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path += "/"
		}
		found = append(found, path)
	}
	return found
}

// LookFile reads the first lines of a file.
func (c *consolePlans) LookFile(ctx context.Context, ask tui.PlanAsk) (batchfile.Look, error) {
	if err := readable(ask.Path); err != nil {
		return batchfile.Look{}, err
	}
	return batchfile.LookAt(ctx, ask.Path, c.fileOptions(ask))
}

// readable refuses what the console cannot read.
func readable(path string) error {
	if path == "-" {
		return usage("file", "name a file", "the console reads no standard input")
	}
	return nil
}

// fileOptions say how the console reads a file. The rows are judged before there is a reason, so
// they get one of their own: a plan has the one it is made for.
func (c *consolePlans) fileOptions(ask tui.PlanAsk) batchfile.Options {
	w := c.wiring
	return batchfile.Options{
		Campaign: ask.Campaign, Version: ask.Version, Sheet: ask.Sheet, Columns: ask.Columns,
		Actor: w.conf.Operator, Reason: orElse(ask.Reason, "check"), Limits: w.limits(),
	}
}

// CheckFile judges every row of a file.
func (c *consolePlans) CheckFile(
	ctx context.Context, ask tui.PlanAsk, watch tui.FileWatch,
) (tui.CheckedFile, error) {
	if err := readable(ask.Path); err != nil {
		return nil, err
	}
	// The index of a million rows lives long; letting garbage grow to its size again would double
	// what the process takes.
	debug.SetGCPercent(applyGCPercent)
	opt := c.fileOptions(ask)
	opt.OnProgress, opt.OnProblem, opt.KeepMax = watch.Progress, watch.Problem, watch.Keep
	file, err := batchfile.Open(ctx, ask.Path, opt)
	if err != nil {
		return nil, err
	}
	check, err := file.Validate(ctx)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &checkedFile{plans: c, file: file, check: check}, nil
}

// checkedFile is a file that the console has checked.
type checkedFile struct {
	plans *consolePlans
	check *batchfile.Check

	mu   sync.Mutex // the file is not for concurrent use
	file *batchfile.File
}

// Check is what was found.
func (f *checkedFile) Check() *batchfile.Check { return f.check }

// Bad gives the refused rows.
func (f *checkedFile) Bad(ctx context.Context, take func(batchfile.Row) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for row, err := range f.file.Rows(ctx) {
		if err == nil && len(row.Problems) > 0 {
			err = take(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Plan freezes the rows, unless the file is another one by now.
func (f *checkedFile) Plan(
	ctx context.Context, ask tui.PlanAsk, tell func(done, total int64),
) (repair.Plan, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.file.Unchanged(); err != nil {
		return repair.Plan{}, err
	}
	plan, _, err := f.plans.MakePlan(ctx, f.file, repair.PlanRequest{
		Campaign: ask.Campaign, Version: max(ask.Version, 1), Reason: strings.TrimSpace(ask.Reason),
		SkipInvalid: ask.SkipInvalid, OnRows: tell,
	})
	return plan, err
}

// Close ends the file.
func (f *checkedFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.file.Close()
}

// exportAny writes the rows of a screen, or rows that come one by one, into a new file.
func (f *consoleFiles) exportAny(ctx context.Context, rows tui.Export) (string, error) {
	if rows.Each == nil {
		return f.export(ctx, rows)
	}
	stamp := f.app.now().Format("20060102-150405")
	path := fmt.Sprintf("rewardctl-%s-%s.%s", rows.Name, stamp, rows.Format)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if err = errors.Join(writeEach(file, rows, f.app.raw), file.Close()); err != nil {
		_ = os.Remove(path) // half an export is none; the first error says why
		return "", err
	}
	return path, nil
}

// writeEach writes rows that come one by one.
func writeEach(w io.Writer, rows tui.Export, raw bool) error {
	buffered := bufio.NewWriter(w)
	if rows.Format != string(formatCSV) {
		err := rows.Each(func(row []string) error {
			return writeLines(buffered, tui.Export{Header: rows.Header, Rows: [][]string{row}})
		})
		return errors.Join(err, buffered.Flush())
	}
	table := csv.NewWriter(buffered)
	if err := table.Write(rows.Header); err != nil {
		return err
	}
	err := rows.Each(func(row []string) error {
		guarded := make([]string, len(row))
		for i, text := range row {
			if guarded[i] = text; !raw {
				guarded[i] = batchfile.Guard(text)
			}
		}
		return table.Write(guarded)
	})
	table.Flush()
	return errors.Join(err, table.Error(), buffered.Flush())
}
