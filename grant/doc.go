// Package grant is the vocabulary of rewardctl and the transaction that matters: it gives a
// player the reward for an event exactly once, whatever the lease does.
//
// # Words
//
// Each word has one meaning everywhere: in names, in messages, in the documentation.
//
//   - resource: what a lease protects, such as "reward:player-42".
//   - lease: a time-bounded hold in Redis. It is an optimisation; it never makes a grant correct.
//   - owner: the unique name of one acquisition: worker, host, process, random nonce.
//   - token: the fencing number issued with a lease. Later leases carry higher tokens.
//   - fence: the highest token PostgreSQL has accepted for a resource, with its owner.
//   - claim: a reward that is due: player, event, kind, expected amount, status.
//   - grant: one reward posting. ledger: the append-only postings.
//   - outcome: the answer to one item, from a closed list (see Outcome).
//   - replay: the same id with the same content. mismatch: the same id with other content.
//   - reverse: a compensating posting, never an update.
//   - burn: raise the fence to a token under a tombstone owner, so that the token's holder can
//     never write again.
//   - operator: a human. action: a logged operator deed.
//   - plan: a frozen set of grants that was previewed. drill: a scripted failure.
//
// # Protocol
//
// A single grant is a batch of one. For each batch the engine
//
//  1. validates every request, and settles keys that one batch names twice;
//  2. reads the fences of all resources from PostgreSQL: the floors;
//  3. acquires one lease per resource from a Leases store, with the floor, so that a Redis that
//     lost or rolled back its counter still issues tokens above the fence;
//  4. calls the database function reward_grant inside one READ COMMITTED transaction that is sent
//     in one network round trip. The function advances the fences, then applies what passed, then
//     classifies the rest, each in a statement of its own, so that each sees what was committed
//     while the one before it waited;
//  5. resolves a lost answer by submitting the same batch again under the same leases: the second
//     submission waits for an in-flight twin and then tells;
//  6. releases the leases, each only if its exact value is still there.
//
// Three lines of defence do the work, all in PostgreSQL: the fencing token stops a holder that
// lost its lease; the unique key (player_id, reward_event_id) stops the same event under any
// token; the single transaction with its outbox row stops half-finished side effects.
//
// # Errors
//
// An error return proves that nothing was written. Anything less certain is the outcome Unknown.
package grant
