// Package itemserver is a receiver of rewards: small, complete, and the executable specification
// of what a real one must do. It keeps players' inventories in PostgreSQL tables of its own.
//
// # What a receiver must do
//
// POST brings one message, a CloudEvents 1.0 event in JSON (see grant.Message). The answers:
//
//   - 200 {"status":"applied","key":K}: applied now. Receipt and effect are one transaction.
//   - 200 or 409 {"status":"repeated","key":K}: the key was applied before with the same content.
//     Nothing changes; the answer is the same as it would have been the first time.
//   - 422 {"status":"refused","key":K,"reason":...}: never going to be applied. The key was applied
//     with other content, the token is older than one that was accepted for the player, or the
//     message makes no sense here.
//   - 429 or 503, with Retry-After when it knows: not now.
//
// GET with the parameter key answers 200 {"status":"applied","key":K,"kind":...,"amount":...}, or
// 404 {"status":"absent","key":K}. GET without it lists what was applied, page by page.
//
// Keys are remembered for ever, or at least for as long as a message may come again: a dead letter
// that an operator requeues comes after weeks.
//
// Requests are signed when a secret is shared (see outbox.Sign); a receiver refuses, with 401,
// signatures that are wrong or old.
package itemserver
