package drill

import (
	"context"
	"fmt"

	"rewardctl/grant"
)

const randomKey = "random-key"

func randomKeyScript() script {
	return script{
		Description: Description{
			Name: randomKey,
			Plays: "The game server hears no answer and asks again: with an event id made anew on every " +
				"try, or with the one that the reward's meaning gives it.",
			Defences: []Defence{None, All},
			Columns:  [3]string{"game server", "postings", "engine"}, TTL: ttlShort,
		},
		play: playRandomKey, key: true,
	}
}

func playRandomKey(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	st.look = func(ctx context.Context) (string, error) {
		c, err := st.count(ctx)
		return number(c.Postings), err
	}
	const least, more = 2, 3
	for try := range least + st.random.IntN(more) {
		request := st.request(r, nil)
		if st.opt.Defence == None {
			request.EventID = "drill:" + st.opt.NewID()
		}
		ask := fmt.Sprintf("asks for %d %s under %.30s", expected, kind, request.EventID)
		if try > 0 {
			ask = "hears nothing, " + ask
		}
		if err := st.row(ctx, ask, ""); err != nil {
			return err
		}
		result, err := st.engine.Grant(ctx, request)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s: ledger %d; the answer is lost", result.Outcome, result.LedgerID)
		if result.Outcome != grant.Applied {
			p, err := st.answered("A", result)
			if err != nil {
				return err
			}
			st.refused(*p.refused)
		}
		if err := st.row(ctx, "", text); err != nil {
			return err
		}
	}
	st.note("The unique key stands in both runs: it cannot know that two ids mean one reward. " +
		"rewardctl warns of ids that look random.")
	return nil
}
