// Package inspect answers an operator's questions from real state: which leases are there and
// how do they stand, what became of a token, what did a player receive and why, is the system
// fit to grant.
//
// It never changes anything: every PostgreSQL transaction is READ ONLY, and the lease store is
// asked only for reads. It works with one of the two servers down, and every answer names what
// is missing because of it.
package inspect
