package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// twiceWindow is how close in time postings must be to be taken for one reward that was paid
// again, as in the check near-duplicate.
const twiceWindow = 12 * time.Hour

// PaidTwice returns the groups of postings that look like one reward that was paid again under
// another id, by the rule of the check near-duplicate: same kind and amount, close in time, and
// ids that differ only in what a retry changes. Each group holds ids of the ledger, oldest first.
// Postings that were taken back, as far as the entries tell, and reversals are left out.
func PaidTwice(player string, entries []PlayerEntry) [][]int64 {
	reversed := map[int64]bool{}
	for _, e := range entries {
		if e.Reverses != 0 {
			reversed[e.Reverses] = true
		}
	}
	type same struct {
		kind   string
		amount int64
	}
	byContent := map[same][]nearRow{}
	for _, e := range entries {
		if e.Type != EntryPosting || e.Reverses != 0 || reversed[e.ID] {
			continue
		}
		amount := strconv.FormatInt(e.Amount, 10)
		key := same{e.Kind, e.Amount}
		byContent[key] = append(byContent[key], nearRow{
			player: player, kind: e.Kind, amount: &amount, event: e.EventID, at: e.At, isNew: true,
			place: strconv.FormatInt(e.ID, 10),
		})
	}
	var groups [][]int64
	for _, rows := range byContent {
		// Of those that were posted at one moment the ids, which are all digits, tell the order.
		slices.SortFunc(rows, func(a, b nearRow) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(len(a.place), len(b.place)),
				cmp.Compare(a.place, b.place))
		})
		group := &nearGroup{window: twiceWindow, report: func(d draft) {
			ids := make([]int64, 0, len(d.Places))
			for _, place := range d.Places {
				if id, err := strconv.ParseInt(place, 10, 64); err == nil {
					ids = append(ids, id)
				}
			}
			groups = append(groups, ids)
		}}
		for _, r := range rows {
			group.add(r)
		}
		group.end()
	}
	slices.SortFunc(groups, slices.Compare)
	return groups
}
