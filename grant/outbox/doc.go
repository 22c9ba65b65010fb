// Package outbox delivers what was posted: each ledger row has an outbox row, and a Relay brings
// it to a Sink.
//
// # Promise
//
// Every posting arrives at least once, with the same key and the same bytes each time, and a
// player's postings arrive in order. A receiver that remembers keys applies each once; package
// itemserver is such a receiver.
//
// # One row's way
//
//  1. Claim, in a short transaction: the oldest undelivered row of a player, under a claim id and
//     until a time. Any number of relays may do so at once; a player has one row on its way.
//  2. Publish, outside of any transaction.
//  3. Mark, in a short transaction that checks the claim. A claim that was lost meanwhile is
//     counted as lost, not as delivered by us.
//
// A relay that dies leaves a claim that expires. Whoever takes the row over cannot know whether it
// was sent; the row says so, the receiver is asked first where it can be, and the row is sent
// again with the same key.
//
// # What becomes of a failure
//
// A verdict says whose fault it is. What the receiver refuses for good is a dead letter at once.
// What fails for reasons that may lie in the message is tried again, each time later up to a
// bound, and is a dead letter after Options.StrikesMax times. A receiver that is down or busy, or
// answers to nobody, costs no strikes: the relay pauses and tries one row at a time until it
// answers again.
//
// A row that is a dead letter or was parked holds up later rows of its player, and of nobody else
// (PolicyWait); under PolicyPass it does not.
package outbox
