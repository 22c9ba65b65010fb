package tui

import (
	"context"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
)

// Inspector is what the screens ask. *inspect.Reader implements it.
type Inspector interface {
	LeaseReader
	PlayerReader
	AuditReader
	OutboxReader
	LogReader
	// Doctor looks at everything that granting depends on.
	Doctor(ctx context.Context) (inspect.Diagnosis, error)
	// Pulse says what happened in the last minutes and what waits.
	Pulse(ctx context.Context) (inspect.Pulse, error)
}

// LeaseReader answers questions about leases.
type LeaseReader interface {
	Leases(ctx context.Context, filter inspect.LeaseFilter) (inspect.LeaseList, error)
	// LeasesOf lists the leases of some resources, those that somebody holds.
	LeasesOf(ctx context.Context, resources []string) (inspect.LeaseList, error)
	// CountLeases says how many leases are in which state, and when they end.
	CountLeases(ctx context.Context) (inspect.LeaseCounts, error)
	Lease(ctx context.Context, resource string) (inspect.LeaseDetail, error)
	Tokens(ctx context.Context, resource string) (inspect.TokenHistory, error)
	// HeldSince says when the tokens of leases were issued, by resource, as far as known.
	HeldSince(ctx context.Context, leases []inspect.Lease) (map[string]time.Time, error)
	// ProveLease writes what shows a lease again.
	ProveLease(lease inspect.Lease) []inspect.Proof
	// Refused lists writes that the fence refused.
	Refused(ctx context.Context, query inspect.RefusedQuery) (inspect.RefusedPage, error)
}

// PlayerReader answers questions about players.
type PlayerReader interface {
	Player(ctx context.Context, query inspect.PlayerQuery) (inspect.PlayerPage, error)
	Explain(ctx context.Context, player, event string) (inspect.Explanation, error)
	FindPlayers(ctx context.Context, prefix string, limit int) ([]inspect.PlayerName, error)
	// PlayerFindings says what audits found about a player.
	PlayerFindings(ctx context.Context, player string) ([]inspect.PlayerFinding, error)
}

// OutboxReader answers questions about deliveries.
type OutboxReader interface {
	Outbox(ctx context.Context, query inspect.OutboxQuery) (inspect.OutboxPage, error)
	OutboxBacklog(ctx context.Context) (inspect.OutboxBacklog, error)
	OutboxAges(ctx context.Context) (inspect.OutboxAges, error)
	OutboxShow(ctx context.Context, ledgerID int64) (inspect.OutboxDetail, error)
}

// LogReader answers questions about what operators did.
type LogReader interface {
	Log(ctx context.Context, query inspect.LogQuery) (inspect.LogPage, error)
	VerifyLog(ctx context.Context, check inspect.LogCheck) (inspect.LogVerdict, error)
}

// AuditReader answers questions about audits, and runs them.
type AuditReader interface {
	AuditRuns(ctx context.Context, limit int) ([]inspect.AuditRun, error)
	AuditFindings(ctx context.Context, run int64, take func(inspect.Finding) error) error
	AuditFinding(ctx context.Context, run, id int64) (inspect.Finding, error)
	AuditPrevious(ctx context.Context, run int64) (older int64, err error)
	AuditCompare(ctx context.Context, older, newer int64) (inspect.AuditChanges, error)
}

// Operator is what the dialogs do. *repair.Operator implements it.
type Operator interface {
	// Rights says what the database role may do, and to which of some roles it belongs.
	Rights(ctx context.Context, roles ...string) (repair.Rights, error)
	Release(ctx context.Context, req repair.ReleaseRequest) (repair.Release, error)
	ReleaseMany(ctx context.Context, set repair.ReleaseSet, onDone func(repair.ReleaseOf)) (
		all []repair.ReleaseOf)
	Burn(ctx context.Context, req repair.BurnRequest) (repair.Burn, error)
	Acknowledge(ctx context.Context, req repair.AckRequest) (repair.Ack, error)
	Arm(ctx context.Context, req repair.ArmRequest) (id int64, err error)
	Disarm(ctx context.Context, window repair.Window) (id int64, err error)
	Reseed(ctx context.Context, req repair.ReseedRequest) (repair.Reseed, error)
	PreviewGrant(ctx context.Context, req grant.Request) (repair.GrantPreview, error)
	Grant(ctx context.Context, req grant.Request) (repair.GrantDeed, error)
	ChangeOutbox(ctx context.Context, req repair.OutboxRequest) (repair.OutboxChange, error)
	ChangeOutboxMany(ctx context.Context, set repair.OutboxSet, onDone func(repair.OutboxOf)) (
		all []repair.OutboxOf)
}

// Commands is the command line's grammar, as far as ":" needs it.
type Commands interface {
	// Complete returns what can stand at the end of an unfinished line, such as the next word, a
	// flag or a name from live data. It may ask servers.
	Complete(ctx context.Context, words []string) []Completion
	// Describe returns the usage and the purpose of the command that the words begin.
	Describe(words []string) (usage, purpose string)
	// Read runs a command that only reads and returns what it prints. It refuses all others with
	// a reason for the operator.
	Read(ctx context.Context, words []string) (output string, err error)
}

// Completion is one way to go on with a command line.
type Completion struct{ Text, Help string }
