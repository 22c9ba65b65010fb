package inspect_test

import (
	"runtime"
	"testing"

	"rewardctl/inspect"
)

// BenchmarkVerifyMillion verifies a log of a million rows and reports the highest heap on the way:
// the log is streamed, so it must not grow with the rows.
func BenchmarkVerifyMillion(b *testing.B) {
	const million = 1_000_000
	w := setup(b)
	w.tamper(b, `do $$
declare v_head bytea; v_row operator_action;
begin
    select hash into v_head from operator_action_head;
    for i in 1..1000000 loop
        v_row.id := i; v_row.operator := 'mara'; v_row.db_user := session_user;
        v_row.host := 'desk'; v_row.client := 'local'; v_row.action := 'grant create';
        v_row.target := 'player-' || i; v_row.args_version := 1;
        v_row.arguments := jsonb_build_object('amount', '200', 'kind', 'gems');
        v_row.observed := '{}'; v_row.reason := 'outage'; v_row.phase := 'result';
        v_row.outcome := 'applied'; v_row.command := 'rewardctl grant create --player player-' || i;
        v_row.created_at := clock_timestamp(); v_row.prev_hash := v_head;
        v_head := sha256(v_head || operator_action_canonical(v_row)); v_row.hash := v_head;
        insert into operator_action select (v_row).*;
    end loop;
    update operator_action_head set last_id = 1000000, hash = v_head;
end $$`)
	for b.Loop() {
		runtime.GC()
		highest := uint64(0)
		v, err := w.reader.VerifyLog(b.Context(), inspect.LogCheck{OnProgress: func(int64, int64) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse)
		}})
		if err != nil || v.State != inspect.LogIntact || v.Rows != million {
			b.Fatalf("%+v, %v", v, err)
		}
		b.ReportMetric(float64(highest)/(1<<20), "heap-MB")
	}
	b.ReportMetric(float64(million)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
