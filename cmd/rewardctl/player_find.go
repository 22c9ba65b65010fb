package main

import "github.com/spf13/cobra"

type playerNameJSON struct {
	PlayerID string `json:"player_id"`
	Name     string `json:"name"`
}

func (a *app) playerFindCommand() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "find PREFIX",
		Short: "Find players by the beginning of their name, in the studio's own list",
		Long: "Looks in the table that the context names: players: {table: T, id: COLUMN, name:" +
			" COLUMN}.\nCapitals do not count. With such a table a grant to a player who is not in" +
			" it is refused.",
		Example: "  rewardctl player find ann",
		Args:    arguments("PREFIX"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usage("limit", "give 1 to 1000", "--limit %d is out of range", limit)
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			found, err := reader.FindPlayers(cmd.Context(), args[0], limit)
			if err != nil {
				return err
			}
			l := listing{
				columns: columns("player_id", "name"),
				empty:   "no player's name begins with " + args[0],
			}
			for _, p := range found {
				l.rows = append(l.rows, []cell{text(p.ID), text(p.Name)})
				l.values = append(l.values, playerNameJSON{p.ID, p.Name})
			}
			return a.print(l)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "players at most")
	return cmd
}
