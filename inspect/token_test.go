package inspect_test

import (
	"errors"
	"strings"
	"testing"

	"rewardctl/grant"
	"rewardctl/inspect"
)

func marks(h inspect.TokenHistory, kind inspect.MarkKind) []inspect.TokenMark {
	var out []inspect.TokenMark
	for _, m := range h.Marks {
		if m.Kind == kind {
			out = append(out, m)
		}
	}
	return out
}

func events(h inspect.TokenHistory) string {
	var out []string
	for _, e := range h.Entries {
		out = append(out, string(e.Event))
	}
	return strings.Join(out, " ")
}

func TestTokensTellTheWholeStory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.take(t, "reward:p1", "one")
	b.grant(t, "p1", "e1", 5, &one)
	if err := errors.Join(b.store.Release(t.Context(), []grant.Lease{one})...); err != nil {
		t.Fatal(err)
	}
	two := b.take(t, "reward:p1", "two")
	b.expire(t, "reward:p1")
	three := b.take(t, "reward:p1", "three")
	b.grant(t, "p1", "e3", 5, &three)
	b.grant(t, "p1", "e2", 5, &two) // late, fenced off
	b.exec(t, "insert into operator_action (operator, action, target, arguments, observed, reason, "+
		"outcome, command) values ('alice', 'lease release', 'reward:p1', "+
		"'{\"token\": \"3\", \"owner\": \"x\"}', '{}', 'stuck', 'burned', 'x')")
	h, err := b.reader.Tokens(t.Context(), "reward:p1")
	if err != nil || len(h.Missing) != 0 {
		t.Fatalf("%v %v", h.Missing, err)
	}
	got := events(h)
	for event, n := range map[string]int{
		"issued": 3, "used": 2, "released": 1, "expired": 1, "refused": 1, "burned": 1,
	} {
		if strings.Count(" "+got+" ", " "+event) != n {
			t.Errorf("%s is not there %d times: %s", event, n, got)
		}
	}
	if h.Lease == nil || h.Lease.Token != 3 || h.Fence == nil || h.Fence.Token != 3 || h.Lost != "" {
		t.Errorf("%+v %+v %q", h.Lease, h.Fence, h.Lost)
	}
	if len(h.Tokens) != 4 { // the burn names an owner of its own
		t.Fatalf("%+v", h.Tokens)
	}
	if u := h.Tokens[0]; u.Accepted != 1 || u.End != inspect.TokenReleased || u.Held() <= 0 {
		t.Errorf("token 1: %+v", u)
	}
	if u := h.Tokens[1]; u.Refused != 1 || u.End != inspect.TokenExpired {
		t.Errorf("token 2: %+v", u)
	}
	late := marks(h, inspect.MarkFencedOff)
	if len(late) != 1 || late[0].Token != 2 {
		t.Errorf("late writes: %+v", h.Marks)
	}
	for _, kind := range []inspect.MarkKind{
		inspect.MarkGap, inspect.MarkRegression, inspect.MarkLateWrite,
	} {
		if m := marks(h, kind); len(m) != 0 {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}

// Other data took the key over: the last token has expired, and nobody is said to hold it or not.
func TestTokensUnderForeignData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.take(t, "reward:p1", "one")
	key := b.store.LockKey("reward:p1")
	b.Redis.Del(t.Context(), key)
	if err := b.Redis.HSet(t.Context(), key, "uuid", 1).Err(); err != nil {
		t.Fatal(err)
	}
	h, err := b.reader.Tokens(t.Context(), "reward:p1")
	if err != nil || h.Lease == nil || h.Lease.Foreign != "hash" || len(h.Tokens) != 1 ||
		h.Tokens[0].End != inspect.TokenExpired {
		t.Fatalf("%+v, %v", h, err)
	}
	last := h.Entries[len(h.Entries)-1].Detail
	mustContain(t, "the end", last, "other data (hash) is under its key")
	if strings.Contains(last, "nobody") {
		t.Error(last)
	}
}

