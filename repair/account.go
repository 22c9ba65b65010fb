package repair

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"rewardctl/grant"
)

// accounted is a Granter whose postings one row of the operator log accounts for: the intent to
// grant a file or a plan. The database refuses postings of an operator without such a row.
type accounted struct {
	engine Granter
	deed   json.RawMessage // as reward_grant_logged knows it
}

// underIntent returns a Granter that posts on account of an intent.
func underIntent(engine Granter, intent int64) Granter {
	return accounted{engine, json.RawMessage(`{"intent":"` + strconv.FormatInt(intent, 10) + `"}`)}
}

// GrantMany grants as the engine does.
func (a accounted) GrantMany(
	ctx context.Context, requests []grant.Request,
) ([]grant.Result, error) {
	requests = slices.Clone(requests)
	for i := range requests {
		requests[i].Deed = a.deed
	}
	return a.engine.GrantMany(ctx, requests)
}
