package tui

import (
	"context"
	"slices"
	"strconv"
	"time"

	"rewardctl/tui/paint"
)

// badgesEvery is the time between two counts of what waits behind the tabs.
const badgesEvery = 5 * time.Second

// badge is what a tab says about its screen: how much waits there, and whether it is bad.
type badge struct {
	count int64
	bad   bool
}

// badges count what waits behind the tabs while other screens are shown. Only small questions are
// asked for it: leases, which are read as a whole, are counted on their own screens.
type badges struct {
	d    *desk
	feed *feed[tile]
}

func newBadges(d *desk) badges {
	key := func(t *tile) string { return t.key }
	return badges{d, newFeed(d, max(badgesEvery, d.opts.Refresh), key,
		func(ctx context.Context, _ Args) (batch[tile], error) {
			pulse, err := d.opts.Inspector.Pulse(ctx)
			if err != nil {
				return batch[tile]{}, err
			}
			d.gauges.take(pulse)
			list := d.pulseTiles(pulse)
			for _, more := range d.tilers {
				extra, err := more(ctx)
				if err != nil {
					continue // what the role may not see has no badge
				}
				list = append(list, extra...)
			}
			return batch[tile]{rows: list}, nil
		})}
}

// begin counts until the console ends.
func (b badges) begin() {
	b.feed.ask(query[tile]{})
	b.d.spawn(func() { b.feed.run(b.d.ctx) })
}

// of sums up what waits on a screen and on those below it.
func (b badges) of(id ScreenID) badge {
	var sum badge
	for _, it := range b.feed.out.Load().items {
		t := it.row
		if t.count > 0 && (t.bad || t.waits) && b.d.root.tabOf(t.to) == id {
			sum.count += t.count
			sum.bad = sum.bad || t.bad && !t.waits
		}
	}
	return sum
}

// text writes the badge, such as "·3" or "·2!": what is bad has a sign besides its colour.
func (b badge) text(g paint.Glyphs) string {
	const most = 999
	if b.count == 0 {
		return ""
	}
	words := g.Badge + strconv.FormatInt(min(b.count, most), 10)
	if b.count > most {
		words += "+"
	}
	if b.bad {
		words += "!"
	}
	return words
}

// tabOf returns the tab that a screen belongs to.
func (r *root) tabOf(id ScreenID) ScreenID {
	for range r.screens { // as deep as it can be
		at := slices.IndexFunc(r.screens, func(s screen) bool { return s.ID() == id })
		if at < 0 {
			return id
		}
		c, ok := r.screens[at].(child)
		if !ok || c.Parent() == "" {
			return id
		}
		id = c.Parent()
	}
	return id
}
