package main

import (
	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

// refusedJSON is a write that the fence refused.
type refusedJSON struct {
	ID         *string `json:"id"`
	At         *string `json:"at"`
	Outcome    string  `json:"outcome"`
	Resource   string  `json:"resource"`
	PlayerID   string  `json:"player_id"`
	EventID    string  `json:"reward_event_id"`
	Kind       string  `json:"kind"`
	Amount     int64   `json:"amount"`
	Actor      string  `json:"actor"`
	Token      *string `json:"token"`
	Owner      string  `json:"owner"`
	FenceToken *string `json:"fence_token"` // what was accepted before
	FenceOwner *string `json:"fence_owner"`
	Burned     bool    `json:"burned"` // an operator had burned the token
}

type refusedPageJSON struct {
	Refused []refusedJSON `json:"refused"`
	More    bool          `json:"more"` // there are older ones
}

func (a *app) tokenRefusedCommand() *cobra.Command {
	var (
		since, until string
		limit        int
	)
	cmd := &cobra.Command{
		Use:   "refused",
		Short: "List late writes that the fence refused, of all resources, newest first",
		Long: "A holder whose lease was over wrote all the same (stale token), or its token was" +
			" another\nowner's, too, or had been burned (token collision). Nothing was paid by these." +
			" Unless --since\nsays otherwise: of the last hour.",
		Example: "  rewardctl token refused\n" +
			"  rewardctl token refused --since 24h -o jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := parseTime("until", until)
			if err != nil {
				return err
			}
			from, err := spanBegin(since, orElse(to, a.now()))
			if err != nil {
				return err
			}
			if limit < 1 {
				return usage("limit", "give 1 to 1000", "--limit %d is out of range", limit)
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			page, err := reader.Refused(cmd.Context(), inspect.RefusedQuery{
				Since: from, Until: to, Limit: limit,
			})
			if err != nil {
				return err
			}
			return a.printRefused(page)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&since, "since", "1h", "how long ago to begin, or when")
	flags.StringVar(&until, "until", "", "up to but not including this time; now unless given")
	flags.IntVar(&limit, "limit", historyLimit, "rows at most")
	return cmd
}

func (a *app) printRefused(page inspect.RefusedPage) error {
	doc := refusedPageJSON{Refused: []refusedJSON{}, More: page.More}
	l := listing{
		columns: columns("at", "outcome", "resource", "token", "owner", "fence", "fence_owner",
			"player_id", "reward_event_id", "kind", "amount"),
		empty: "the fence refused nothing in this time",
	}
	for _, w := range page.Rows {
		one := refusedJSON{
			ID: jsonID(w.ID), At: jsonTime(w.At), Outcome: w.Outcome.String(), Resource: w.Resource,
			PlayerID: w.PlayerID, EventID: w.EventID, Kind: w.Kind, Amount: w.Amount, Actor: w.Actor,
			Token: jsonID(w.Token), Owner: w.Owner, FenceToken: jsonID(w.FenceToken),
			FenceOwner: jsonText(w.FenceOwner), Burned: w.Burned(),
		}
		doc.Refused = append(doc.Refused, one)
		l.values = append(l.values, one)
		l.rows = append(l.rows, []cell{
			instant(w.At), toned(outcomeWords(w.Outcome), notice), text(w.Resource), number(w.Token),
			text(w.Owner), numberOrBlank(w.FenceToken), text(w.FenceOwner), text(w.PlayerID),
			text(w.EventID), text(w.Kind), number(w.Amount),
		})
	}
	l.document = doc
	if err := a.print(l); err != nil {
		return err
	}
	if page.More {
		a.say("there are older ones: --limit, up to 1000, or another --since")
	}
	return nil
}
