package drill

import (
	"context"
	"fmt"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

const wrongRelease = "wrong-release"

func wrongReleaseScript() script {
	return script{
		Description: Description{
			Name: wrongRelease,
			Plays: "Worker A, which has lost its lease, releases it: a plain DEL removes the lock of " +
				"worker B, and C gets in beside B.",
			Defences: []Defence{None, Compare, All},
			Columns:  [3]string{"worker A", "redis lease", "workers B and C"}, TTL: ttlShort,
		},
		play: playWrongRelease,
	}
}

func playWrongRelease(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	long, err := st.working()
	if err != nil {
		return err
	}
	a, err := st.take(ctx, "worker-a", r)
	if err != nil {
		return err
	}
	if err := st.row(ctx, "takes the lease, then stalls", ""); err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if _, err := st.looks(ctx, "worker-b", r); err != nil {
		return err
	}
	if err := st.releasesLate(ctx, a); err != nil {
		return err
	}
	c, busy, err := st.ask(ctx, long, "worker-c", r)
	switch {
	case err != nil:
		return err
	case c != nil: // beside B
		text := fmt.Sprintf("finds no lock and takes the lease: token %d", c.Token)
		err = st.says(ctx, "worker-c", text)
		if err == nil {
			_, err = st.looks(ctx, "worker-c", r)
		}
	default:
		text := "asks for the lease: held by " + workerName(busy.Owner)
		st.refused(Refusal{Worker: "C", Line: Lease, Detail: text})
		err = st.says(ctx, "worker-c", text)
	}
	if err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	if c != nil {
		return st.pays(ctx, "worker-c", r, *c)
	}
	return st.afterB(ctx, long, r, b)
}

// releasesLate is A's release of a lease it does not hold any more.
func (st *stage) releasesLate(ctx context.Context, a grant.Lease) error {
	if st.opt.Defence == None {
		if err := st.opt.Redis.Unlink(ctx, st.store.LockKey(a.Resource)).Err(); err != nil {
			return &grant.BackendError{Backend: grant.Redis, Op: "release", Err: err}
		}
		return st.row(ctx, "wakes up and releases: DEL", "")
	}
	freed, err := st.store.ReleaseExact(ctx, a.Resource, lease.FormatValue(a.Token, a.Owner))
	if err != nil {
		return err
	}
	if freed.Answer != lease.Changed {
		return notPlayed("B's lock was not there when A released: %s", freed.Answer)
	}
	st.refused(Refusal{Worker: "A", Line: Compare, Detail: freedText(freed)})
	return st.row(ctx, "wakes up and releases: "+freedText(freed), "")
}

// afterB has C take the lease when B has finished. What it sees then keeps it from paying.
func (st *stage) afterB(ctx context.Context, store *lease.Store, r reward, b grant.Lease) error {
	if err := st.giveBack(ctx, "worker-b", b); err != nil {
		return err
	}
	c, err := st.takeFrom(ctx, store, "worker-c", r)
	if err != nil {
		return err
	}
	paid, err := st.looks(ctx, "worker-c", r)
	if err != nil || paid {
		return err
	}
	return st.pays(ctx, "worker-c", r, c)
}
