package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

func (a *app) playerExportCommand() *cobra.Command {
	var f historyFlags
	var path string
	cmd := &cobra.Command{
		Use:   "export PLAYER",
		Short: "Write the whole history of a player, with a digest",
		Long: "Writes every entry of a player's history that the filters select, newest first, as" +
			" -o jsonl\n(the default), json or csv. The memory it takes does not grow with the" +
			" history.\n\nThe SHA-256 digest of exactly what was written comes last, on stderr. With" +
			" --output-file\nit also goes into a file beside the export, FILE.sha256, which sha256sum" +
			" -c reads. The\nexport is FILE.partial until it is complete; a file that exists is not" +
			" overwritten.\n\nIn CSV, text that a spreadsheet would run as a formula gets an" +
			" apostrophe in front;\n--raw leaves that out.",
		Example: "  rewardctl player export p-1001 > p-1001.jsonl\n" +
			"  rewardctl player export p-1001 --from 2026-11-01 -o csv --output-file p-1001.csv\n" +
			"  sha256sum -c p-1001.csv.sha256",
		Args: arguments("PLAYER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.limit, f.all = historyPage, true
			query, err := f.query(args[0])
			if err != nil {
				return err
			}
			shape, err := a.exportFormat(cmd)
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			return a.exportPlayer(cmd.Context(), reader, query, shape, path)
		},
	}
	f.filters(cmd.Flags())
	cmd.Flags().StringVar(&path, "output-file", "", "write to this new file instead of stdout")
	return cmd
}

// exportFormat is the asked format; a table is none to read back.
func (a *app) exportFormat(cmd *cobra.Command) (format, error) {
	if !cmd.Flags().Changed("output") {
		return formatJSONL, nil
	}
	shape, err := parseFormat(a.output)
	if err == nil && shape == formatTable {
		return "", usage("output", "use json, jsonl or csv, or: rewardctl player history",
			"a table is no export")
	}
	return shape, err
}

// exportPlayer writes the history page by page. The first page is read before anything is
// written, so that an unknown player leaves no file behind.
func (a *app) exportPlayer(
	ctx context.Context, reader *inspect.Reader, q inspect.PlayerQuery, shape format, path string,
) error {
	page, err := reader.Player(ctx, q)
	if err != nil {
		return err
	}
	out, err := a.newExport(path)
	if err != nil {
		return err
	}
	err = out.head(page, shape)
	for err == nil {
		if err = out.part(page, shape, a.raw); err != nil || page.Next == "" {
			break
		}
		q.Cursor = page.Next
		page, err = reader.Player(ctx, q)
	}
	if err == nil {
		err = out.tail(shape)
	}
	digest, err := out.close(err)
	if err != nil {
		return exportFailed(err, path)
	}
	a.say("%d entries, sha256 %s", out.entries, digest)
	return nil
}

// exportFailed reports an export that ended early. Nothing is added to what stdout holds already.
func exportFailed(err error, path string) error {
	p := classify(err)
	p.shown = path == ""
	p.more = append(p.more, "the export is not complete")
	return &p
}

// export is an export on its way to a file or to stdout.
type export struct {
	buffer  *bufio.Writer
	digest  hash.Hash
	file    *os.File // nil for stdout
	path    string
	entries int
	shown   func(string) string // see shownAs
}

const partialEnd, digestEnd = ".partial", ".sha256"

// newExport begins to write. A file that exists is never touched.
func (a *app) newExport(path string) (*export, error) {
	e := &export{digest: sha256.New(), path: path}
	if path == "" {
		e.buffer = bufio.NewWriter(io.MultiWriter(a.stdout, e.digest))
		e.shown = a.shownAs(a.stdout)
		return e, nil
	}
	for _, name := range []string{path, path + digestEnd} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, usage("output-file", "name a new file", "%s is there already", name)
		}
	}
	var err error
	e.file, err = os.OpenFile(path+partialEnd, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, usage("output-file", "name another file, or remove what an export left that "+
			"was stopped", "%v", err)
	}
	e.buffer = bufio.NewWriter(io.MultiWriter(e.file, e.digest))
	return e, nil
}

