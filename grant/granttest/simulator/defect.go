package simulator

// Defect is a rule of the protocol that is broken on purpose. Sound breaks none.
type Defect uint8

// The defects, each with what it leaves out.
const (
	Sound Defect = iota
	// NoFloor: acquire does not raise the counter to the fence.
	NoFloor
	// FloorIfMissing: the floor is used only when the counter is missing, not when it is stale.
	FloorIfMissing
	// FenceIgnoresOwner: an equal token passes the fence whoever its owner is.
	FenceIgnoresOwner
	// SharedOwner: a worker uses one owner for all its acquisitions.
	SharedOwner
	// AcquireForgetsOwner: acquire calls the own lock busy, as SET NX does after a lost reply.
	AcquireForgetsOwner
	// NoUniqueKey: the ledger accepts the same event again.
	NoUniqueKey
	// FreshEvent: a retry makes a new event id.
	FreshEvent
	// AbsentMeansNot: after a lost answer the ledger is read, and no row means not granted.
	AbsentMeansNot
	// LostMeansFailed: a lost answer is reported as a failure without effect.
	LostMeansFailed
	// ReleaseUnchecked: release deletes whatever lock is there.
	ReleaseUnchecked
	// BurnNext: a burn raises the fence to the token after the one that is burned.
	BurnNext
	// ReleaseWithoutBurn: the operator deletes the lock and leaves the fence alone.
	ReleaseWithoutBurn
	// OutboxApart: the outbox row is written by a call of its own after the grant.
	OutboxApart
	// MarkBeforeSend: the relay marks a row delivered before it sends it.
	MarkBeforeSend
	// MarkWithoutClaim: the relay's mark does not check that its claim still stands.
	MarkWithoutClaim
	// ClaimAnyRow: the relay claims any row of a player, not the oldest undelivered one.
	ClaimAnyRow
	// ReceiverForgets: the item server applies a repeated key again.
	ReceiverForgets
)

var defectNames = [...]string{
	Sound: "sound", NoFloor: "no-floor", FloorIfMissing: "floor-if-missing",
	FenceIgnoresOwner: "fence-ignores-owner", SharedOwner: "shared-owner",
	AcquireForgetsOwner: "acquire-forgets-owner", NoUniqueKey: "no-unique-key",
	FreshEvent: "fresh-event", AbsentMeansNot: "absent-means-not",
	LostMeansFailed: "lost-means-failed", ReleaseUnchecked: "release-unchecked",
	BurnNext: "burn-next", ReleaseWithoutBurn: "release-without-burn",
	OutboxApart: "outbox-apart", MarkBeforeSend: "mark-before-send",
	MarkWithoutClaim: "mark-without-claim", ClaimAnyRow: "claim-any-row",
	ReceiverForgets: "receiver-forgets",
}

// String is the defect's word, such as "no-floor".
func (d Defect) String() string { return defectNames[d] }

// Defects lists all defects but Sound.
func Defects() []Defect {
	all := make([]Defect, 0, len(defectNames)-1)
	for d := range defectNames {
		if Defect(d) != Sound {
			all = append(all, Defect(d))
		}
	}
	return all
}
