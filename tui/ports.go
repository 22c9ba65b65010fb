package tui

import (
	"context"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
)

// Inspector is what the screens ask. *inspect.Reader implements it.
type Inspector interface {
	Leases(ctx context.Context, filter inspect.LeaseFilter) (inspect.LeaseList, error)
	Lease(ctx context.Context, resource string) (inspect.LeaseDetail, error)
	Player(ctx context.Context, query inspect.PlayerQuery) (inspect.PlayerPage, error)
	Explain(ctx context.Context, player, event string) (inspect.Explanation, error)
}

// Operator is what the dialogs do. *repair.Operator implements it.
type Operator interface {
	Release(ctx context.Context, req repair.ReleaseRequest) (repair.Release, error)
	PreviewGrant(ctx context.Context, req grant.Request) (repair.GrantPreview, error)
	Grant(ctx context.Context, req grant.Request) (repair.GrantDeed, error)
}
