package main

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

// anchorFlags are the flags of "oplog anchor".
type anchorFlags struct{ key, to, newKey string }

func (a *app) oplogAnchorCommand() *cobra.Command {
	var f anchorFlags
	cmd := &cobra.Command{
		Use:   "anchor",
		Short: "Print or append the signed head of the operator log, to be kept elsewhere",
		Long: "Verifies the log, then prints one line that proves everything up to now: the number" +
			" and hash\nof the last row, signed with an Ed25519 key. Keep it where the database's" +
			" administrator\ncannot write: another machine, write-once storage, a printed page.\n\n" +
			"With --append the line goes to the end of a file, and only the rows since its last" +
			" line are\nverified; a log that does not go on from there is not anchored, and the" +
			" command ends with 6.\n\n--new-key FILE makes a key: FILE (mode 0600) signs, FILE.pub" +
			" is for whoever verifies. A key\nmade by openssl genpkey -algorithm ed25519 will do, too.",
		Example: "  rewardctl oplog anchor --new-key anchor.key\n" +
			"  rewardctl oplog anchor --key anchor.key --append /mnt/worm/oplog.anchors\n" +
			"  rewardctl oplog anchor --key anchor.key | ssh vault 'cat >> oplog.anchors'",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.newKey != "" {
				if f.key != "" || f.to != "" {
					return usage("new-key", "make the key first, then anchor with it",
						"--new-key excludes --key and --append")
				}
				return a.newAnchorKey(f.newKey)
			}
			return a.anchorLog(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVar(&f.key, "key", "", "sign with this private key (PEM, mode 0600)")
	cmd.Flags().StringVar(&f.to, "append", "", "append to this file instead of printing")
	cmd.Flags().StringVar(&f.newKey, "new-key", "", "make a new key in FILE and FILE.pub, and stop")
	return cmd
}

type anchorKeyJSON struct {
	PrivateKey string `json:"private_key_file"`
	PublicKey  string `json:"public_key_file"`
	Name       string `json:"key"`
}

func (a *app) newAnchorKey(path string) error {
	public, err := writeKeyPair(path)
	if err != nil {
		return err
	}
	return a.printOne(anchorKeyJSON{path, path + publicEnd, inspect.KeyName(public)}, []field{
		{"private_key", text(path)},
		{"public_key", text(path + publicEnd)},
		{"key", text(inspect.KeyName(public))},
	})
}

// anchorLog verifies the log and prints or appends its head.
func (a *app) anchorLog(ctx context.Context, f anchorFlags) error {
	var key ed25519.PrivateKey
	var err error
	if f.key != "" {
		if key, err = readPrivateKey(f.key); err != nil {
			return err
		}
	}
	known, err := readAnchorFile(f.to)
	if err != nil {
		return err
	}
	reader, err := a.reader(ctx)
	if err != nil {
		return err
	}
	check := inspect.LogCheck{}
	if len(known) > 0 {
		check.Since = &known[len(known)-1].LogHead
	}
	v, err := a.verifyLog(ctx, reader, check)
	if err != nil {
		return err
	}
	if v.State != inspect.LogIntact {
		a.say("the log is not anchored: it is not what was written")
		return a.printVerdict(v)
	}
	anchor := inspect.NewLogAnchor(v.Head, key)
	if key == nil {
		a.say("note: not signed; its place alone vouches for it. Sign with: --key FILE")
	}
	return a.keepAnchor(anchor, f.to)
}

// readAnchorFile reads the anchors that a file holds already; none when there is no such file.
func readAnchorFile(path string) ([]inspect.LogAnchor, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return inspect.ReadLogAnchors(file, nil)
}

type anchorKeptJSON struct {
	File  string `json:"file"`
	Chain string `json:"chain"`
	ID    string `json:"id"`
	Hash  string `json:"hash"`
	Key   string `json:"key"`
}

// keepAnchor prints an anchor, or appends it and prints a receipt.
func (a *app) keepAnchor(anchor inspect.LogAnchor, path string) error {
	if path == "" {
		return a.line(anchor.Line())
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(anchor.Line() + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("append to %s: %w", path, err)
	}
	hash := hex.EncodeToString(anchor.Hash)
	return a.printOne(anchorKeptJSON{
		File: path, Chain: anchor.Chain, ID: strconv.FormatInt(anchor.ID, 10), Hash: hash,
		Key: inspect.KeyName(anchor.Key),
	}, []field{
		{"anchored", text(path)},
		{"row", number(anchor.ID)},
		{"hash", text(hash)},
		{"chain", text(anchor.Chain)},
		{"key", text(inspect.KeyName(anchor.Key))},
	})
}
