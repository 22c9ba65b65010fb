package repair

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"rewardctl/repair/batchfile"
)

// resultColumns are the columns of a result file. A result file is itself a file of grants: its
// unknown columns are ignored, and applying it grants nothing new.
var resultColumns = [...]string{
	"line", "player_id", "reward_event_id", "kind", "amount", "outcome", "ledger_id", "detail",
}

const partialMax = 100

// resultFile writes a result under a name that tells it is not finished, readable by nobody else,
// and gives it its own name when every row has its line.
type resultFile struct {
	path    string
	partial string
	out     *os.File
	csv     *csv.Writer
}

// createResult begins a result file. What an earlier run left unfinished is kept.
func createResult(path string) (*resultFile, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &ResultPathError{path, errors.New("it is not a regular file")}
	}
	r := &resultFile{path: path, partial: path + ".partial"}
	for n := 2; ; n++ {
		out, err := os.OpenFile(r.partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n <= partialMax {
			r.partial = fmt.Sprintf("%s.%d.partial", path, n)
			continue
		}
		if err != nil {
			return nil, &ResultPathError{path, err}
		}
		r.out, r.csv = out, csv.NewWriter(out)
		break
	}
	if err := r.csv.Write(resultColumns[:]); err != nil {
		return nil, &ResultPathError{path, err}
	}
	return r, nil
}

// CheckResultPath reports whether a result could be written to a path, by beginning one and taking
// it away again. The error is a *ResultPathError.
func CheckResultPath(path string) error {
	r, err := createResult(path)
	if err != nil {
		return err
	}
	if err := errors.Join(r.out.Close(), os.Remove(r.partial)); err != nil {
		return &ResultPathError{path, err}
	}
	return nil
}

// write adds one line. Text cells are guarded against spreadsheets, numbers are not.
func (r *resultFile) write(line ApplyLine) error {
	ledgerID := ""
	if line.LedgerID != 0 {
		ledgerID = strconv.FormatInt(line.LedgerID, 10)
	}
	amount := strconv.FormatInt(line.Request.Amount, 10)
	if line.Request.Amount == 0 {
		amount = line.AmountText
		if _, err := strconv.ParseInt(amount, 10, 64); err != nil {
			amount = batchfile.Guard(amount)
		}
	}
	err := r.csv.Write([]string{
		strconv.Itoa(line.Line), batchfile.Guard(line.Request.PlayerID),
		batchfile.Guard(line.Request.EventID), batchfile.Guard(line.Request.Kind), amount,
		line.Word(), ledgerID, batchfile.Guard(line.Detail),
	})
	if err != nil {
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return nil
}

// flush hands everything to the system, so that a process that dies leaves whole batches.
func (r *resultFile) flush() error {
	r.csv.Flush()
	if err := r.csv.Error(); err != nil {
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return nil
}

// close ends the file and returns its name: its own when complete, else the one it had so far.
func (r *resultFile) close(complete bool) (string, error) {
	err := r.flush()
	if err == nil && complete {
		err = r.out.Sync()
	}
	err = errors.Join(err, r.out.Close())
	if err != nil || !complete {
		return r.partial, err
	}
	if err := os.Rename(r.partial, r.path); err != nil {
		return r.partial, fmt.Errorf("the result cannot be named: %w", err)
	}
	return r.path, nil
}
