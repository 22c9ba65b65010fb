package inspect

import (
	"fmt"
	"strings"
)

// auditRule is what is said about one kind of finding.
type auditRule struct {
	severity Severity
	sentence string // the rule
	table    string // where it is, unless the audited ledger
	proof    string // name of the statement that proves it
	what     func(d draft, f Finding) string
	remedy   func(s ledgerSource, d draft) string
	fix      string // name of a statement for the owner of the tables, when there is no command
}

// auditRules returns the rules by their words.
func auditRules() map[string]auditRule {
	rules := map[string]auditRule{}
	for _, group := range []map[string]auditRule{
		eventRules(), claimRules(), fenceRules(), deliveryRules(), balanceRules(), receiverRules(),
		contentRules(),
	} {
		for word, rule := range group {
			rules[word] = rule
		}
	}
	return rules
}

// fixed says the same about every finding.
func fixed(text string) func(draft, Finding) string {
	return func(draft, Finding) string { return text }
}

// advise gives the same advice for every finding.
func advise(text string) func(ledgerSource, draft) string {
	return func(ledgerSource, draft) string { return text }
}

// look is the command that shows the whole story of an event before anything is decided.
func look(d draft) string { return shellLine([]string{"explain", d.PlayerID, d.EventID}) }

// lookFirst is the way out of a posting too many: it is taken back by a posting of its own, since a
// statement that changes the ledger would be refused.
func lookFirst(s ledgerSource, d draft) string {
	if s.own {
		return look(d) + "\n" + shellLine([]string{"player", "history", d.PlayerID}) +
			"\nDecide with the evidence above which posting is too many, then take it back, a dry run " +
			"first: rewardctl ledger reverse ID --reason WHY --dry-run"
	}
	return fmt.Sprintf("Run the proof, decide which row is the real one, and take the other back "+
		"with a posting of its own. Before a unique key can be built on %s, each pair must be "+
		"settled: building it fails while one is left.", s.name)
}

func eventRules() map[string]auditRule {
	return map[string]auditRule{
		"duplicate": {
			severity: Critical, proof: "proof_events", remedy: lookFirst,
			sentence: "an event is posted at most once per player",
			what: func(d draft, f Finding) string {
				text := fmt.Sprintf("player %s got event %s %d times", d.PlayerID, d.EventID, d.count)
				if len(f.Differs) > 0 {
					text += "; the rows differ in " + strings.Join(f.Differs, ", ")
				}
				return text
			},
		},
		"respelled": {
			severity: Critical, proof: "proof_events", remedy: lookFirst,
			sentence: "one reward has one event id: ids of one player, kind and amount, close in " +
				"time, differ in more than case, blanks and a retry suffix",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("player %s got the same reward under %s", d.PlayerID,
					strings.Join(quoteAll(d.events), " and "))
			},
		},
		"retried": {
			severity: Serious, proof: "proof_events", remedy: lookFirst,
			sentence: "one reward has one event id: ids of one player, kind and amount, close in " +
				"time, differ in more than a UUID, ULID or the time of the try",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("player %s probably got the same reward under %s; if the part "+
					"that differs names something real, such as an order, all is well", d.PlayerID,
					strings.Join(quoteAll(d.events), " and "))
			},
		},
		"random": {
			severity: Serious, proof: "proof_random",
			sentence: "an event id is made from what the reward is for, so that a retry has the " +
				"same one",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("%d ids like %s: a retry would be paid again", d.count, d.Key)
			},
			remedy: advise("In the program that pays: build the id from campaign, subject, kind and " +
				"version, before the first try. This shows how such an id looks:\n" + shellLine(
				[]string{"grant", "create"}, "campaign", "CAMPAIGN", "subject", "SUBJECT", "player",
				"PLAYER", "kind", "KIND", "amount", "1", "reason", "WHY", "dry-run", "")),
		},
		"keyless": {
			severity: Serious, proof: "proof_keyless",
			sentence: "each row names its player and its event",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("%d rows without a player or an event id: nothing can tell "+
					"whether they were paid twice", d.count)
			},
			remedy: func(s ledgerSource, _ draft) string {
				return fmt.Sprintf("Fill the columns from what else is known of these rows, then "+
					"have the database demand them: ALTER TABLE %s ALTER COLUMN ... SET NOT NULL.",
					s.table)
			},
		},
	}
}

