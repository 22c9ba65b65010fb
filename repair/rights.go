package repair

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Rights say what the database role of an operator may do, as far as it can be told beforehand. The
// database decides again when a deed is done.
type Rights struct {
	Role   string
	Bare   bool              // the tables are not there: nothing is said about the role
	Member []string          // those of the roles asked about that this session belongs to
	lacks  map[string]string // by the deed's word
}

// Lacks returns what the role lacks for a deed, by the deed's word such as "lease release"; empty
// when it may do it, or nothing is known of the deed.
func (r Rights) Lacks(word string) string { return r.lacks[word] }

// NewRights returns rights of a role that lacks something for some deeds, by their words.
func NewRights(role string, lacks map[string]string) Rights {
	return Rights{Role: role, lacks: lacks}
}

// The words of deeds that Rights are asked for where no request is at hand; those of decisions
// about plans are "grant approve" and so on.
const (
	WordRelease = "lease release"
	WordBurn    = "lease burn"
	WordReseed  = "fence reseed"
	WordGrant   = "grant create"
	WordReverse = "ledger reverse"
	WordRequeue = "outbox requeue"
	WordPark    = "outbox park"
	WordPlan    = "grant plan"
	WordAudit   = "audit run"
	WordAck     = "audit ack"
	WordArm     = "arm"
)

// need is one privilege that a deed cannot do without, on a table or, to execute, on a function.
type need struct{ relation, privilege, column string }

// deedNeeds are the needs of the deeds by their words. They name what tells the roles apart, not
// everything that a deed touches.
func deedNeeds() map[string][]need {
	logs := need{"operator_action", "insert", "reason"}
	grants := need{"reward_grant_logged", "execute", ""}
	fence := []need{{"reward_fence", "update", "last_token"}, logs}
	outbox := []need{{"reward_outbox", "update", "state"}, logs}
	decide := []need{{"grant_approval", "insert", "decision"}, {"grant_plan", "update", "state"}}
	plan := []need{{"grant_plan", "update", "state"}}
	return map[string][]need{
		WordRelease: fence, WordBurn: fence, WordReseed: fence,
		WordGrant: {grants, logs}, WordReverse: {{"reward_reverse", "execute", ""}, logs},
		WordRequeue: outbox, WordPark: outbox,
		WordPlan:        {{"grant_plan", "insert", "campaign"}, {"grant_plan_row", "insert", ""}},
		"grant approve": decide, "grant reject": decide, "grant pause": plan, "grant cancel": plan,
		"grant apply": {{"grant_plan_row", "update", "outcome"}, grants},
		WordAudit:     {{"audit_run", "insert", ""}, {"audit_finding", "insert", ""}},
		WordAck:       {{"audit_ack", "insert", "state"}, {"audit_ack", "update", "state"}, logs},
		WordArm:       {logs},
	}
}

// Rights asks the database what this session's role may do, and to which of some roles it belongs.
// It returns a *grant.BackendError.
func (o *Operator) Rights(ctx context.Context, roles ...string) (Rights, error) {
	var ask struct {
		Deeds      []string `db:"deeds"`
		Relations  []string `db:"relations"`
		Privileges []string `db:"privileges"`
		Columns    []string `db:"columns"`
	}
	for word, needs := range deedNeeds() {
		for _, n := range needs {
			ask.Deeds = append(ask.Deeds, word)
			ask.Relations = append(ask.Relations, n.relation)
			ask.Privileges = append(ask.Privileges, n.privilege)
			ask.Columns = append(ask.Columns, n.column)
		}
	}
	type row struct {
		Deed  string `db:"deed"`
		Needs string `db:"needs"`
		Role  string `db:"role"`
		Bare  bool   `db:"bare"`
	}
	rights := Rights{lacks: map[string]string{}}
	err := o.read(ctx, "ask for the role's rights", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[row](ctx, tx, rightsSQL, ask)
		for _, r := range rows {
			rights.Role, rights.Bare = r.Role, r.Bare
			if r.Deed != "" && rights.lacks[r.Deed] == "" {
				rights.lacks[r.Deed] = r.Needs
			}
		}
		if err == nil {
			rights.Member, err = memberOf(ctx, tx, roles)
		}
		return err
	})
	return rights, err
}

// memberOf returns those of some database roles that this session belongs to, in no order.
func memberOf(ctx context.Context, tx pgx.Tx, roles []string) ([]string, error) {
	if len(roles) == 0 {
		return nil, nil
	}
	rows, err := collect[struct {
		Role string `db:"role"`
	}](ctx, tx, rolesSQL, struct {
		Roles []string `db:"roles"`
	}{roles})
	member := make([]string, len(rows))
	for i, row := range rows {
		member[i] = row.Role
	}
	return member, err
}
