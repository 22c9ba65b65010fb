package inspect_test

import (
	"strings"
	"testing"
	"time"

	"rewardctl/inspect"
)

// A renewal leaves no trace of its own: it is concluded from how long a token lived, and only then.
func TestTokensShowRenewals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const long = 200 * time.Hour
	r := b.with(t, inspect.Options{TTL: ttl})
	renewed := func() []inspect.TokenEntry {
		h, err := r.Tokens(t.Context(), "reward:p1")
		if err != nil {
			t.Fatal(err)
		}
		var out []inspect.TokenEntry
		for _, e := range h.Entries {
			if e.Event == inspect.TokenRenewed {
				out = append(out, e)
			}
		}
		return out
	}
	one := b.take(t, "reward:p1", "one")
	if got := renewed(); len(got) != 0 {
		t.Fatalf("renewed at once: %+v", got)
	}
	key := b.store.LockKey("reward:p1")
	if err := b.Redis.PExpire(t.Context(), key, ttl+ttl/2).Err(); err != nil {
		t.Fatal(err)
	}
	got := renewed()
	if len(got) != 1 || got[0].Token != one.Token || got[0].Owner != one.Owner ||
		got[0].Source != inspect.Concluded || !strings.Contains(got[0].Detail, "are left") {
		t.Fatalf("the holder renewed: %+v", got)
	}
	b.grant(t, "p1", "e1", 5, &one)
	b.expire(t, "reward:p1")
	b.take(t, "reward:p1", "two")
	if got := renewed(); len(got) != 0 {
		t.Fatalf("used soon after it was issued: %+v", got)
	}
	b.exec(t, "alter table reward_ledger disable trigger user")
	b.exec(t, "update reward_ledger set created_at = created_at + $1::interval", long.String())
	got = renewed()
	if len(got) != 1 || got[0].Token != one.Token || !strings.Contains(got[0].Detail, "used at") {
		t.Fatalf("used long after it was issued: %+v", got)
	}
}
