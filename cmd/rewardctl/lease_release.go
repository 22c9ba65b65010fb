package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
	"rewardctl/repair"
)

type releaseJSON struct {
	Resource    string     `json:"resource"`
	DryRun      bool       `json:"dry_run"`
	Lock        string     `json:"lock"`  // released, already_gone or would_release
	Token       string     `json:"token"` // burned, already_burned, fence_above, ...
	Seen        seenJSON   `json:"seen"`
	FenceBefore *fenceJSON `json:"fence_before"`
	FenceAfter  *fenceJSON `json:"fence_after"`
	IntentID    *string    `json:"intent_id"`
	ResultID    *string    `json:"result_id"`
	At          *string    `json:"at"`
	Note        string     `json:"note"`
	Command     string     `json:"command"`
}

// seenJSON is the lock as it stood.
type seenJSON struct {
	Value   *string `json:"value"` // null: there was no lock
	Token   *string `json:"token"`
	Owner   *string `json:"owner"`
	LeftMS  *int64  `json:"left_ms"` // null: no expiry, or no lock
	Foreign *string `json:"foreign"`
}

// releaseFlags are the flags of "lease release".
type releaseFlags struct {
	owner, token, value, reason, confirm string

	state, match, set string   // several
	names             []string // several, each by its resource

	wait   time.Duration
	dryRun bool
}

func (a *app) leaseReleaseCommand() *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use: "release (RESOURCE --owner O --token T | --state S | --owner GLOB | --match GLOB | " +
			"RESOURCE... --set SET) --reason WHY",
		Short: "Take a lease away from the owner and token that you saw, and from no other",
		Long: "Burns the token first, so that its holder can never write again, then deletes the" +
			" lock if\nit still has exactly the owner and token you name. If it has changed, nothing" +
			" is released\nand the new owner is shown. Without RESOURCE it releases all leases that the" +
			" flags select:\nexactly those that it shows, each only if it is still as it was seen. Several" +
			" RESOURCEs are released\ntogether, when --set says that they are as --dry-run showed them.",
		Example: "  rewardctl lease list --state orphan_suspect\n" +
			"  rewardctl lease release reward:p-1001 --owner 'payout-2@host/77#ab12' --token 42 " +
			"\\\n      --reason \"worker is gone, INC-77\" --dry-run\n" +
			"  rewardctl lease release --state orphan_suspect --owner 'payout-2@host/*' " +
			"--reason INC-77 --dry-run\n" +
			"  rewardctl lease release reward:p-1001 reward:p-1002 --reason INC-77 --dry-run",
		Args: anyResources,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.names = args; len(args) != 1 || cmd.Flags().Changed("set") {
				return a.releaseSelected(cmd, f)
			}
			for _, flag := range []string{"state", "match"} {
				if cmd.Flags().Changed(flag) {
					return usage(flag, "leave RESOURCE out to select several",
						"--%s selects several leases, and RESOURCE names one", flag)
				}
			}
			request, err := f.request(cmd, args[0])
			if err != nil {
				return err
			}
			return a.releaseLease(cmd, f, request)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.owner, "owner", "",
		"the owner you saw, whole; without RESOURCE a pattern with * and ?")
	flags.StringVar(&f.token, "token", "", "the token you saw")
	flags.StringVar(&f.value, "value", "", "for a foreign lock instead: the exact value you saw")
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.StringVar(&f.state, "state", "", "without RESOURCE: leases in these states, such as "+
		"orphan_suspect,no_expiry")
	flags.StringVar(&f.match, "match", "", "without RESOURCE: resources that fit a pattern")
	flags.StringVar(&f.set, "set", "",
		"do it only if these are exactly the leases that --dry-run showed")
	flags.DurationVar(&f.wait, "wait", 0,
		"wait so long for the lease to end by itself; one that is renewed meanwhile is left")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.StringVar(&f.confirm, "confirm", "",
		"N-release for several; the words that a protected context asks for")
	return cmd
}

