package repair

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// PlayerTable names a table of the studio's own that lists the players. An empty Table means that
// there is none, and that a grant to any player is taken.
type PlayerTable struct {
	Table string // may be preceded by a schema and a dot
	ID    string // column: the player id, of text, a whole number or a uuid
}

// unknownPlayers returns which ids the list of players does not have; none when there is no list.
// It returns a *grant.Rejection about the configuration when the list cannot be read as
// configured, and a *grant.BackendError when PostgreSQL could not be asked.
func (o *Operator) unknownPlayers(ctx context.Context, ids []string) (map[string]bool, error) {
	unknown := make(map[string]bool)
	list := o.opts.Players
	if list.Table == "" || len(ids) == 0 {
		return unknown, nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var problem *grant.Rejection
	err := o.read(ctx, "look players up", func(ctx context.Context, tx pgx.Tx) error {
		var form string
		var err error
		if form, problem, err = list.form(ctx, tx); err != nil || problem != nil {
			return err
		}
		possible := ids[:0:0]
		for _, id := range ids {
			if possibleID(id, form) {
				possible = append(possible, id)
			} else {
				unknown[id] = true
			}
		}
		sql := strings.NewReplacer("{table}", quotedName(list.Table), "{id}", quotedName(list.ID),
			"{type}", form).Replace(playersUnknownSQL)
		rows, err := collect[struct {
			ID string `db:"id"`
		}](ctx, tx, sql, struct {
			IDs []string `db:"ids"`
		}{possible})
		for _, r := range rows {
			unknown[r.ID] = true
		}
		return err
	})
	if err == nil && problem != nil {
		return nil, problem
	}
	return unknown, err
}

// form returns the type by which ids are compared: the column's own, so that its index is used.
func (l PlayerTable) form(
	ctx context.Context, tx pgx.Tx,
) (form string, problem *grant.Rejection, err error) {
	type column struct {
		Found bool    `db:"found"`
		Type  *string `db:"type"`
	}
	seen, err := first(collect[column](ctx, tx, playerColumnSQL, struct {
		Relation string `db:"relation"`
		Column   string `db:"column"`
	}{quotedName(l.Table), l.ID}))
	if err != nil {
		return "", nil, err
	}
	const wayOut = "correct players in the configuration"
	switch form = value(seen.Type); {
	case !seen.Found:
		return "", &grant.Rejection{
			Field: "players.table", Value: l.Table, Problem: "is not a table that this account sees",
			WayOut: wayOut,
		}, nil
	case form == "":
		return "", &grant.Rejection{
			Field: "players.id", Value: l.ID, Problem: "is not a column of " + l.Table, WayOut: wayOut,
		}, nil
	case form != "text" && form != "bigint" && form != "uuid":
		return "", &grant.Rejection{
			Field: "players.id", Value: l.ID, Problem: "is a column of type " + form,
			WayOut: "name one of text, a whole number or uuid",
		}, nil
	}
	return form, nil, nil
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// possibleID reports whether the id is written as PostgreSQL writes values of the type. Another
// spelling of the same number would be another player to the ledger.
func possibleID(id, form string) bool {
	switch form {
	case "bigint":
		n, err := strconv.ParseInt(id, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == id
	case "uuid":
		return uuidForm.MatchString(id)
	}
	return true
}

// quotedName quotes a name, or a schema and a name.
func quotedName(name string) string {
	return pgx.Identifier(strings.Split(name, ".")).Sanitize()
}

// stranger is the problem of a grant to a player who is not in the list.
func (o *Operator) stranger(player string) *grant.Rejection {
	return &grant.Rejection{
		Field: "player_id", Value: player, Problem: "is not in " + o.opts.Players.Table,
		WayOut: "check the id: capitals and leading zeros count",
	}
}

// rejectStrangers rejects the previews of grants to players who are not in the list.
func (o *Operator) rejectStrangers(ctx context.Context, previews []GrantPreview) error {
	for part := range slices.Chunk(previews, previewMax) {
		var ids []string
		for _, p := range part {
			if p.Result.Rejected == nil {
				ids = append(ids, p.Request.PlayerID)
			}
		}
		unknown, err := o.unknownPlayers(ctx, ids)
		if err != nil {
			return err
		}
		for i := range part {
			p := &part[i]
			if p.Result.Rejected == nil && unknown[p.Request.PlayerID] {
				p.Result = rejected(p.Request, o.stranger(p.Request.PlayerID))
			}
		}
	}
	return nil
}

// Known returns a Granter that grants through another one and rejects grants to players who are
// not in the list, without asking it. Its error is that of the other, or it says that the list
// could not be read, and then nothing was granted.
func (o *Operator) Known(engine Granter) Granter { return knownOnly{o, engine} }

type knownOnly struct {
	operator *Operator
	engine   Granter
}

// GrantMany implements Granter.
func (k knownOnly) GrantMany(
	ctx context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	ids := make([]string, 0, len(requests))
	for _, r := range requests {
		if grant.Validate(r, k.operator.opts.Limits) == nil {
			ids = append(ids, r.PlayerID) // others may be such that PostgreSQL cannot take them
		}
	}
	unknown, err := k.operator.unknownPlayers(ctx, ids)
	if err != nil {
		return nil, err
	}
	if len(unknown) == 0 {
		return k.engine.GrantMany(ctx, requests)
	}
	results := make([]grant.Result, len(requests))
	var known []grant.Request
	var at []int
	for i, r := range requests {
		if unknown[r.PlayerID] {
			results[i] = rejected(r, k.operator.stranger(r.PlayerID))
			continue
		}
		known, at = append(known, r), append(at, i)
	}
	if len(known) == 0 {
		return results, nil
	}
	answers, err := k.engine.GrantMany(ctx, known)
	if len(answers) != len(known) {
		return answers, err // ApplyFile reports it
	}
	for i, answer := range answers {
		results[at[i]] = answer
	}
	return results, err
}
