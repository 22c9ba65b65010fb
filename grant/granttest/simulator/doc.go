// Package simulator plays the protocol of leases, fences, grants and delivery as a state machine:
// one goroutine, a virtual clock, and a seed that picks the next event or fault. It is imported by
// _test files only.
//
// A schedule is everything that follows from one seed: which workers ask for what, in which order
// their messages arrive, which are lost, when a worker stalls or dies, when Redis forgets. Run
// plays it and checks after every step that nothing was paid twice, that no answer lies, and that
// tokens only rise; at the end faults stop, and everything due must be paid and delivered. The
// same seed plays the same schedule again.
//
// What the servers do is modelled in redis.go and postgres.go. The model is worth what its
// likeness to the real scripts and functions is worth: a Report carries the calls and the model's
// answers, and a test replays them on a real Redis and a real PostgreSQL and compares.
//
// A Defect breaks one rule of the protocol on purpose. A simulator that cannot tell a broken
// protocol from a sound one would prove nothing, so a test demands that each defect is found.
//
// (The idea of running the protocol under a seeded scheduler, with assertions always on and seeds
// that replay, comes from TigerBeetle's and FoundationDB's simulators.)
package simulator
