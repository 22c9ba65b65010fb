package inspect

import (
	"context"
	"slices"
	"strings"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

const (
	patternsMax  = 500 // kinds of random ids that are told apart
	samplesMax   = 5   // ids shown of each
	otherPattern = "(other patterns)"
)

// randomKind is all ids of one pattern.
type randomKind struct {
	count          int64
	events, places []string
	player         string
}

// readRandom finds ids that a retry would change. A ledger full of them is one finding for each
// pattern, not one for each row.
func readRandom(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	sql, err := u.source.fill("random", u.scope)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return err
	}
	kinds := map[string]*randomKind{}
	var player, event, place string
	_, err = pgx.ForEachRow(rows, []any{&player, &event, &place}, func() error {
		u.seen(1)
		pattern, random := randomPattern(event, player)
		if !random {
			return nil
		}
		if kinds[pattern] == nil && len(kinds) >= patternsMax {
			pattern = otherPattern
		}
		k := kinds[pattern]
		if k == nil {
			k = &randomKind{player: player}
			kinds[pattern] = k
		}
		k.count++
		if len(k.events) < samplesMax {
			k.events = append(k.events, strings.Clone(event))
			k.places = append(k.places, strings.Clone(place))
		}
		return nil
	})
	if err != nil {
		return err
	}
	var found []draft
	for pattern, k := range kinds {
		found = append(found, draft{
			evidenceRow: evidenceRow{Word: "random", Key: pattern, IsNew: true, Places: k.places},
			count:       k.count, events: k.events,
		})
	}
	slices.SortFunc(found, func(a, b draft) int {
		if a.count != b.count {
			return int(b.count - a.count)
		}
		return strings.Compare(a.Key, b.Key)
	})
	return u.finish(ctx, tx, found)
}

// randomPattern reports whether an id holds a part that a retry would change, and what ids like it
// have in common. The player's own id may well be a UUID or look like a time: it stays the same.
func randomPattern(event, player string) (string, bool) {
	event = withoutPlayer(event, player)
	forms := NormalEvent(event)
	_, random := grant.LooksRandom(event)
	marked := strings.Contains(forms.Pattern, markUUID) ||
		strings.Contains(forms.Pattern, markULID) || strings.Contains(forms.Pattern, markInstant)
	if !marked && !random {
		return "", false
	}
	return digitRuns.ReplaceAllString(forms.Pattern, "#"), true
}

// withoutPlayer puts a mark where an id names its player. A short player id, such as 6, may also
// stand inside a longer word by chance.
func withoutPlayer(event, player string) string {
	if player == "" {
		return event
	}
	var out strings.Builder
	for rest := event; ; {
		before, after, found := strings.Cut(rest, player)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		part := before != "" && wordRune(before[len(before)-1]) || after != "" && wordRune(after[0])
		if part {
			out.WriteString(player)
		} else {
			out.WriteString("{player}")
		}
		rest = after
	}
}

func wordRune(c byte) bool { return wordByte(c|0x20) || c >= 0x80 }
