// Package repair holds what operators change: releasing a lease, granting by hand, applying a
// file. It reads again whatever it needs inside its own transaction; what a screen showed is
// never trusted for a write.
//
// # Every deed
//
// Each deed has a reason and a row in operator_action, refusals and failures included. A deed whose
// effect is one PostgreSQL transaction has its row in that transaction; a grant by hand, too: the
// engine writes the row where it posts. A deed that also touches Redis, or that runs through many
// transactions, has an intent row before and a result row after, and the result names its intent;
// an intent without a result is a deed that was cut off, which the doctor lists. Doing it again is
// safe, and its result settles the intent.
//
// The rows are chained by the database: each has the hash of the one before it. A row locks the
// head of the chain until its transaction ends, so it is written last.
//
// # Releasing a lease
//
// The order is fixed:
//
//  1. Look: the lock must still hold the owner and token that the operator saw. Otherwise nothing
//     is changed, and what is there now is shown.
//  2. Burn, in one transaction with the intent row: raise the fence to exactly that token under a
//     tombstone owner. This waits for a grant in flight. Raising it higher would lock out the
//     next holder, who will get the next token.
//  3. Compare the full value in Redis and delete it.
//  4. Write the result row.
//
// After step 2 the paused worker can no longer write, whatever happens to the rest. So even a
// wrong verdict is harmless: a live worker loses its lease and is refused, nobody is paid twice.
// When the process dies between the steps, the same release is run again and finishes: a burn
// that is done is found done.
//
// When the lock is already gone, its token is burned all the same, provided that Redis or
// PostgreSQL shows that it was issued: a worker that merely paused may still try to write. A token
// that nothing shows was issued is not burned, because a mistyped one could refuse live holders.
//
// # Taking postings back
//
// A selection is read once and frozen: which postings, which part of each, how much. It is run
// through the grant engine, under the lease and the fence of each player, and the database function
// that posts the reversals writes the row of the log in the same transaction. A part of a posting
// is taken back at most once, so a run that was cut off is simply run again.
//
// # Counters and fences
//
// Counters live in Redis and are only ever raised, each only if it is as it was seen: an intent row
// before, a result row after. Fences live in PostgreSQL; raising them to the counters after a
// failover that lost rows voids every lease that is held, in one transaction with its row.
package repair
