package inspect

import (
	"embed"
	"strconv"
	"strings"
)

// showSQL holds the statements that show again what a screen shows. They have places, in braces,
// for what they are about: people run them as they are.
//
//go:embed sql/show/*.sql
var showSQL embed.FS

// Proof is a statement or a command line that shows again what was shown. It only reads.
type Proof struct {
	Tool string // what runs it: "psql" or "redis-cli"
	Text string // ends a statement with a semicolon; a command line is for bash and zsh
}

// The tools of proofs.
const (
	ProofSQL   = "psql"
	ProofRedis = "redis-cli"
)

// ProveEntry shows one line of a player's timeline again.
func ProveEntry(e PlayerEntry) []Proof {
	switch e.Type {
	case EntryPosting:
		return proveRow("posting", e.ID)
	case EntryClaim:
		return proveRow("claim", e.ID)
	case EntryRefusal:
		return proveRow("refusal", e.ID)
	case EntryAction:
		return ProveAction(e.ID)
	case EntryDelivery:
		return ProveDelivery(e.ID)
	}
	return nil
}

// ProveHistory shows the newest postings of a player again.
func ProveHistory(player string) []Proof { return proveText("history", player) }

// ProveAction shows a row of the operators' log again.
func ProveAction(id int64) []Proof { return proveRow("action", id) }

// ProveDelivery shows the attempts to deliver a posting again.
func ProveDelivery(ledgerID int64) []Proof { return proveRow("delivery", ledgerID) }

// ProveRun shows an audit again.
func ProveRun(run int64) []Proof { return proveRow("run", run) }

// ProvePlan shows a plan again.
func ProvePlan(id int64) []Proof { return proveRow("plan", id) }

// ProvePlanRow shows a line of a plan again.
func ProvePlanRow(plan, line int64) []Proof {
	return prove("plan_row", "{id}", strconv.FormatInt(plan, 10), "{line}",
		strconv.FormatInt(line, 10))
}

// ProveFence shows the highest accepted token of a resource again.
func ProveFence(resource string) []Proof { return proveText("fence", resource) }

// ProveLease shows a lock again, with its time left, and the fence of its resource. The lock is
// left out where there is no lease store.
func (r *Reader) ProveLease(l Lease) []Proof {
	fence := ProveFence(l.Resource)
	if r.store == nil {
		return fence
	}
	cli := r.opts.RedisCLI
	if cli == "" {
		cli = ProofRedis
	}
	key := shellQuote(r.store.LockKey(l.Resource))
	return append([]Proof{{
		Tool: ProofRedis, Text: cli + " " + readsOf(l.Foreign, key) + " && " + cli + " PTTL " + key,
	}}, fence...)
}

// readsOf is the command that reads a key of some type of data.
func readsOf(foreign, key string) string {
	switch foreign {
	case "hash":
		return "HGETALL " + key
	case "list":
		return "LRANGE " + key + " 0 -1"
	case "set":
		return "SMEMBERS " + key
	case "zset":
		return "ZRANGE " + key + " 0 -1 WITHSCORES"
	case "stream":
		return "XRANGE " + key + " - +"
	case "", "string":
		return "GET " + key
	}
	return "TYPE " + key
}

func proveRow(name string, id int64) []Proof {
	return prove(name, "{id}", strconv.FormatInt(id, 10))
}

func proveText(name, text string) []Proof {
	if !storable(text) {
		return nil // no row can have such a name
	}
	return prove(name, "{text}", sqlLiteral(text))
}

// prove fills a statement.
func prove(name string, places ...string) []Proof {
	raw, err := showSQL.ReadFile("sql/show/" + name + ".sql")
	if err != nil {
		return nil // a test reads each of them
	}
	rest := string(raw)
	for strings.HasPrefix(rest, "--") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	text := strings.NewReplacer(places...).Replace(strings.TrimSpace(rest))
	return []Proof{{Tool: ProofSQL, Text: text + ";"}}
}
