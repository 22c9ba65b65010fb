package tuitest

import (
	"context"
	"fmt"

	"rewardctl/grant"
	"rewardctl/repair"
)

// ReleaseMany implements tui.Operator.
func (w *World) ReleaseMany(
	ctx context.Context, set repair.ReleaseSet, onDone func(repair.ReleaseOf),
) []repair.ReleaseOf {
	out := make([]repair.ReleaseOf, len(set.Requests))
	for i, req := range set.Requests {
		out[i].Request = req
		out[i].Release, out[i].Err = w.Release(ctx, req)
		onDone(out[i])
	}
	return out
}

// Rights implements tui.Operator: the role may do everything unless Forbid said otherwise.
func (w *World) Rights(ctx context.Context, _ ...string) (repair.Rights, error) {
	if err := w.enter(ctx); err != nil {
		return repair.Rights{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rights, nil
}

// Forbid takes rights away from the database role, by the words of the deeds.
func (w *World) Forbid(role string, lacks map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	member := w.rights.Member
	w.rights = repair.NewRights(role, lacks)
	w.rights.Member = member
}

// Join makes the database role a member of others.
func (w *World) Join(roles ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rights.Member = roles
}

// Arm implements tui.Operator.
func (w *World) Arm(ctx context.Context, req repair.ArmRequest) (int64, error) {
	if err := w.enter(ctx); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = append(w.armed, req)
	return int64(len(w.armed)), nil
}

// Disarm implements tui.Operator.
func (w *World) Disarm(ctx context.Context, window repair.Window) (int64, error) {
	if err := w.enter(ctx); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, window)
	return 1, nil
}

// Windows returns the write windows that were opened and those that have closed, as logged.
func (w *World) Windows() (armed []repair.ArmRequest, ended []repair.Window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(armed, w.armed...), append(ended, w.ended...)
}

// Burn implements tui.Operator: the holder of a token that is not above the fence cannot write.
func (w *World) Burn(ctx context.Context, q repair.BurnRequest) (repair.Burn, error) {
	if err := w.enter(ctx); err != nil {
		return repair.Burn{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l, held := w.leases[q.Resource]
	b := repair.Burn{Resource: q.Resource, Token: q.Token, FenceBefore: l.Fence}
	if !held || l.Token < q.Token {
		return b, &repair.PreconditionError{
			Resource: q.Resource, Have: fmt.Sprintf("no trace that token %d was ever issued", q.Token),
			Want: fmt.Sprintf("token %d", q.Token), WayOut: "look again",
		}
	}
	switch fence := l.Fence; {
	case fence != nil && fence.Token > q.Token:
		b.Burning, b.FenceAfter = repair.FenceAbove, fence
	case fence != nil && fence.Token == q.Token && grant.Burned(fence.Owner):
		b.Burning, b.FenceAfter = repair.AlreadyBurned, fence
	case q.DryRun:
		b.Burning = repair.WouldBurn
	default:
		b.Burning, b.ActionID, b.At = repair.Burned, 9, w.now()
		b.FenceAfter = &grant.Fence{
			Resource: q.Resource, Token: q.Token, Owner: grant.BurnOwner("x"),
		}
		l.Fence = b.FenceAfter
		w.leases[q.Resource] = l
		w.burned = append(w.burned, q)
	}
	return b, nil
}

// Burned returns the burns that were carried out.
func (w *World) Burned() []repair.BurnRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.BurnRequest(nil), w.burned...)
}

// Behind puts the counter of a resource below its fence.
func (w *World) Behind(resource string, counter, fence int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.behind = append(w.behind, repair.ReseedItem{FenceFinding: repair.FenceFinding{
		Resource: resource, State: repair.CounterBack, Counter: fmt.Sprint(counter), Token: counter,
		Fence: &grant.Fence{Resource: resource, Token: fence, Owner: "worker-90@game-1/77#aa"},
	}, To: fence})
}

// Reseed implements tui.Operator.
func (w *World) Reseed(ctx context.Context, q repair.ReseedRequest) (repair.Reseed, error) {
	if err := w.enter(ctx); err != nil {
		return repair.Reseed{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := repair.Reseed{Checked: 12, Counts: map[repair.ReseedAnswer]int{}}
	answer := repair.WouldReseed
	if !q.DryRun {
		answer = repair.Reseeded
		out.IntentID, out.ResultID = 20, 21
		w.reseeded = append(w.reseeded, q)
	}
	for _, item := range w.behind {
		item.Answer = answer
		out.Items = append(out.Items, item)
	}
	if out.Counts[answer] = len(out.Items); !q.DryRun {
		w.behind = nil
	}
	return out, nil
}

// Reseeded returns the reseeds that were carried out.
func (w *World) Reseeded() []repair.ReseedRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.ReseedRequest(nil), w.reseeded...)
}
