package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
)

// payment is what became of one attempt to pay.
type payment struct {
	ledgerID int64    // the posting; 0 when refused
	refused  *Refusal // nil when paid
}

// payer pays with the defences of a run, in the drill's process or in a worker's.
type payer struct {
	pool    *pgxpool.Pool
	engine  *grant.Engine
	defence Defence
	name    string    // of the drill
	never   time.Time // zero: the deadline of a lease that its holder vouches for
}

// pay posts the reward under a lease that the worker believes to hold.
func (p *payer) pay(
	ctx context.Context, worker string, r reward, held grant.Lease,
) (payment, error) {
	switch p.defence {
	case All:
		// A paused worker does not know how late it is. It vouches for its lease, so that nothing
		// but the fence is left to stop it.
		held.Until = p.never
		return p.payByEngine(ctx, worker, r, &held)
	case Fence, TokenOnly:
		return p.payFenced(ctx, worker, r, held)
	case Unique:
		return p.post(ctx, worker, r, held, payOnceSQL)
	}
	return p.post(ctx, worker, r, held, payPlainSQL)
}

// payFenced is what a worker without the engine does to have the fence checked.
func (p *payer) payFenced(
	ctx context.Context, worker string, r reward, held grant.Lease,
) (payment, error) {
	var id int64
	err := p.pool.QueryRow(ctx, payFencedSQL, pgx.QueryExecModeExec, r.player, r.event, kind,
		expected, held.Token, held.Owner, p.name, held.Resource, p.defence == Fence).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return p.refusedByFence(ctx, worker, held)
	}
	if err != nil {
		return payment{}, postgresError("pay", err)
	}
	return payment{ledgerID: id}, nil
}

// post runs one of the statements that pay. They travel in one message: a statement that is under
// way when the line is cut commits or does not, but never waits for more.
func (p *payer) post(
	ctx context.Context, worker string, r reward, held grant.Lease, statement string,
) (payment, error) {
	var id int64
	err := p.pool.QueryRow(ctx, statement, pgx.QueryExecModeExec, r.player, r.event, kind, expected,
		held.Token, held.Owner, p.name).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return p.refusedByKey(ctx, worker, r)
	}
	if err != nil {
		return payment{}, postgresError("pay", err)
	}
	return payment{ledgerID: id}, nil
}

func (p *payer) refusedByFence(
	ctx context.Context, worker string, held grant.Lease,
) (payment, error) {
	fence := grant.Fence{Resource: held.Resource}
	err := p.pool.QueryRow(ctx, fenceReadSQL, held.Resource).Scan(&fence.Token, &fence.Owner)
	if err != nil {
		return payment{}, postgresError("read the fence", err)
	}
	return payment{refused: &Refusal{
		Worker: worker, Line: Fence, Detail: fenceDetail(fence, held.Token),
	}}, nil
}

func (p *payer) refusedByKey(ctx context.Context, worker string, r reward) (payment, error) {
	there, err := p.posted(ctx, r)
	if err != nil {
		return payment{}, err
	}
	return payment{refused: &Refusal{
		Worker: worker, Line: Unique, Detail: keyDetail(there),
	}}, nil
}

// posted finds the first posting of an event; ID 0 means that there is none.
func (p *payer) posted(ctx context.Context, r reward) (grant.Posting, error) {
	there := grant.Posting{PlayerID: r.player, EventID: r.event}
	err := p.pool.QueryRow(ctx, ledgerReadSQL, r.player, r.event).
		Scan(&there.ID, &there.Token, &there.Owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return there, nil
	}
	if err != nil {
		return there, postgresError("read the ledger", err)
	}
	return there, nil
}

// request is what a worker asks the engine for. A nil lease has the engine take one of its own.
func (p *payer) request(r reward, held *grant.Lease) grant.Request {
	return grant.Request{
		PlayerID: r.player, EventID: r.event, Kind: kind, Amount: expected,
		Actor: "drill", Reason: p.name, Resource: r.resource, Held: held,
	}
}

func (p *payer) payByEngine(
	ctx context.Context, worker string, r reward, held *grant.Lease,
) (payment, error) {
	result, err := p.engine.Grant(ctx, p.request(r, held))
	if err != nil {
		return payment{}, err
	}
	return p.answered(worker, result)
}

// answered reads an engine's answer.
func (p *payer) answered(worker string, result grant.Result) (payment, error) {
	refusal := &Refusal{Worker: worker, Outcome: result.Outcome}
	switch result.Outcome {
	case grant.Applied:
		return payment{ledgerID: result.LedgerID}, nil
	case grant.StaleToken, grant.TokenCollision:
		refusal.Line, refusal.Detail = Fence, fenceDetail(*result.Fence, result.Token)
	case grant.Replayed, grant.Mismatch:
		refusal.Line, refusal.Detail = Unique, keyDetail(*result.Existing)
	case grant.LeaseHeld:
		refusal.Line = Lease
		refusal.Detail = fmt.Sprintf("token %d of %s holds it", result.Holder.Token,
			workerName(result.Holder.Owner))
	case grant.Failed, grant.Rejected, grant.Unknown:
		return payment{}, fmt.Errorf("drill %s: worker %s was answered %s, which the drill does "+
			"not provoke", p.name, worker, result.Outcome)
	}
	return payment{refused: refusal}, nil
}

func fenceDetail(fence grant.Fence, token int64) string {
	if fence.Token == token {
		return fmt.Sprintf("token %d was accepted for another owner, %s", token,
			workerName(fence.Owner))
	}
	return fmt.Sprintf("token %d is below the accepted token %d", token, fence.Token)
}

func keyDetail(there grant.Posting) string {
	return fmt.Sprintf("the event is posted already: ledger %d under token %d", there.ID,
		there.Token)
}