func claimRules() map[string]auditRule {
	const table = "reward_claim"
	explain := func(_ ledgerSource, d draft) string { return look(d) }
	return map[string]auditRule{
		"unposted": {
			severity: Critical, table: table, proof: "proof_expected",
			sentence: "an applied claim has its posting",
			what:     fixed("the claim counts as applied, but nothing was posted"),
			remedy: func(_ ledgerSource, d draft) string {
				return look(d) + "\nIf the player did not get it, make it due again, as the owner of " +
					"the tables, and then give it by hand, a dry run first:\n" + stuckCommand(d)
			},
			fix: "fix_unposted",
		},
		"unclaimed": {
			severity: Serious, proof: "proof_expected", remedy: explain,
			sentence: "a posting has an applied claim",
			what:     fixed("posted without a claim: it was written past the engine"),
		},
		"unapplied": {
			severity: Serious, table: table, proof: "proof_expected", remedy: explain,
			sentence: "a posting has an applied claim",
			what:     fixed("posted, but the claim still waits: it was written past the engine"),
		},
		"sum": {
			severity: Critical, proof: "proof_expected", remedy: explain,
			sentence: "what is posted for an event is what was claimed for it",
			what: func(_ draft, f Finding) string {
				return "claim and postings differ in " + strings.Join(f.Differs, ", ")
			},
		},
		"stuck": {
			severity: Serious, table: table, proof: "proof_stuck",
			sentence: "a claim does not wait for long",
			what:     fixed("the claim is due and was not paid"),
			remedy: func(_ ledgerSource, d draft) string {
				return look(d) + "\nIf it is still due, give it by hand, a dry run first:\n" +
					stuckCommand(d)
			},
		},
		"reversal": {
			severity: Critical, proof: "proof_reversal",
			sentence: "a reversal takes back one posting of the same player and kind, and no more " +
				"than that",
			what: fixed("the reversal does not fit the posting that it names"),
			remedy: func(_ ledgerSource, d draft) string {
				return shellLine([]string{"player", "history", d.PlayerID})
			},
		},
	}
}

func fenceRules() map[string]auditRule {
	const owner = "one token belongs to one owner"
	history := func(_ ledgerSource, d draft) string {
		return shellLine([]string{"token", "list", "reward:" + d.PlayerID}) + "\n" + look(d)
	}
	return map[string]auditRule{
		"token_down": {
			severity: Critical, proof: "proof_fence", remedy: history,
			sentence: "the tokens of a resource's postings never go down",
			what: fixed("posted under a lower token than the posting before: a holder wrote after " +
				"it had lost its lease"),
		},
		"token_owners": {
			severity: Critical, proof: "proof_fence", remedy: history, sentence: owner,
			what: fixed("two owners posted under one token"),
		},
		"above_fence": {
			severity: Critical, proof: "proof_fence", remedy: history,
			sentence: "no posting has a token above the fence of its resource",
			what: fixed("posted under a token that the fence does not know: the fence was lowered " +
				"or passed by"),
		},
	}
}

func deliveryRules() map[string]auditRule {
	const (
		table = "reward_outbox"
		once  = "each posting is queued for delivery exactly once"
	)
	return map[string]auditRule{
		"unqueued": {
			severity: Critical, table: table, proof: "proof_outbox", sentence: once,
			what: fixed("posted, but never queued: the player will not receive it"),
			remedy: func(_ ledgerSource, d draft) string {
				return look(d) + "\nThen, as the owner of the tables:"
			},
			fix: "fix_unqueued",
		},
		"orphan": {
			severity: Critical, table: table, proof: "proof_outbox", sentence: once,
			what:   fixed("queued for delivery, but there is no such posting"),
			remedy: advise("Find out whether it was delivered. If not, as the owner of the tables:"),
			fix:    "fix_orphan",
		},
		"queued_twice": {
			severity: Critical, table: table, proof: "proof_outbox", sentence: once,
			what:   fixed("queued more than once: the key of the outbox is damaged"),
			remedy: advise("rewardctl doctor"),
		},
		"dead": {
			severity: Serious, table: table, proof: "proof_outbox",
			sentence: "what is posted reaches the player",
			what:     fixed("delivery was given up"),
			remedy: func(_ ledgerSource, d draft) string {
				return look(d) + "\nWhen the reason is gone, have it sent again, a dry run first:\n" +
					requeue(d, "dead", "the receiver is ready for it")
			},
		},
		"late": {
			severity: Serious, table: table, proof: "proof_late",
			sentence: "what is posted reaches the player in time",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("%d postings are %s and overdue; the oldest are shown", d.count,
					d.Key)
			},
			remedy: advise("Look whether the program that delivers is running: rewardctl doctor"),
		},
	}
}

func balanceRules() map[string]auditRule {
	const table = "reward_balance"
	history := func(_ ledgerSource, d draft) string {
		return shellLine([]string{"player", "history", d.PlayerID}, "kind", d.Key)
	}
	return map[string]auditRule{
		"balance": {
			severity: Critical, table: table, proof: "proof_balance", remedy: history,
			sentence: "a balance is the sum of the postings of its player and kind",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("the balance of %s of player %s is not the sum of the postings",
					d.Key, d.PlayerID)
			},
		},
		"negative": {
			severity: Critical, table: table, proof: "proof_balance", remedy: history,
			sentence: "a balance is not below zero",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("the balance of %s of player %s is below zero", d.Key, d.PlayerID)
			},
		},
	}
}

func quoteAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = fmt.Sprintf("%q", text)
	}
	return out
}
