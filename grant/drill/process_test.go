package drill_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant/drill"
	"rewardctl/grant/granttest"
)

// The test binary plays a worker when this variable names a database; the other names Redis.
const (
	workerVariable = "REWARDCTL_TEST_DRILL_POSTGRES"
	redisVariable  = "REWARDCTL_TEST_DRILL_REDIS"
)

// spawner starts workers on the servers of a world.
func spawner(w *granttest.World) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), workerVariable+"="+w.URL(), redisVariable+"="+w.RedisAddr)
		return cmd
	}
}

// playWorker is main of a worker's process.
func playWorker() int {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv(workerVariable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer pool.Close()
	client := redis.NewClient(&redis.Options{
		Addr: os.Getenv(redisVariable), ContextTimeoutEnabled: true,
	})
	defer client.Close()
	if err := drill.Work(ctx, drill.WorkOptions{
		In: os.Stdin, Out: os.Stdout, Pool: pool, Redis: client, NewID: newID,
	}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
