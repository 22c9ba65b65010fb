package repair_test

import (
	"context"
	"errors"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// A file has a row before the first grant and one after the last, with what came of its rows; one
// that was stopped says so, and given again it settles what was left open.
func TestApplyFileIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	request := repair.FileRequest{Path: "grants.csv", Campaign: "c1", Version: 1, Reason: "why"}
	apply := func(engine repair.Granter, opt repair.ApplyOptions) error {
		t.Helper()
		file := openFile(t, writeFile(t, "grants.csv", manyRows(3)))
		_, err := b.operator.ApplyFile(t.Context(), engine, file, request, opt)
		return err
	}
	if err := apply(b.engine, repair.ApplyOptions{DryRun: true, Preview: b.operator}); err != nil {
		t.Fatal(err)
	}
	if n := b.scalar(t, "select count(*) from operator_action"); n != "0" {
		t.Fatalf("a dry run wrote %s rows", n)
	}
	stopped := &repair.StoppedError{}
	if err := apply(downEngine{}, repair.ApplyOptions{}); !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	if err := apply(b.engine, repair.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	got := b.scalar(t, "select string_agg(concat_ws(' ', phase, intent, outcome, after), ', ' "+
		"order by id) from operator_action where action = 'grant apply' and target = 'c1'")
	want := `intent intended, result 1 failed: nothing was granted {"failed": "3"}, ` +
		`intent intended, result 3 applied {"applied": "3"}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	b.CheckInvariants(t)
}

// downEngine is an engine whose servers are gone.
type downEngine struct{}

func (downEngine) GrantMany(
	_ context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	err := &grant.BackendError{Backend: grant.Redis, Op: "acquire", Err: errors.New("down")}
	results := make([]grant.Result, len(requests))
	for i := range results {
		results[i].Outcome, results[i].Err = grant.Failed, err
	}
	return results, err
}

func TestRecordWantsAReason(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var refused *grant.Rejection
	if _, err := b.operator.Record(t.Context(), repair.Deed{Words: "x"}); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	id, err := b.operator.Record(t.Context(), repair.Deed{
		Words: "migrate up", About: "tables", Argv: []string{"rewardctl", "migrate", "up"},
		Reason: "r", Outcome: "done", After: map[string]string{"version": "9"},
	})
	if err != nil || id != 1 {
		t.Fatalf("%d, %v", id, err)
	}
	if got := b.scalar(t, "select concat_ws(' ', phase, action, target, after ->> 'version', "+
		"command) from operator_action"); got != "result migrate up tables 9 rewardctl migrate up" {
		t.Error(got)
	}
}
