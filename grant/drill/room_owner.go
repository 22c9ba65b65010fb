package drill

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

const roomOwner = "room-owner"

func roomOwnerScript() script {
	return script{
		Description: Description{
			Name: roomOwner,
			Plays: "Game server A owns a room and stalls; B takes the room over and lets a player in; A " +
				"wakes up and writes the room as it remembers it.",
			Defences: []Defence{None, Fence, All},
			Columns:  [3]string{"server A", "room", "server B"}, TTL: ttlShort,
		},
		play: playRoomOwner, bare: true,
	}
}

// room is a room in Redis: who is in it, and, with the fence, the token of the last writer.
type room struct {
	st  *stage
	key string
}

func playRoomOwner(ctx context.Context, st *stage) error {
	r := reward{resource: "room:7"}
	st.watch(r.resource)
	it := room{st: st, key: st.key("room", "room:7")}
	st.look = it.look
	a, err := st.take(ctx, "server-a", r)
	if err != nil {
		return err
	}
	if err := it.writes(ctx, "server-a", a, "owns the room; ada joins", "ada"); err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "server-b", r)
	if err != nil {
		return err
	}
	seen, err := it.players(ctx)
	if err != nil {
		return err
	}
	if err := it.writes(ctx, "server-b", b, "bob joins", seen+" bob"); err != nil {
		return err
	}
	if err := it.writes(ctx, "server-a", a, "wakes up; cy joins", "ada cy"); err != nil {
		return err
	}
	if err := st.giveBack(ctx, "server-a", a); err != nil {
		return err
	}
	if seen, err = it.players(ctx); err != nil {
		return err
	}
	// Whoever was refused by A joins where the room is now; then the room is handed over in order.
	if !strings.Contains(seen, "cy") {
		if err := it.writes(ctx, "server-b", b, "cy is sent here and joins", seen+" cy"); err != nil {
			return err
		}
	}
	if err := st.giveBack(ctx, "server-b", b); err != nil {
		return err
	}
	if seen, err = it.players(ctx); err != nil {
		return err
	}
	const joined = 3
	st.expect("players in the room = players that joined", joined, int64(len(strings.Fields(seen))))
	st.note("Room and fence live in the same Redis: what a failover loses, it loses of both.")
	return nil
}

func (it room) players(ctx context.Context) (string, error) {
	seen, err := it.st.opt.Redis.HGet(ctx, it.key, "players").Result()
	if err != nil {
		return "", redisError("read the room", err)
	}
	return seen, nil
}

func (it room) look(ctx context.Context) (string, error) {
	fields, err := it.st.opt.Redis.HGetAll(ctx, it.key).Result()
	if err != nil {
		return "", redisError("read the room", err)
	}
	if len(fields) == 0 {
		return "empty", nil
	}
	if fields["token"] == "" {
		return fields["players"], nil
	}
	return fields["players"] + ", written under token " + fields["token"], nil
}

// writes writes the room, under the fence or not.
func (it room) writes(
	ctx context.Context, server string, held grant.Lease, why, players string,
) error {
	if it.st.opt.Defence == None {
		if err := it.st.opt.Redis.HSet(ctx, it.key, "players", players).Err(); err != nil {
			return redisError("write the room", err)
		}
		return it.st.says(ctx, server, why+": writes "+players)
	}
	accepted, err := redis.NewScript(roomWriteLua).Run(ctx, it.st.opt.Redis, []string{it.key},
		number(held.Token), players).Text()
	if err != nil {
		return redisError("write the room", err)
	}
	if accepted == number(held.Token) {
		return it.st.says(ctx, server, why+": writes "+players)
	}
	detail := fmt.Sprintf("token %d is below the accepted token %s", held.Token, accepted)
	it.st.refused(Refusal{Worker: letter(server), Line: Fence, Detail: detail})
	return it.st.says(ctx, server, why+": refused, "+detail)
}
