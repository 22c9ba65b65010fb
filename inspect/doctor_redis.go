package inspect

import (
	"context"
	"fmt"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

func (r *Reader) examineRedis(ctx context.Context, d *Diagnosis) {
	script := Check{
		Name: "redis scripts", Level: Gate, Value: "a script ran and wrote",
		Why: "every lease is taken by a script; a server may answer PING long after it lost its " +
			"memory, its role or the right to run scripts",
		Fix: "start the server or correct its address; it must be a primary and the account needs " +
			"EVAL, EVALSHA and the keys under the prefix",
	}
	err := r.redis(ctx, "check", r.checkStore)
	if err != nil {
		script.Value = err.Error()
	}
	d.add(script, err == nil)
	var facts []lease.Facts
	if err := r.redis(ctx, "examine", func(ctx context.Context) error {
		var err error
		facts, err = r.store.Facts(ctx)
		return err
	}); err != nil {
		d.unseen(Check{
			Name: "redis server", Level: Gate,
			Why: "what INFO and TIME say decides whether leases are kept",
			Fix: "permit INFO and TIME to this account, or look at the server yourself",
		}, err)
		d.Missing = append(d.Missing, Missing{grant.Redis, "facts of the server", err})
		return
	}
	for _, f := range facts {
		d.redisServer(f)
		d.redisMemory(f)
		d.redisPersistence(f)
		d.redisReplicas(f)
		d.redisClock(f, r.opts.SkewMax)
	}
	r.examineCounters(ctx, d)
}

func (r *Reader) checkStore(ctx context.Context) error { return r.store.Check(ctx) }

func (d *Diagnosis) redisServer(f lease.Facts) {
	check := Check{
		Name: "redis role", Level: Gate, Why: "a replica lags and accepts no lease",
		Fix:   "connect to the primary, or to the sentinels or the cluster",
		Value: fmt.Sprintf("%s %s, Redis %s, %d replicas", f.Addr, f.Role, f.Version, f.Replicas),
	}
	if f.Role == "" {
		check.Status, check.Value = Unseen, f.Addr+": INFO does not tell the role"
		d.Checks = append(d.Checks, check)
		return
	}
	d.add(check, f.Role == "master" && !f.Loading)
}

func (d *Diagnosis) redisMemory(f lease.Facts) {
	check := Check{
		Name: "redis eviction", Level: Gate, Value: f.Policy,
		Why: "any policy but noeviction throws leases or their counters away when memory is full",
		Fix: "CONFIG SET maxmemory-policy noeviction, and set it in redis.conf",
	}
	if f.Policy == "" {
		check.Status, check.Value = Unseen, "INFO does not tell maxmemory_policy"
		d.Checks = append(d.Checks, check)
		return
	}
	if f.MaxMemory > 0 {
		check.Value = fmt.Sprintf("%s, %d of %d bytes in use", f.Policy, f.UsedMemory, f.MaxMemory)
	}
	d.add(check, f.Policy == "noeviction")
}

func (d *Diagnosis) redisPersistence(f lease.Facts) {
	check := Check{
		Name: "redis persistence", Level: Warning,
		Why: "without an append-only file a crash puts counters back and brings released locks " +
			"back; the fence keeps grants correct, but work is refused or waits",
		Fix: "CONFIG SET appendonly yes, appendfsync everysec, and set both in redis.conf",
	}
	sync := f.AppendSync
	if sync == "" {
		sync = "not seen: CONFIG is forbidden"
	}
	check.Value = yesNo(f.AppendOnly, "append-only file, appendfsync "+sync,
		"no append-only file")
	if f.Version == "" {
		check.Status, check.Value = Unseen, "INFO does not tell"
		d.Checks = append(d.Checks, check)
		return
	}
	d.add(check, f.AppendOnly && f.AppendSync != "no")
}

func (d *Diagnosis) redisClock(f lease.Facts, most time.Duration) {
	d.add(Check{
		Name: "redis clock", Level: Warning,
		Value: signed(f.Skew.Round(time.Millisecond)) + " from this machine's",
		Why: "times from different clocks stand beside each other in histories; leases do not " +
			"depend on them",
		Fix: "synchronise the clocks of both machines, for example with chrony",
	}, f.Skew.Abs() <= most)
}

// examineCounters compares the token counters of the resources that wrote last with their fences.
func (r *Reader) examineCounters(ctx context.Context, d *Diagnosis) {
	check := Check{
		Name: "token counters", Level: Warning,
		Why: "a counter below its fence shows that Redis lost state; acquires present the fence, " +
			"so the next token is above it, but other clients that do not are refused",
		Fix: "look at rewardctl token list for the resource; the next acquire repairs the counter",
	}
	var fences []fenceRow
	err := r.read(ctx, "read the latest fences", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		fences, err = collect[fenceRow](ctx, tx, fenceLatestSQL, struct {
			Limit int `db:"limit"`
		}{countersSeen})
		return err
	})
	if err != nil {
		d.unseen(check, err)
		return
	}
	behind, first := 0, ""
	for _, f := range fences {
		var token int64
		var there bool
		err := r.redis(ctx, "read a counter", func(ctx context.Context) error {
			var err error
			token, there, err = r.store.Counter(ctx, f.Resource)
			return err
		})
		if err != nil {
			check.Value = f.Resource + ": " + err.Error()
			d.add(check, false)
			return
		}
		if there && token < f.Token {
			if behind++; first == "" {
				first = fmt.Sprintf("%s stands at %d, its fence at %d", f.Resource, token, f.Token)
			}
		}
	}
	check.Value = fmt.Sprintf("%d of the %d that wrote last are behind", behind, len(fences))
	if first != "" {
		check.Value += ": " + first
	}
	d.add(check, behind == 0)
}

const countersSeen = 20
