package tui_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// enemy puts a payload in front of every text that the world tells, and takes it off whatever the
// world is asked.
type enemy struct {
	*tuitest.World
	payload string
}

// said spoils an answer.
func said[T any](e enemy, v T, err error) (T, error) {
	spoil := func(s string) string { return e.payload + s }
	if err != nil {
		err = fmt.Errorf("%s%w", e.payload, err)
	}
	return edited(reflect.ValueOf(&v).Elem(), spoil).Interface().(T), err
}

// asked cleans a question.
func asked[T any](e enemy, v T) T {
	clean := func(s string) string { return strings.ReplaceAll(s, e.payload, "") }
	return edited(reflect.ValueOf(&v).Elem(), clean).Interface().(T)
}

// edited copies a value with every text in it edited. Words that the program itself sets, such as
// states, stay.
func edited(v reflect.Value, edit func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.Len() > 0 {
			out.SetString(edit(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(edited(v.Elem(), edit))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 || v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(edited(v.Index(i), edit))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; {
			case !v.Type().Field(i).IsExported():
			case name == "State", name == "Check", name == "Word", name == "Checks",
				name == "ChecksDone", name == "Fingerprint", name == "Action", name == "Command",
				name == "Arguments": // what the program made, and reads again
			default:
				out.Field(i).Set(edited(v.Field(i), edit))
			}
		}
	}
	return out
}

func (e enemy) Leases(ctx context.Context, f inspect.LeaseFilter) (inspect.LeaseList, error) {
	v, err := e.World.Leases(ctx, asked(e, f))
	return said(e, v, err)
}

func (e enemy) LeasesOf(ctx context.Context, resources []string) (inspect.LeaseList, error) {
	v, err := e.World.LeasesOf(ctx, asked(e, resources))
	return said(e, v, err)
}

func (e enemy) Lease(ctx context.Context, resource string) (inspect.LeaseDetail, error) {
	v, err := e.World.Lease(ctx, asked(e, resource))
	return said(e, v, err)
}

func (e enemy) Tokens(ctx context.Context, resource string) (inspect.TokenHistory, error) {
	v, err := e.World.Tokens(ctx, asked(e, resource))
	return said(e, v, err)
}

func (e enemy) Refused(ctx context.Context, q inspect.RefusedQuery) (inspect.RefusedPage, error) {
	v, err := e.World.Refused(ctx, asked(e, q))
	return said(e, v, err)
}

func (e enemy) Player(ctx context.Context, q inspect.PlayerQuery) (inspect.PlayerPage, error) {
	v, err := e.World.Player(ctx, asked(e, q))
	return said(e, v, err)
}

func (e enemy) Explain(ctx context.Context, player, event string) (inspect.Explanation, error) {
	v, err := e.World.Explain(ctx, asked(e, player), asked(e, event))
	return said(e, v, err)
}

func (e enemy) FindPlayers(ctx context.Context, prefix string, limit int) (
	[]inspect.PlayerName, error,
) {
	v, err := e.World.FindPlayers(ctx, asked(e, prefix), limit)
	return said(e, v, err)
}

func (e enemy) PlayerFindings(ctx context.Context, player string) (
	[]inspect.PlayerFinding, error,
) {
	v, err := e.World.PlayerFindings(ctx, asked(e, player))
	return said(e, v, err)
}

func (e enemy) Outbox(ctx context.Context, q inspect.OutboxQuery) (inspect.OutboxPage, error) {
	v, err := e.World.Outbox(ctx, asked(e, q))
	return said(e, v, err)
}

func (e enemy) OutboxShow(ctx context.Context, id int64) (inspect.OutboxDetail, error) {
	v, err := e.World.OutboxShow(ctx, id)
	v.Message = []byte(e.payload + string(v.Message))
	return said(e, v, err)
}

func (e enemy) Log(ctx context.Context, q inspect.LogQuery) (inspect.LogPage, error) {
	v, err := e.World.Log(ctx, q)
	return said(e, v, err)
}

func (e enemy) AuditRuns(ctx context.Context, limit int) ([]inspect.AuditRun, error) {
	v, err := e.World.AuditRuns(ctx, limit)
	return said(e, v, err)
}

func (e enemy) AuditFindings(ctx context.Context, run int64, take func(inspect.Finding) error,
) error {
	return e.World.AuditFindings(ctx, run, func(f inspect.Finding) error {
		v, _ := said(e, f, nil)
		return take(v)
	})
}

func (e enemy) AuditFinding(ctx context.Context, run, id int64) (inspect.Finding, error) {
	v, err := e.World.AuditFinding(ctx, run, id)
	return said(e, v, err)
}

func (e enemy) Doctor(ctx context.Context) (inspect.Diagnosis, error) {
	v, err := e.World.Doctor(ctx)
	return said(e, v, err)
}

func (e enemy) Plans(ctx context.Context, f repair.PlanFilter) ([]repair.Plan, error) {
	v, err := e.World.Plans(ctx, f)
	return said(e, v, err)
}

func (e enemy) PreviewPlan(ctx context.Context, id int64) (
	repair.Plan, repair.PlanPreview, error,
) {
	p, preview, err := e.World.PreviewPlan(ctx, id)
	p, err = said(e, p, err)
	preview, _ = said(e, preview, nil)
	return p, preview, err
}

func (e enemy) PlanLines(ctx context.Context, id int64, ungranted bool,
	take func(repair.ApplyLine) error,
) error {
	return e.World.PlanLines(ctx, id, ungranted, func(l repair.ApplyLine) error {
		v, _ := said(e, l, nil)
		return take(v)
	})
}

func (e enemy) PreviewGrant(ctx context.Context, q grant.Request) (repair.GrantPreview, error) {
	v, err := e.World.PreviewGrant(ctx, asked(e, q))
	return said(e, v, err)
}

func (e enemy) Grant(ctx context.Context, q grant.Request) (repair.GrantDeed, error) {
	v, err := e.World.Grant(ctx, asked(e, q))
	return said(e, v, err)
}

func (e enemy) List() []tui.Drill {
	v, _ := said(e, made{}.List(), nil)
	return v
}

func (e enemy) Play(_ context.Context, _, _ string, tell func(string)) ([]string, bool, error) {
	tell(e.payload + "12:00 a line")
	return []string{e.payload + "report"}, true, nil
}

func (e enemy) Complete(context.Context, []string) []tui.Completion {
	return []tui.Completion{{Text: e.payload + "offered", Help: e.payload + "help"}}
}

func (e enemy) Describe([]string) (usage, purpose string) {
	return e.payload + "usage", e.payload + "purpose"
}

func (e enemy) Read(context.Context, []string) (string, error) {
	return e.payload + "printed\nsecond " + e.payload + "line", nil
}
