package main

import "slices"

const (
	acquireLua = "grant/lease/lua/acquire.lua"
	renewLua   = "grant/lease/lua/renew.lua"
	releaseLua = "grant/lease/lua/release.lua"
	grantSQL   = "grant/schema/sql/00002_reward_grant.sql"
)

// mutants is the catalogue of bugs that people who build such systems really write.
func mutants() []mutant {
	return slices.Concat(leaseMutants(), grantMutants(), answerMutants(), edgeMutants())
}

func leaseMutants() []mutant {
	return []mutant{
		{
			"no floor", []edit{{
				acquireLua, "local highest = tonumber(ARGV[at + 1])", "local highest = 0",
			}}, "./grant/lease", "TestModel",
		},
		{
			"floor only when the counter is missing", []edit{{
				acquireLua, "highest = math.max(highest, tonumber(counter))",
				"highest = tonumber(counter)",
			}}, "./grant/lease", "TestModel",
		},
		{
			"the owner's own lock is busy", []edit{{
				acquireLua, "if colon and string.sub(value, colon + 1) == owner then",
				"if false then",
			}}, "./grant/lease", "TestB05LostReply",
		},
		{
			"the driver repeats scripts", []edit{{
				"grant/lease/run.go", "func (once) NoRetry() bool { return true }",
				"func (once) NoRetry() bool { return false }",
			}}, "./grant/lease", "TestAcquireAllRepliesLost|TestB05|TestCluster",
		},
		{
			"release without a look at the owner", []edit{{
				releaseLua, "if value == ARGV[at] then", "if value then",
			}}, "./grant/lease", "TestModel",
		},
		{
			"release compares the owner only", []edit{{
				releaseLua, "if value == ARGV[at] then",
				"if value and string.sub(value, string.find(value .. ':', ':', 1, true)) == " +
					"string.sub(ARGV[at], string.find(ARGV[at] .. ':', ':', 1, true)) then",
			}}, "./grant/lease", "TestModel",
		},
		{
			"renewal makes a lock that is gone", []edit{{
				renewLua, "out[i] = 'g'", "call('SET', names[i], ARGV[at], 'PX', ttl) out[i] = 'x'",
			}}, "./grant/lease", "TestModel",
		},
	}
}

func grantMutants() []mutant {
	return []mutant{
		{
			"the fence ignores the owner of an equal token", []edit{{
				grantSQL,
				"(f.last_token = excluded.last_token and f.last_owner = excluded.last_owner)",
				"f.last_token = excluded.last_token",
			}}, "./grant", "TestHeldTokens",
		},
		{
			"all acquisitions of a worker have one owner", []edit{{
				"grant/hold.go", `e.opt.Worker + "#" + e.opt.NewID()`, "e.opt.Worker",
			}}, "./grant", "TestCollisionIsReseededOnce|TestFault",
		},
		{
			"batches lock in the order of their input", []edit{
				{
					"grant/transaction.go", "slices.SortFunc(all, func(a, b placed) int {",
					"slices.SortFunc(all[:0], func(a, b placed) int {",
				},
				{
					"grant/batch.go", "slices.SortStableFunc(all, func(a, b leasedItem) int {",
					"turn := 1 - 2*int(all[0].lease.Token&1)\n" +
						"\tslices.SortStableFunc(all, func(a, b leasedItem) int {",
				},
				{
					"grant/batch.go", "strings.Compare(a.lease.Resource, b.lease.Resource),",
					"turn*strings.Compare(a.lease.Resource, b.lease.Resource),",
				},
				{grantSQL, `order by r.resource collate "C"`, ""},
				{grantSQL, `order by u.player collate "C", u.event collate "C"`, ""},
			}, "./grant", "TestFaultOverlapping",
		},
		{
			"one batch sends two tokens of a resource", []edit{{
				"grant/batch.go",
				"case w.leases[last].Token == li.lease.Token && " +
					"w.leases[last].Owner == li.lease.Owner:",
				"case true:",
			}}, "./grant", "TestHighestTokenOfABatchWins",
		},
		{
			"ON CONFLICT without its columns", []edit{{
				grantSQL, "on conflict (player_id, reward_event_id) do nothing",
				"on conflict do nothing",
			}}, "./grant", "TestKeyBreaksAfterTheCheck",
		},
		{
			"a lease is trusted after its time", []edit{{
				"grant/hold.go", "if until.IsZero() {", "if true {",
			}}, "./grant", "TestB07",
		},
	}
}