// Redis lost its counter: the token is issued twice and goes down (B10).
func TestTokensShowALostCounter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	fenceKey := b.store.FenceKey("reward:p1")
	if err := b.Redis.Set(ctx, fenceKey, 109, 0).Err(); err != nil {
		t.Fatal(err)
	}
	high := b.take(t, "reward:p1", "high")
	b.grant(t, "p1", "e1", 5, &high)
	b.expire(t, "reward:p1")
	if err := b.Redis.Set(ctx, fenceKey, 100, 0).Err(); err != nil {
		t.Fatal(err)
	}
	h, err := b.reader.Tokens(ctx, "reward:p1")
	if err != nil || len(marks(h, inspect.MarkRegression)) != 1 {
		t.Fatalf("a counter below the fence is not marked: %+v, %v", h.Marks, err)
	}
	low := b.store.Acquire(ctx, []grant.Ask{{Resource: "reward:p1", Owner: "low@h/1#x"}})[0].Lease
	if low == nil || low.Token != 101 {
		t.Fatalf("%+v", low)
	}
	b.grant(t, "p1", "e2", 5, low)
	if h, err = b.reader.Tokens(ctx, "reward:p1"); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, m := range marks(h, inspect.MarkRegression) {
		found = found || m.Token == 101 && strings.Contains(m.Why, "110")
	}
	if !found {
		t.Errorf("token 101 after 110 is not marked: %+v", h.Marks)
	}
	if m := marks(h, inspect.MarkGap); len(m) != 1 || !strings.Contains(m[0].Why, "102 to 109") {
		t.Errorf("the gap is not marked: %+v", h.Marks)
	}
	b.expire(t, "reward:p1")
	if err := b.Redis.Set(ctx, fenceKey, 109, 0).Err(); err != nil {
		t.Fatal(err)
	}
	b.store.Acquire(ctx, []grant.Ask{{Resource: "reward:p1", Owner: "twin@h/1#x"}})
	if h, err = b.reader.Tokens(ctx, "reward:p1"); err != nil {
		t.Fatal(err)
	}
	twins := marks(h, inspect.MarkTwoOwners)
	if len(twins) != 1 || twins[0].Token != 110 {
		t.Fatalf("two owners of 110 are not marked: %+v", h.Marks)
	}
	mustContain(t, "mark", twins[0].Why, "twin@h/1#x", high.Owner)
}

// What Redis lost is said to be lost; what PostgreSQL knows is shown.
func TestTokensWithoutHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grant(t, "p1", "e1", 5, nil)
	b.grant(t, "p1", "e2", 5, nil)
	blind, err := b.blind(t).Tokens(t.Context(), "reward:p1")
	if err != nil || len(blind.Missing) != 1 || len(blind.Tokens) != 2 || blind.Lost != "" {
		t.Fatalf("without Redis: %+v, %v", blind, err)
	}
	deaf, err := b.deaf(t).Tokens(t.Context(), "reward:p1")
	if err != nil || len(deaf.Missing) != 1 || len(deaf.Tokens) != 2 || deaf.Fence != nil {
		t.Fatalf("without PostgreSQL: %+v, %v", deaf, err)
	}
	b.Redis.Del(t.Context(), b.store.HistoryKey("reward:p1"), b.store.FenceKey("reward:p1"))
	h, err := b.reader.Tokens(t.Context(), "reward:p1")
	if err != nil || len(h.Tokens) != 2 || len(marks(h, inspect.MarkGap)) != 0 {
		t.Fatalf("%+v, %v", h, err)
	}
	mustContain(t, "what was lost", h.Lost, "2 tokens", "from 1 to 2", "no token counter",
		"will be 3")
	if _, err = b.reader.Tokens(t.Context(), "reward:nobody"); !errors.Is(err, inspect.ErrNotFound) {
		t.Fatalf("unknown: %v", err)
	}
	b.Pool.Close()
	if _, err = b.blind(t).Tokens(t.Context(), "reward:p1"); !grant.Unavailable(err) {
		t.Fatalf("without both: %v", err)
	}
}
