package inspect

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// PlayerTable names a table of the studio's own that lists the players. An empty Table means that
// there is none.
type PlayerTable struct {
	Table string // may be preceded by a schema and a dot
	ID    string // column: what grants call player_id
	Name  string // column: what people call the player; empty means ID
}

// PlayerName is a player of the studio's own list.
type PlayerName struct {
	ID   string
	Name string // as the player chose it: it may hold anything
}

const findMax = 1000 // players that one search returns at most

// FindPlayers returns players whose names begin with prefix, by name, at most limit of them (20
// when limit is 0). Case does not count. It returns a *grant.Rejection when no list of players is
// configured, when the list cannot be read as configured and when the question makes no sense,
// and a *grant.BackendError when PostgreSQL could not be asked.
func (r *Reader) FindPlayers(ctx context.Context, prefix string, limit int) ([]PlayerName, error) {
	list := r.opts.Players
	if list.Name == "" {
		list.Name = list.ID
	}
	if limit == 0 {
		limit = 20
	}
	if problem := findProblem(list, prefix, limit); problem != nil {
		return nil, problem
	}
	var problem *grant.Rejection
	var found []PlayerName
	const op = "find players"
	err := r.readFrom(ctx, r.history(), op, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		if problem, err = list.problem(ctx, tx); err != nil || problem != nil {
			return err
		}
		sql := strings.NewReplacer("{table}", quotedTable(list.Table), "{id}",
			quotedTable(list.ID), "{name}", quotedTable(list.Name)).Replace(playersFindSQL)
		type row struct {
			ID   *string `db:"id"`
			Name *string `db:"name"`
		}
		rows, err := collect[row](ctx, tx, sql, struct {
			Pattern string `db:"pattern"`
			Limit   int    `db:"limit"`
		}{likePrefix(strings.ToLower(prefix)), limit})
		for _, p := range rows {
			found = append(found, PlayerName{ID: value(p.ID), Name: value(p.Name)})
		}
		return err
	})
	if err == nil && problem != nil {
		return nil, problem
	}
	return found, err
}

func findProblem(list PlayerTable, prefix string, limit int) *grant.Rejection {
	switch {
	case list.Table == "":
		return &grant.Rejection{
			Field: "players", Problem: "names no table to look in",
			WayOut: "add to the context: players: {table: T, id: COLUMN, name: COLUMN}",
		}
	case prefix == "" || !utf8.ValidString(prefix) || strings.ContainsRune(prefix, 0):
		return &grant.Rejection{
			Field: "prefix", Value: prefix, Problem: "is not the beginning of a name",
			WayOut: "give the first letters of the name",
		}
	case limit < 0 || limit > findMax:
		return &grant.Rejection{
			Field: "limit", Value: strconv.Itoa(limit), Problem: "is out of range",
			WayOut: fmt.Sprintf("give 1 to %d", findMax),
		}
	}
	return nil
}

// problem says why the list cannot be read as configured.
func (l PlayerTable) problem(ctx context.Context, tx pgx.Tx) (*grant.Rejection, error) {
	type columns struct {
		Found   bool `db:"found"`
		HasID   bool `db:"has_id"`
		HasName bool `db:"has_name"`
	}
	rows, err := collect[columns](ctx, tx, playerListSQL, struct {
		Relation string `db:"relation"`
		ID       string `db:"id"`
		Name     string `db:"name"`
	}{quotedTable(l.Table), l.ID, l.Name})
	if err != nil {
		return nil, err
	}
	const wayOut = "correct players in the configuration"
	switch seen := rows[0]; {
	case !seen.Found:
		return &grant.Rejection{
			Field: "players.table", Value: l.Table, Problem: "is not a table that this account sees",
			WayOut: wayOut,
		}, nil
	case !seen.HasID:
		return &grant.Rejection{
			Field: "players.id", Value: l.ID, Problem: "is not a column of " + l.Table, WayOut: wayOut,
		}, nil
	case !seen.HasName:
		return &grant.Rejection{
			Field: "players.name", Value: l.Name, Problem: "is not a column of " + l.Table,
			WayOut: wayOut,
		}, nil
	}
	return nil, nil
}

// likePrefix is the pattern of texts that begin with prefix, whatever it holds.
func likePrefix(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(prefix) + "%"
}