// head writes what stands before the first entry.
func (e *export) head(page inspect.PlayerPage, shape format) error {
	switch shape {
	case formatJSON:
		doc := newPlayerPageJSON(inspect.PlayerPage{
			PlayerID: page.PlayerID, Balances: page.Balances,
		})
		e.buffer.WriteString(`{"player_id":`) // a failure comes back from the flush
		if err := writeJSON(e.buffer, doc.PlayerID, false); err != nil {
			return err
		}
		e.buffer.WriteString(`,"balances":`)
		if err := writeJSON(e.buffer, doc.Balances, false); err != nil {
			return err
		}
		_, err := e.buffer.WriteString(`,"entries":[` + "\n")
		return err
	case formatCSV:
		return writeCSV(e.buffer, listing{columns: exportColumns()}, true, nil)
	case formatJSONL, formatTable:
	}
	return nil
}

// part writes the entries of one page.
func (e *export) part(page inspect.PlayerPage, shape format, raw bool) error {
	if shape == formatCSV {
		var l listing
		for _, entry := range page.Entries {
			l.rows = append(l.rows, exportRow(page.PlayerID, entry))
		}
		e.entries += len(page.Entries)
		return writeCSV(e.buffer, l, raw, e.shown)
	}
	for _, entry := range page.Entries {
		if shape == formatJSON && e.entries > 0 {
			e.buffer.WriteByte(',')
		}
		e.entries++
		err := writeJSON(e.buffer, newPlayerEntryJSON(page.PlayerID, entry), false)
		if err != nil {
			return err
		}
	}
	return nil
}

// tail writes what stands after the last entry.
func (e *export) tail(shape format) error {
	if shape != formatJSON {
		return nil
	}
	_, err := e.buffer.WriteString("]}\n")
	return err
}

// close ends the export and returns its digest. After a failure the file is removed.
func (e *export) close(failure error) (string, error) {
	err := errors.Join(failure, e.buffer.Flush())
	sum := hex.EncodeToString(e.digest.Sum(nil))
	if e.file == nil {
		return sum, err
	}
	if err == nil {
		err = e.file.Sync()
	}
	if err = errors.Join(err, e.file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(e.file.Name()))
	}
	if err := os.Rename(e.file.Name(), e.path); err != nil {
		return "", err
	}
	line := digestLine(sum, filepath.Base(e.path))
	return sum, os.WriteFile(e.path+digestEnd, []byte(line), 0o600)
}

// digestLine is a line as sha256sum writes it, which marks a name with escapes by a backslash.
func digestLine(sum, name string) string {
	safe := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
	if safe != name {
		sum = `\` + sum
	}
	return fmt.Sprintf("%s  %s\n", sum, safe)
}

func exportColumns() []column {
	return columns("player_id", "at", "type", "outcome", "id", "reward_event_id", "kind", "amount",
		"balance_before", "balance_after", "resource", "token", "owner", "actor", "reason",
		"reverses", "delivery", "attempts", "delivered", "last_error", "fence_token",
		"fence_owner", "have_kind", "have_amount", "detail", "command")
}

// exportRow is an entry in CSV: everything that JSON has.
func exportRow(player string, e inspect.PlayerEntry) []cell {
	optional := func(n *int64) cell {
		if n == nil {
			return cell{number: true}
		}
		return number(*n)
	}
	var delivery, attempts, delivered, lastError cell
	if d := e.Delivery; d != nil {
		delivery, attempts = text(d.State), number(int64(d.Attempts))
		delivered, lastError = instant(d.Delivered), text(d.LastError)
	}
	return []cell{
		text(player), instant(e.At), text(string(e.Type)), text(e.Outcome), number(e.ID),
		text(e.EventID), text(e.Kind), numberOrBlank(e.Amount), optional(e.BalanceBefore),
		optional(e.BalanceAfter), text(e.Resource), numberOrBlank(e.Token), text(e.Owner),
		text(e.Actor), text(e.Reason), numberOrBlank(e.Reverses), delivery, attempts, delivered,
		lastError, numberOrBlank(e.FenceToken), text(e.FenceOwner), text(e.HaveKind),
		numberOrBlank(e.HaveAmount), text(e.Detail), text(e.Command),
	}
}
