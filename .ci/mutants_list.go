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
			}}, "./grant/lease", "TestModel", true,
		},
		{
			"floor only when the counter is missing", []edit{{
				acquireLua, "highest = math.max(highest, tonumber(counter))",
				"highest = tonumber(counter)",
			}}, "./grant/lease", "TestModel", true,
		},
		{
			"the owner's own lock is busy", []edit{{
				acquireLua, "if colon and string.sub(value, colon + 1) == owner then",
				"if false then",
			}}, "./grant/lease", "TestB05LostReply", false,
		},
		{
			"the driver repeats scripts", []edit{{
				"grant/lease/run.go", "func (once) NoRetry() bool { return true }",
				"func (once) NoRetry() bool { return !MUTANT }",
			}}, "./grant/lease", "TestAcquireAllRepliesLost", false,
		},
		{
			"release without a look at the owner", []edit{{
				releaseLua, "if value == ARGV[at] then", "if value then",
			}}, "./grant/lease", "TestModel", true,
		},
		{
			"release compares the owner only", []edit{{
				releaseLua, "if value == ARGV[at] then",
				"if value and string.sub(value, string.find(value .. ':', ':', 1, true)) == " +
					"string.sub(ARGV[at], string.find(ARGV[at] .. ':', ':', 1, true)) then",
			}}, "./grant/lease", "TestModel", true,
		},
		{
			"renewal makes a lock that is gone", []edit{{
				renewLua, "out[i] = 'g'", "call('SET', names[i], ARGV[at], 'PX', ttl) out[i] = 'x'",
			}}, "./grant/lease", "TestModel", true,
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
			}}, "./grant", "TestHeldTokens", false,
		},
		{
			"all acquisitions of a worker have one owner", []edit{{
				"grant/hold.go", `e.opt.Worker + "#" + e.opt.NewID()`,
				"map[bool]string{true: e.opt.Worker, " +
					`false: e.opt.Worker + "#" + e.opt.NewID()}[MUTANT]`,
			}}, "./grant", "TestFaultLostCounter", false,
		},
		{
			"batches lock in the order of their input", []edit{
				{
					"grant/transaction.go", "slices.SortFunc(all, func(a, b placed) int {",
					"sorted := all\n\tif MUTANT {\n\t\tsorted = nil\n\t}\n" +
						"\tslices.SortFunc(sorted, func(a, b placed) int {",
				},
				{
					"grant/batch.go", "slices.SortStableFunc(all, func(a, b leasedItem) int {",
					"turn := 1\n\tif MUTANT {\n\t\tturn -= 2 * int(all[0].lease.Token&1)\n\t}\n" +
						"\tslices.SortStableFunc(all, func(a, b leasedItem) int {",
				},
				{
					"grant/batch.go", "strings.Compare(a.lease.Resource, b.lease.Resource),",
					"turn*strings.Compare(a.lease.Resource, b.lease.Resource),",
				},
				{grantSQL, `order by r.resource collate "C"`, ""},
				{grantSQL, `order by u.player collate "C", u.event collate "C"`, ""},
			}, "./grant", "TestFaultOverlappingBatchesWithoutLeases", false,
		},
		{
			"one batch sends two tokens of a resource", []edit{{
				"grant/batch.go",
				"case w.leases[last].Token == li.lease.Token && " +
					"w.leases[last].Owner == li.lease.Owner:",
				"case MUTANT || w.leases[last].Token == li.lease.Token && " +
					"w.leases[last].Owner == li.lease.Owner:",
			}}, "./grant", "TestHighestTokenOfABatchWins", false,
		},
		{
			"ON CONFLICT without its columns", []edit{{
				grantSQL, "on conflict (player_id, reward_event_id) do nothing",
				"on conflict do nothing",
			}}, "./grant", "TestKeyBreaksAfterTheCheck", false,
		},
		{
			"a lease is trusted after its time", []edit{{
				"grant/hold.go", "if until.IsZero() {", "if until.IsZero() || MUTANT {",
			}}, "./grant", "TestB07NotSentAfterTheLease", false,
		},
	}
}

