package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

type logVerdictJSON struct {
	State      string         `json:"state"`
	Chain      string         `json:"chain"`
	HeadID     string         `json:"head_id"`
	HeadHash   string         `json:"head_hash"`
	Since      string         `json:"since_id"`
	Rows       int64          `json:"rows_read"`
	LastID     *string        `json:"last_id"`
	Anchors    int            `json:"anchors"`
	AnchoredTo *string        `json:"anchored_to_id"`
	Breaks     []logBreakJSON `json:"breaks"`
	More       int            `json:"more_breaks"`
	Notes      []string       `json:"notes"`
}

type logBreakJSON struct {
	Kind  string  `json:"kind"`
	State string  `json:"state"`
	ID    string  `json:"id"`
	To    *string `json:"to_id"`
	What  string  `json:"what"`
}

func (a *app) oplogVerifyCommand() *cobra.Command {
	var anchors, publicKey string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Prove that every row of the operator log is as it was written, and none is missing",
		Long: "Reads the whole log and follows its chain. It says intact, altered (rows changed," +
			" moved, put in\nor taken from the middle), truncated (the newest rows are gone) or" +
			" forked (another history\nstands where an anchor saw this one), and names the first bad" +
			" row. It ends with 0 when the\nlog is intact, else with 6.\n\nOnly an anchor that was" +
			" kept elsewhere can show that the newest rows were cut off together\nwith the head, or" +
			" that an old copy was put back. With --public-key every anchor must be\nsigned by that" +
			" key.",
		Example: "  rewardctl oplog verify\n" +
			"  rewardctl oplog verify --anchor /mnt/worm/oplog.anchors --public-key anchor.key.pub",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			known, err := readAnchors(anchors, publicKey)
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			check := inspect.LogCheck{}
			for _, one := range known {
				check.Anchors = append(check.Anchors, one.LogHead)
			}
			v, err := a.verifyLog(cmd.Context(), reader, check)
			if err != nil {
				return err
			}
			return a.printVerdict(v)
		},
	}
	cmd.Flags().StringVar(&anchors, "anchor", "", "a file of anchors that oplog anchor wrote")
	cmd.Flags().StringVar(&publicKey, "public-key", "", "the key that must have signed each anchor")
	return cmd
}

// readAnchors reads a file of anchors; none without a path.
func readAnchors(path, publicKey string) ([]inspect.LogAnchor, error) {
	if path == "" {
		if publicKey != "" {
			return nil, usage("public-key", "add: --anchor FILE", "--public-key needs anchors")
		}
		return nil, nil
	}
	trusted, err := readPublicKey(publicKey)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	known, err := inspect.ReadLogAnchors(file, trusted)
	if err == nil && len(known) == 0 {
		return nil, usage("anchor", "name the file that oplog anchor --append wrote",
			"%s holds no anchor", path)
	}
	return known, err
}

// verifyLog verifies the log with a line of progress on a terminal.
func (a *app) verifyLog(
	ctx context.Context, reader *inspect.Reader, check inspect.LogCheck,
) (inspect.LogVerdict, error) {
	progress := a.newProgress()
	check.OnProgress = func(rows, of int64) {
		if of > 0 {
			progress.draw(fmt.Sprintf("verifying  %s  %d/%d", bar(float64(rows)/float64(of)), rows, of),
				rows == of)
		}
	}
	v, err := reader.VerifyLog(ctx, check)
	progress.clear()
	return v, err
}

// printVerdict prints what was found. Anything but an intact log is a finding.
func (a *app) printVerdict(v inspect.LogVerdict) error {
	state := toned(string(v.State), good)
	if v.State != inspect.LogIntact {
		state.tone = bad
	}
	var broken []string
	for _, b := range v.Breaks {
		broken = append(broken, b.What)
	}
	anchored := ""
	if v.Anchors > 0 {
		anchored = fmt.Sprintf("up to row %d; anchors compared: %d", v.AnchoredTo, v.Anchors)
	}
	fields := []field{
		{"state", state},
		{"rows", text(fmt.Sprintf("%d read, from row %d", v.Rows, v.Since))},
		{"head", text(fmt.Sprintf("row %d, %s", v.Head.ID, hex.EncodeToString(v.Head.Hash)))},
		{"chain", text(v.Head.Chain)},
		{"anchored", text(anchored)},
	}
	if a.output != string(formatTable) {
		fields = append(fields, field{"breaks", text(strings.Join(broken, "; "))})
	}
	if err := a.printOne(newLogVerdictJSON(v), fields); err != nil {
		return err
	}
	for _, line := range broken {
		a.say("%s", line)
	}
	if v.More > 0 {
		a.say("and %d more like these", v.More)
	}
	for _, note := range v.Notes {
		a.say("note: %s", note)
	}
	if v.State != inspect.LogIntact {
		return ended(exitFindings)
	}
	return nil
}

func newLogVerdictJSON(v inspect.LogVerdict) logVerdictJSON {
	j := logVerdictJSON{
		State: string(v.State), Chain: v.Head.Chain, HeadID: strconv.FormatInt(v.Head.ID, 10),
		HeadHash: hex.EncodeToString(v.Head.Hash), Since: strconv.FormatInt(v.Since, 10),
		Rows: v.Rows, LastID: jsonID(v.LastID), Anchors: v.Anchors,
		AnchoredTo: jsonID(v.AnchoredTo), Breaks: []logBreakJSON{}, More: v.More,
		Notes: emptyNotNull(v.Notes),
	}
	for _, b := range v.Breaks {
		j.Breaks = append(j.Breaks, logBreakJSON{
			Kind: string(b.Kind), State: string(b.Kind.State()),
			ID: strconv.FormatInt(b.ID, 10), To: jsonID(b.To), What: b.What,
		})
	}
	return j
}
