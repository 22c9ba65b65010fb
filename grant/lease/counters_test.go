package lease_test

import (
	"slices"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// TestCounters reads and raises token counters, on a real Redis.
func TestCounters(t *testing.T) {
	t.Parallel()
	s := open(t, lease.Options{TTL: 10 * time.Second})
	held := s.take(t, grant.Ask{Resource: "held", Owner: "a", Floor: 40})
	s.take(t, grant.Ask{Resource: "odd*[x]{}", Owner: "b"})
	for resource, text := range map[string]string{
		"low": "3", "text": "1e+17", "high": "9007199254740991", "same": "7",
	} {
		if err := s.client.Set(t.Context(), s.FenceKey(resource), text, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.client.LPush(t.Context(), s.FenceKey("list"), "x").Err(); err != nil {
		t.Fatal(err)
	}
	names := []string{"held", "low", "text", "high", "same", "list", "none"}
	seen, err := s.Counters(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []lease.CounterSeen{
		{Resource: "held", Text: "41", Token: 41, Lock: lease.FormatValue(held.Token, "a")},
		{Resource: "low", Text: "3", Token: 3},
		{Resource: "text", Text: "1e+17", Damaged: true},
		{Resource: "high", Text: "9007199254740991", Damaged: true},
		{Resource: "same", Text: "7", Token: 7},
		{Resource: "list", Text: "(list)", Damaged: true},
		{Resource: "none"},
	} {
		got := seen[i]
		if got.Resource != want.Resource || got.Text != want.Text || got.Token != want.Token ||
			got.Damaged != want.Damaged || got.Lock != want.Lock {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	var scanned []string
	err = s.ScanCounters(t.Context(), func(page []string) error {
		scanned = append(scanned, page...)
		return nil
	})
	slices.Sort(scanned)
	want := []string{"held", "high", "list", "low", "odd*[x]{}", "same", "text"}
	if err != nil || !slices.Equal(slices.Compact(scanned), want) {
		t.Errorf("scanned %q, %v; want %q", scanned, err, want)
	}
	raiseCounters(t, s, seen)
}

func raiseCounters(t *testing.T, s *bench, seen []lease.CounterSeen) {
	t.Helper()
	if err := s.client.Set(t.Context(), s.FenceKey("low"), "4", 0).Err(); err != nil {
		t.Fatal(err) // it moves after it was seen
	}
	answers, errs := s.RaiseCounters(t.Context(), seen, []int64{40, 9, 9, 9, 7, 9, 9})
	for i, want := range []struct {
		answer lease.CounterAnswer
		now    string
	}{
		{lease.CounterKept, "41"},
		{lease.CounterChanged, "4"},
		{lease.CounterRaised, "9"},
		{lease.CounterRaised, "9"},
		{lease.CounterKept, "7"},
		{lease.CounterRaised, "9"},
		{lease.CounterRaised, "9"},
	} {
		now := s.client.Get(t.Context(), s.FenceKey(seen[i].Resource)).Val()
		if errs[i] != nil || answers[i] != want.answer || now != want.now {
			t.Errorf("%s: answer %d, %v, counter %q; want %d, %q", seen[i].Resource, answers[i],
				errs[i], now, want.answer, want.now)
		}
	}
	next := s.take(t, grant.Ask{Resource: "list", Owner: "c"})
	if next.Token != 10 {
		t.Errorf("the next token is %d, want 10", next.Token)
	}
}
