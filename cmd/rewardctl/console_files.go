package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewardctl/config"
	"rewardctl/tui"
)

// consoleFiles are the files that a console leaves behind: what it remembers, and exports.
type consoleFiles struct {
	app   *app
	state string // where the console remembers; empty when it forgets
}

func (w *wiring) newConsoleFiles() *consoleFiles {
	f := &consoleFiles{app: w.app}
	if len(w.again) == 0 { // the demo leaves nothing behind
		f.state = filepath.Join(config.StateDir(), "console-"+fileWord(w.conf.Name)+".json")
	}
	return f
}

// fileWord makes a name fit for a file.
func fileWord(name string) string {
	word := []rune(name)
	for i, r := range word {
		if r == '/' || r == 0 || r == '\\' {
			word[i] = '_'
		}
	}
	return string(word)
}

// load returns what an earlier console remembered. What cannot be read is as if there were none:
// it is only about how things looked.
func (f *consoleFiles) load() []byte {
	if f.state == "" {
		return nil
	}
	const max = 1 << 20
	file, err := os.Open(f.state)
	if err != nil {
		return nil
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, max))
	if err != nil {
		return nil
	}
	return raw
}

// save remembers. The file is replaced at once, so that two consoles never mix in it.
func (f *consoleFiles) save(state []byte) {
	if f.state == "" || len(state) == 0 {
		return
	}
	if err := f.write(state); err != nil {
		f.app.say("how the screens were set up is forgotten: %v", err)
	}
}

func (f *consoleFiles) write(state []byte) error {
	dir := filepath.Dir(f.state)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, "console-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(state)
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.state)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the first error says why
	}
	return err
}

// export writes the rows of a screen into a new file in the working directory.
func (f *consoleFiles) export(_ context.Context, rows tui.Export) (string, error) {
	file, err := f.create(rows)
	if err != nil {
		return "", err
	}
	switch rows.Format {
	case string(formatCSV):
		err = writeCSV(file, exportListing(rows), f.app.raw, nil)
	case tui.ExportMarkdown:
		for _, row := range rows.Rows {
			_, lineErr := fmt.Fprintln(file, strings.Join(row, ""))
			err = errors.Join(err, lineErr)
		}
	default:
		err = writeLines(file, rows)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name()) // half an export is none; the first error says why
		return "", err
	}
	return file.Name(), nil
}

// create makes a file that was not there: another export of the same second is left alone.
func (f *consoleFiles) create(rows tui.Export) (*os.File, error) {
	const most = 100
	stem := fmt.Sprintf("rewardctl-%s-%s", rows.Name, f.app.now().Format("20060102-150405"))
	for n := 1; ; n++ {
		path := stem + "." + rows.Format
		if n > 1 {
			path = fmt.Sprintf("%s-%d.%s", stem, n, rows.Format)
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == most {
			return file, err
		}
	}
}

func exportListing(rows tui.Export) listing {
	l := listing{columns: columns(rows.Header...)}
	for _, row := range rows.Rows {
		cells := make([]cell, len(row))
		for i, value := range row {
			cells[i] = text(value)
		}
		l.rows = append(l.rows, cells)
	}
	return l
}

// writeLines writes one JSON object per row.
func writeLines(w io.Writer, rows tui.Export) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, row := range rows.Rows {
		object := make(map[string]string, len(row))
		for i, name := range rows.Header {
			object[name] = row[i]
		}
		if err := out.Encode(object); err != nil {
			return err
		}
	}
	return nil
}