func answerMutants() []mutant {
	return []mutant{
		{
			"a lost answer is called a failure", []edit{{
				"grant/verdict.go", "\t\treturn noEffect\n\t}\n\treturn doubt\n",
				"\t\treturn noEffect\n\t}\n\tif MUTANT {\n\t\treturn noEffect\n\t}\n" +
					"\treturn doubt\n",
			}}, "./grant", "TestFaultB30CommitReplyLost", false,
		},
		{
			"no row means not granted", []edit{{
				"grant/transaction.go", "\t\terr := e.transactAgain(ctx, t)\n",
				"\t\tif n := 0; MUTANT && e.pool.QueryRow(ctx, \"select count(*) from " +
					"reward_ledger where lease_owner = $1\", w.leases[0].Owner).Scan(&n) == nil " +
					"&& n == 0 {\n\t\t\tt.fail(errUnsettled)\n\t\t\treturn\n\t\t}\n" +
					"\t\terr := e.transactAgain(ctx, t)\n",
			}}, "./grant", "TestFaultLateTwin|TestFaultB30", false,
		},
		{
			"a retry takes a new owner", []edit{{
				"grant/transaction.go", "\tpause := resolvePause\n",
				"\tpause := resolvePause\n\tif g, ok := t.(*granting); ok && MUTANT {\n" +
					"\t\towners := g.args[4].([]string)\n\t\tfor i, o := range owners {\n" +
					"\t\t\towners[i] = o + \"-again\"\n\t\t}\n\t}\n",
			}}, "./grant", "TestFaultB30CommitReplyLost", false,
		},
		{
			// The posting is looked up as the transaction saw it before it waited for locks.
			"an answer from before the wait", []edit{
				{
					grantSQL, "    v_at       timestamptz := now();\n    v_ids ",
					"    v_at       timestamptz := now();\n" +
						"    v_snap pg_snapshot := pg_current_snapshot();\n    v_ids ",
				},
				{
					grantSQL,
					"where l.player_id = u.player and l.reward_event_id = u.event offset 0) l on true",
					"where l.player_id = u.player and l.reward_event_id = u.event and (" +
						"l.id = any (v_ids) or pg_visible_in_snapshot(l.xmin::text::xid8, v_snap)) " +
						"offset 0) l on true",
				},
			}, "./grant", "TestFaultKillInFlight", false,
		},
		{
			"a posting without its outbox row", []edit{{
				grantSQL, "player_id from posted\n    )\n", "player_id from posted where false\n    )\n",
			}}, "./grant", "TestB19SameKeySameOrOtherContent", false,
		},
		{
			"commits that do not wait for the disk", []edit{{
				grantSQL, "perform set_config('synchronous_commit', 'on', true);", "null;",
			}}, "./grant", "TestSynchronousCommit", false,
		},
	}
}

func edgeMutants() []mutant {
	return []mutant{
		{
			"the relay marks before it sends", []edit{{
				"grant/outbox/handle.go", "\tr.opts.OnStep(StepSend, []int64{res.row.id})\n",
				"\tif MUTANT {\n\t\t_, _ = r.pool.Exec(ctx, \"update reward_outbox set \"+\n" +
					"\t\t\t\"state = 'delivered', delivered_at = now() where ledger_id = $1\", " +
					"res.row.id)\n\t}\n" +
					"\tr.opts.OnStep(StepSend, []int64{res.row.id})\n",
			}}, "./grant/outbox", "TestB32RelayKilledAtEachStep/^send$", false,
		},
		{
			"a mark does not look at its claim", []edit{{
				"grant/outbox/sql/mark.sql", "and h.claim_id = r.claim_id and h.state = 'claimed'",
				"",
			}}, "./grant/outbox", "TestLateMarkChangesNothing", false,
		},
		{
			"a burn raises the fence to the next token", []edit{{
				"repair/sql/fence_burn.sql", "(@resource::text, @token::bigint,",
				"(@resource::text, @token::bigint + 1,",
			}}, "./repair", "TestReleaseStopsThePausedWorker", false,
		},
		{
			"C1 control characters reach the terminal", []edit{{
				"tui/safetext/safetext.go", "case r < 0xa0 || r == utf8.RuneError:",
				"case r < 0xa0 && MUTANT:\n\t\treturn r, false\n" +
					"\tcase r < 0xa0 || r == utf8.RuneError:",
			}}, "./tui/safetext", "TestCell", true,
		},
	}
}
