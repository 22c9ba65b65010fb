package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
)

// payment is what became of one attempt to pay.
type payment struct {
	ledgerID int64    // the posting; 0 when refused
	refused  *Refusal // nil when paid
}

// pay posts the reward under a lease that the worker believes to hold, with the run's defences.
func (r *race) pay(ctx context.Context, worker string, lease grant.Lease) (payment, error) {
	if r.opt.Defence == All {
		return r.payByEngine(ctx, worker, &lease)
	}
	var p payment
	err := pgx.BeginTxFunc(ctx, r.db.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted},
		func(tx pgx.Tx) error {
			var err error
			p, err = r.payByHand(ctx, tx, worker, lease)
			return err
		})
	if err != nil {
		return payment{}, postgresError("pay", err)
	}
	return p, nil
}

// payByHand is what a worker without the engine does, in one transaction.
func (r *race) payByHand(
	ctx context.Context, tx pgx.Tx, worker string, lease grant.Lease,
) (payment, error) {
	if r.opt.Defence == Fence {
		tag, err := tx.Exec(ctx, fenceRaiseSQL, lease.Resource, lease.Token, lease.Owner)
		if err != nil {
			return payment{}, err
		}
		if tag.RowsAffected() == 0 {
			return r.refusedByFence(ctx, tx, worker, lease)
		}
	}
	post := payPlainSQL
	if r.opt.Defence == Unique {
		post = payOnceSQL
	}
	var id int64
	err := tx.QueryRow(ctx, post, r.player, r.event, kind, expected, lease.Token, lease.Owner).
		Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return r.refusedByKey(ctx, tx, worker)
	}
	if err != nil {
		return payment{}, err
	}
	effects := &pgx.Batch{}
	effects.Queue(balanceAddSQL, r.player, kind, expected)
	effects.Queue(outboxAddSQL, id)
	effects.Queue(claimApplySQL, r.player, r.event, lease.Token)
	return payment{ledgerID: id}, tx.SendBatch(ctx, effects).Close()
}

func (r *race) refusedByFence(
	ctx context.Context, tx pgx.Tx, worker string, lease grant.Lease,
) (payment, error) {
	fence := grant.Fence{Resource: lease.Resource}
	err := tx.QueryRow(ctx, fenceReadSQL, lease.Resource).Scan(&fence.Token, &fence.Owner)
	return payment{refused: &Refusal{
		Worker: worker, Line: Fence, Detail: fenceDetail(fence, lease.Token),
	}}, err
}

func (r *race) refusedByKey(ctx context.Context, tx pgx.Tx, worker string) (payment, error) {
	there := grant.Posting{PlayerID: r.player, EventID: r.event}
	err := tx.QueryRow(ctx, ledgerReadSQL, r.player, r.event).
		Scan(&there.ID, &there.Token, &there.Owner)
	return payment{refused: &Refusal{
		Worker: worker, Line: Unique, Detail: keyDetail(there),
	}}, err
}

// payByEngine asks the engine, with a lease that the caller vouches for, or with none: the engine
// then takes one of its own.
func (r *race) payByEngine(
	ctx context.Context, worker string, lease *grant.Lease,
) (payment, error) {
	request := grant.Request{
		PlayerID: r.player, EventID: r.event, Kind: kind, Amount: expected,
		Actor: "drill", Reason: PausedHolder, Resource: r.resource,
	}
	if lease != nil {
		// A paused worker does not know how late it is. It vouches for its lease, so that
		// nothing but the fence is left to stop it.
		held := *lease
		held.Until = r.never
		request.Held = &held
	}
	result, err := r.engine.Grant(ctx, request)
	if err != nil {
		return payment{}, err
	}
	refusal := &Refusal{Worker: worker, Outcome: result.Outcome}
	switch result.Outcome {
	case grant.Applied:
		return payment{ledgerID: result.LedgerID}, nil
	case grant.StaleToken, grant.TokenCollision:
		refusal.Line, refusal.Detail = Fence, fenceDetail(*result.Fence, result.Token)
	case grant.Replayed, grant.Mismatch:
		refusal.Line, refusal.Detail = Unique, keyDetail(*result.Existing)
	case grant.Failed, grant.Rejected, grant.LeaseHeld, grant.Unknown:
		return payment{}, fmt.Errorf("drill %s: worker %s was answered %s, which the drill does "+
			"not provoke", PausedHolder, worker, result.Outcome)
	}
	return payment{refused: refusal}, nil
}

func fenceDetail(fence grant.Fence, token int64) string {
	return fmt.Sprintf("token %d is below the accepted token %d", token, fence.Token)
}

func keyDetail(there grant.Posting) string {
	return fmt.Sprintf("the event is posted already: ledger %d under token %d", there.ID,
		there.Token)
}
