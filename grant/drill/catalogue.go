package drill

import (
	"context"
	"time"
)

// script is a drill: what it is called, and how it is played.
type script struct {
	Description
	// play acts on the stage: it makes what is due, fills the timeline and adds refusals. It
	// returns an error only when the drill could not be played as it is meant; damage is for the
	// checks to find.
	play func(ctx context.Context, st *stage) error
	// whole plays a drill that sets its own stage; play is nil then.
	whole func(ctx context.Context, opt Options) (Report, error)
	// complete fills in and checks the options that only this drill knows; nil for most.
	complete func(*Options) error
	// key is true for drills that keep the unique key in every run.
	key bool
	// bare is true for drills that pay no rewards: only the checks that play adds count.
	bare bool
}

const ttlShort = time.Second // of drills in which the length of a lease is not the point

func workers() [3]string { return [3]string{"worker A", "redis lease", "worker B"} }

// catalogue holds the drills, in the order in which they are shown. A new drill is one entry here
// and one file.
func catalogue() []script {
	return []script{
		pausedHolder(), lateRenewalScript(), partitionScript(), killBeforeScript(), killAfterScript(),
		lostReplyScript(), duplicateMessagesScript(), wrongReleaseScript(), failoverScript(),
		relayCrashScript(), randomKeyScript(),
		{
			Description: Description{
				Name: LostUpdate,
				Plays: "Two programs read the same 100 points and each take 30: played with nothing, a " +
					"row lock, a version and a lease.",
				Defences: []Defence{All}, Columns: [3]string{"worker 1", "balance", "worker 2"},
				TTL: 5 * time.Second,
			},
			whole: lostUpdate, complete: completeLostUpdate,
		},
		dailyRewardScript(), roomOwnerScript(), rankingScript(),
	}
}
