package inspect

import "fmt"

// bothSides is the rule about deliveries and their receiver.
const bothSides = "what the outbox calls delivered the receiver has, and nothing else"

// receiverRules are about what the receiver says.
func receiverRules() map[string]auditRule {
	const table = "reward_outbox"
	return map[string]auditRule{
		"not_received": {
			severity: Critical, table: table, proof: "proof_receiver", sentence: bothSides,
			what: fixed("delivered, says the outbox, but the receiver does not have it"),
			remedy: func(_ ledgerSource, d draft) string {
				return look(d) + "\nSend it once more, with the same key, a dry run first:\n" +
					requeue(d, "delivered", "the receiver does not have it")
			},
		},
		"received_early": {
			severity: Serious, table: table, proof: "proof_receiver", sentence: bothSides,
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("the receiver has it, but the outbox calls it %s", d.state)
			},
			remedy: func(_ ledgerSource, d draft) string {
				if d.state == "pending" {
					return look(d) + "\nThe relay sends it and is told that it was there: see that it " +
						"runs: rewardctl outbox list"
				}
				return look(d) + "\nSending it again is harmless, the receiver knows the key; it " +
					"settles the outbox, a dry run first:\n" + requeue(d, d.state, "the receiver has it")
			},
		},
		"not_answered": {
			severity: Serious, table: table, proof: "proof_receiver",
			sentence: "the receiver says of each delivery whether it has it",
			what: func(d draft, _ Finding) string {
				return fmt.Sprintf("%d deliveries could not be compared: the receiver gave no answer "+
					"about them", d.count)
			},
			remedy: advise("Ask again later: rewardctl audit run outbox --receiver"),
		},
	}
}

// contentRules are about what the receiver has under its keys.
func contentRules() map[string]auditRule {
	return map[string]auditRule{
		"received_other": {
			severity: Critical, table: "reward_outbox", proof: "proof_receiver",
			sentence: "the receiver has the kind and amount that is posted",
			what: func(_ draft, f Finding) string {
				at := func(row int, name string) string {
					for i, column := range f.Columns {
						if column == name && row < len(f.Rows) && f.Rows[row][i] != nil {
							return *f.Rows[row][i]
						}
					}
					return "?"
				}
				if at(1, "amount") == "?" {
					return "posted, but the receiver refused it"
				}
				return fmt.Sprintf("posted %s %s, but the receiver has %s %s", at(0, "amount"),
					at(0, "kind"), at(1, "amount"), at(1, "kind"))
			},
			remedy: func(_ ledgerSource, d draft) string {
				return look(d) + "\nEither correct it at the receiver, or take the posting back and " +
					"grant what is right under another event id, a dry run first:\n" + shellLine(
					[]string{"ledger", "reverse", d.Key}, "reason", "the receiver has another amount",
					"dry-run", "")
			},
		},
		"received_unknown": {
			severity: Critical, table: "the receiver", proof: "proof_receiver_key", sentence: bothSides,
			what: func(d draft, f Finding) string {
				if d.PlayerID == "" {
					return fmt.Sprintf("the receiver has something under %q, which is no key of a "+
						"posting", d.Key)
				}
				return "the receiver has it, but nothing is posted under its key"
			},
			remedy: func(_ ledgerSource, d draft) string {
				const others = "If another installation delivers to this receiver, it is theirs. " +
					"Else take it back at the receiver"
				if d.PlayerID == "" {
					return others + "; find out who sent it: rewardctl doctor"
				}
				return look(d) + "\n" + others + ", or, if the player is to keep it, post it under " +
					"the same key, a dry run first:\n" + payCommand(d, "the receiver has it")
			},
		},
	}
}

// requeue is the command that has a delivery sent again.
func requeue(d draft, state, reason string) string {
	return shellLine([]string{"outbox", "requeue", d.Key}, "state", state, "reason", reason,
		"dry-run", "")
}
