// Package lease keeps leases in Redis: it acquires, renews, releases and lists them, on a single
// server, on Sentinel and on Cluster. It implements grant.Leases.
//
// # Keys
//
// All keys of one resource share a hash tag, so that every script runs on Cluster too. TAG is the
// resource with braces, percent signs and control characters written as %XX:
//
//	PREFIXlock:{TAG}     TOKEN:OWNER, with an expiry: the lease
//	PREFIXfence:{TAG}    the highest token issued; expires when idle for Options.FenceIdle
//	PREFIXhistory:{TAG}  a capped stream of what happened to the lock
//	PREFIXindex:N        sorted set, one of Options.Shards: member TAG}OWNER, score the time of
//	                     entering in microseconds of that server's clock
//	PREFIXheartbeat:ID   exists while the worker ID lives
//
// # Acquire
//
// An acquisition is named by its owner, which is unique. The script in lua/acquire.lua issues the
// token max(counter, floor)+1, and gives an owner that asks again the same token back. So a lost
// reply is cured by asking again, and the driver's own retries, which would run a script twice
// without telling, are switched off for every script (see once).
//
// # Trust
//
// A lease is trusted until the start of the attempt plus TTL minus Margin, on the monotonic
// clock. The true expiry is later than that: Redis counts from the moment it runs the script.
//
// # Index
//
// An acquisition is in the index before its lock exists, so listing costs a walk over the leases
// and not over the whole keyspace. On a single server the scripts change lock and index together.
// On Cluster the two live in different slots: acquire enters the index first and leaves it after a
// release. A member names one acquisition, never only a resource, so taking one out can never take
// out somebody else's.
//
// An entry whose lock is gone is dead: its holder expired or died. The lister removes it once it
// is older than a grace (one minute) by the clock of the server that stamped it, and only if it
// was not entered again since the lister looked. An acquisition on Cluster that needs longer than
// the grace between entering and locking would lose its entry; the attempts end long before that.
package lease
