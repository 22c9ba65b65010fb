// Package config reads the configuration of rewardctl and turns it into settings for the
// drivers.
//
// A file holds named contexts, as kubectl has them; one of them is active in a run. A value comes
// from the first of: a command-line flag, the environment (REWARDCTL_ and the key in capitals,
// such as REWARDCTL_LEASE_TTL), the file, a default. Two keys are exceptions: read_only and
// protected are on as soon as any of these says so, so that nothing can take protection away that
// a file gives.
//
// Nothing is ignored in silence. A key that is not known is an error which names the nearest one
// that is, and a value that makes no sense is an error which names the place, the key, the value
// and the way out: see Error.
//
// Secrets come from the environment, from files that only their owner can read, or from pgpass.
// They are kept in Secret, which prints as stars, and never in a URL.
package config