// anyResources refuses arguments that name nothing.
func anyResources(_ *cobra.Command, args []string) error {
	for _, name := range args {
		if name == "" {
			return usage("resource", "name the resources, or leave them out to select by flags",
				"a RESOURCE is empty")
		}
	}
	return nil
}

func (f *releaseFlags) request(cmd *cobra.Command, resource string) (repair.ReleaseRequest, error) {
	r := repair.ReleaseRequest{
		Resource: resource, Owner: f.owner, Value: f.value, Reason: f.reason, DryRun: f.dryRun,
	}
	given := cmd.Flags().Changed
	if given("value") {
		if given("owner") || given("token") {
			return r, usage("value", "give --value for a foreign lock, else --owner and --token",
				"--value excludes --owner and --token")
		}
		return r, demand(cmd, "value", "reason")
	}
	if err := demand(cmd, "owner", "token", "reason"); err != nil {
		return r, err
	}
	var err error
	r.Token, err = parseToken(f.token)
	return r, err
}

func (a *app) releaseLease(cmd *cobra.Command, f releaseFlags, r repair.ReleaseRequest) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !r.DryRun {
		a.attempts(w, r, r.Reason, nil)
		want := lastFour(r.Resource) + "-release"
		if err := a.mayChange(cmd.Context(), w.conf, f.confirm, want, "release "+r.Resource); err != nil {
			return err
		}
		if err := a.awaitEnd(cmd, w, f.wait, r); err != nil {
			return err
		}
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	done, err := operator.Release(cmd.Context(), r)
	if err != nil {
		return err
	}
	return a.printRelease(r, done)
}

func (a *app) printRelease(r repair.ReleaseRequest, done repair.Release) error {
	command := a.commandLine(r.CLI())
	j := releaseJSON{
		Resource: done.Resource, DryRun: r.DryRun, Lock: string(done.Freeing),
		Token: string(done.Burning), Seen: newSeenJSON(done.Seen),
		FenceBefore: newFenceJSON(done.FenceBefore), FenceAfter: newFenceJSON(done.FenceAfter),
		IntentID: jsonID(done.IntentID), ResultID: jsonID(done.ResultID), At: jsonTime(done.At),
		Note: done.Note, Command: command,
	}
	words := func(s string) string { return strings.ReplaceAll(s, "_", " ") }
	return a.printOne(j, []field{
		{"resource", text(done.Resource)},
		{"lock", toned(words(string(done.Freeing)), good)},
		{"token", toned(words(string(done.Burning)), good)},
		{"seen", text(seenWords(done.Seen))},
		{"fence_before", text(fenceWords(j.FenceBefore))},
		{"fence_after", text(fenceWords(j.FenceAfter))},
		{"log", text(numberOrBlank(done.IntentID).text)},
		{"at", instant(done.At)},
		{"note", text(done.Note)},
	})
}

func newSeenJSON(s repair.Seen) seenJSON {
	j := seenJSON{
		Value: jsonText(s.Value), Token: jsonID(s.Token), Owner: jsonText(s.Owner),
		Foreign: jsonText(s.Foreign),
	}
	if s.Value != "" && !s.NoExpiry && s.Left >= 0 {
		ms := s.Left.Milliseconds()
		j.LeftMS = &ms
	}
	return j
}

func seenWords(s repair.Seen) string {
	left := leftCell(inspect.Lease{NoExpiry: s.NoExpiry, Left: s.Left}).text
	switch {
	case s.Foreign != "":
		return fmt.Sprintf("foreign %s %q, %s left", s.Foreign, s.Value, left)
	case s.Value == "":
		return "no lock"
	}
	return fmt.Sprintf("token %d of %s, %s left", s.Token, s.Owner, left)
}

func fenceWords(f *fenceJSON) string {
	if f == nil || f.Token == nil {
		return "none"
	}
	return *f.Token + " of " + f.Owner
}