func answerMutants() []mutant {
	return []mutant{
		{
			"a lost answer is called a failure", []edit{{
				"grant/verdict.go", "\t\treturn noEffect\n\t}\n\treturn doubt\n",
				"\t\treturn noEffect\n\t}\n\treturn noEffect\n",
			}}, "./grant", "TestFaultB30|TestFaultReplyLost",
		},
		{
			"no row means not granted", []edit{{
				"grant/transaction.go", "\t\terr := e.transactAgain(ctx, t)\n",
				"\t\tvar n int\n\t\terr := e.pool.QueryRow(ctx, \"select count(*) from " +
					"reward_ledger where lease_owner = $1\", w.leases[0].Owner).Scan(&n)\n" +
					"\t\tif err == nil && n == 0 {\n\t\t\tt.fail(errUnsettled)\n" +
					"\t\t\treturn\n\t\t}\n\t\terr = e.transactAgain(ctx, t)\n",
			}}, "./grant", "TestFaultLateTwin|TestFaultB30",
		},
		{
			"a retry takes a new owner", []edit{{
				"grant/transaction.go", "\tpause := resolvePause\n",
				"\tpause := resolvePause\n\towners := t.(*granting).args[4].([]string)\n" +
					"\tfor i, o := range owners {\n\t\towners[i] = o + \"-again\"\n\t}\n",
			}}, "./grant", "TestFaultB30|TestFaultReplyLost",
		},
		{
			"a posting without its outbox row", []edit{{
				grantSQL, "player_id from posted\n    )\n", "player_id from posted where false\n    )\n",
			}}, "./grant", "TestB19SameKeySameOrOtherContent",
		},
		{
			"commits that do not wait for the disk", []edit{{
				grantSQL, "perform set_config('synchronous_commit', 'on', true);", "null;",
			}}, "./grant", "TestSynchronousCommit",
		},
	}
}

func edgeMutants() []mutant {
	return []mutant{
		{
			"the relay marks before it sends", []edit{{
				"grant/outbox/handle.go", "\tr.opts.OnStep(StepSend, []int64{res.row.id})\n",
				"\t_, _ = r.pool.Exec(ctx, \"update reward_outbox set state = 'delivered', \"+\n" +
					"\t\t\"delivered_at = now() where ledger_id = $1\", res.row.id)\n" +
					"\tr.opts.OnStep(StepSend, []int64{res.row.id})\n",
			}}, "./grant/outbox", "TestRelayKilledAtEachStep",
		},
		{
			"a mark does not look at its claim", []edit{{
				"grant/outbox/sql/mark.sql", "and h.claim_id = r.claim_id and h.state = 'claimed'",
				"",
			}}, "./grant/outbox", "TestLateMarkChangesNothing",
		},
		{
			"a burn raises the fence to the next token", []edit{{
				"repair/sql/fence_burn.sql", "(@resource::text, @token::bigint,",
				"(@resource::text, @token::bigint + 1,",
			}}, "./repair", "TestRelease",
		},
		{
			"C1 control characters reach the terminal", []edit{{
				"tui/safetext/safetext.go", "case r < 0xa0 || r == utf8.RuneError:",
				"case r < 0xa0:\n\t\treturn r, false\n\tcase r == utf8.RuneError:",
			}}, "./tui/safetext", "TestCell",
		},
	}
}
