package main

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
	"rewardctl/grant/schema"
	"rewardctl/inspect"
	"rewardctl/repair"
)

// What a role may not do is known beforehand, by its privileges, and what it may not see is told as
// that and not as a server that is down.
func TestRightsOfRoles(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	deeds := []string{
		"lease release", "lease burn", "fence reseed", "grant create", "ledger reverse",
		"outbox requeue", "outbox park", "grant plan", "grant approve", "grant reject",
		"grant pause", "grant cancel", "grant apply", "audit run", "audit ack", "arm",
	}
	for role, may := range map[string][]string{"view": {}, "relay": {}, "operator": deeds} {
		pool, err := pgxpool.New(t.Context(), account(t, w, role, role))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		operator, err := repair.New(pool, store, nil, repair.Options{Operator: "o", NewID: newID})
		if err != nil {
			t.Fatal(err)
		}
		its := schema.DefaultPrefix(w.Schema) + "_" + role
		rights, err := operator.Rights(t.Context(), "pg_monitor", its, "no_such_role")
		if err != nil || rights.Role != pool.Config().ConnConfig.User {
			t.Fatalf("%s: role %q, %v", role, rights.Role, err)
		}
		if !slices.Equal(rights.Member, []string{its}) {
			t.Errorf("%s is a member of %q", role, rights.Member)
		}
		for _, deed := range deeds {
			lacks := rights.Lacks(deed)
			if allowed := contains(may, deed); allowed != (lacks == "") {
				t.Errorf("%s lacks %q for %s", role, lacks, deed)
			}
		}
		reader, err := inspect.New(pool, store, inspect.Options{TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		_, err = reader.Log(t.Context(), inspect.LogQuery{})
		var denied *grant.DeniedError
		if got := errors.As(err, &denied); got != (role == "relay") {
			t.Errorf("%s reads the log: %v", role, err)
		} else if got && denied.Role != rights.Role {
			t.Errorf("%s: denied as %s", role, denied.Role)
		}
		if role != "operator" {
			_, err := operator.Record(t.Context(), repair.Deed{
				Words: "arm", About: "x", Argv: []string{"rewardctl"}, Reason: "r", Outcome: "armed",
			})
			var broken *grant.BackendError
			if !errors.As(err, &denied) || !errors.As(err, &broken) || broken.Doubt {
				t.Errorf("%s writes the log: %v", role, err)
			}
		}
	}
}
