package config

// Players names a table of the studio's own that lists the players. With it, players are found by
// name, and a grant to a player who is not in it is refused. An empty Table means that there is
// none.
type Players struct {
	Table string // may be preceded by a schema and a dot
	ID    string // column: what grants call player_id
	Name  string // column: what people call the player; empty means ID
}

func playersKeys() []key {
	return []key{
		{
			"players.table", "", "the studio's own list of players: refuses grants to others",
			func(c *Context) any { return &c.Players.Table },
		},
		{
			"players.id", "", "its column with the player id",
			func(c *Context) any { return &c.Players.ID },
		},
		{
			"players.name", "", "its column with the name, for player find; empty means the id",
			func(c *Context) any { return &c.Players.Name },
		},
	}
}

func (v *checker) players() {
	const wayOut = "use up to 63 lower-case letters, digits and _, and start with a letter"
	p := v.context.Players
	switch {
	case p == Players{}:
		return
	case p.Table == "":
		v.bad("players.table", "is missing", "name the table that the columns are of")
	case !tableName.MatchString(p.Table):
		v.bad("players.table", "is not a plain name", wayOut)
	}
	switch {
	case p.ID == "":
		v.bad("players.id", "is missing", "name the column with the player id")
	case !columnName.MatchString(p.ID):
		v.bad("players.id", "is not a plain name", wayOut)
	}
	if p.Name != "" && !columnName.MatchString(p.Name) {
		v.bad("players.name", "is not a plain name", wayOut)
	}
}
