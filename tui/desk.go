package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"rewardctl/tui/paint"
	"rewardctl/tui/table"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// desk is what the screens and dialogs share with the root: the ports, the theme, the clock, and
// ways to speak, to open dialogs and to work in the background.
type desk struct {
	opts  Options
	theme *paint.Theme
	lang  *text.Language
	saved saved // what an earlier console remembered
	now   func() time.Time
	// ctx ends when the console does. Screens derive shorter ones from it.
	ctx context.Context

	blurred  atomic.Bool // nobody looks: what is shown is read less often
	idle     atomic.Bool // nobody presses a key: very many rows are read less often
	messages messages
	health   health
	armed    armed
	ends     chan struct{} // held while ends of write windows are written into the log
	logged   sync.Map      // the windows whose ends are in the log
	rights   rights
	keymap   keymap
	tilers   []tiler
	auditing *auditing        // the audit that runs from here, or nil
	watch    *watch           // leases that are watched; nil without the screen of leases
	counted  map[string]int64 // what the home screen counts
	gauges   gauges
	jobs     jobs
	root     *root

	dirty chan struct{} // has one element when a snapshot was replaced
	crew  crew          // the goroutines that the end of the console waits for
	crash atomic.Pointer[CrashError]
	copy  func(seq string) // writes a sequence to the terminal between two frames
	kill  func()           // ends the program at once, terminal restored
}

// tiler tells what else needs attention.
type tiler func(ctx context.Context) ([]tile, error)

func newDesk(ctx context.Context, opts Options) *desk {
	keys, _ := parseKeys(opts.Keys) // a wrong one was refused before: see CheckKeys
	return &desk{
		keymap: keys, counted: map[string]int64{},
		opts: opts, theme: paint.New(opts.Color, opts.ASCII), now: opts.Now, ctx: ctx,
		lang: text.New(opts.Language), saved: readState(opts.State),
		dirty: make(chan struct{}, 1), ends: make(chan struct{}, 1), kill: func() {},
		copy: func(string) {},
	}
}

// tr returns a sentence of the catalogue in the operator's language.
func (d *desk) tr(sentence string, args ...any) string { return d.lang.T(sentence, args...) }

// tableWords are what tables say.
func (d *desk) tableWords() table.Words {
	return table.Words{
		Loading: d.tr("loading"), Failed: d.tr("nothing was read yet"),
		Filtered: d.tr("nothing matches the filter; esc clears it"), Nothing: d.tr("nothing here"),
	}
}

// say shows and logs a message. detail is what there is to say besides.
func (d *desk) say(level Level, sentence string, detail ...string) {
	d.messages.add(message{at: d.now(), level: level, text: sentence, detail: detail})
}

// sayDeed is say for what became of a deed: it belongs into the handover.
func (d *desk) sayDeed(level Level, sentence string, detail ...string) {
	d.messages.add(message{
		at: d.now(), level: level, text: sentence, detail: detail, deed: true,
	})
}

// refusal translates why a text field took nothing; it may be empty.
func (d *desk) refusal(why string) string {
	if why == "" {
		return ""
	}
	return d.tr(why)
}

// notify tells the notifier that something can be drawn anew. It never blocks.
func (d *desk) notify() {
	select {
	case d.dirty <- struct{}{}:
	default:
	}
}

// CrashError is a panic in the console, with its stack. The terminal was restored.
type CrashError struct {
	Value any
	Stack string
}

// Error names the panic.
func (e *CrashError) Error() string { return fmt.Sprintf("the console crashed: %v", e.Value) }

// guard records a panic of the calling goroutine and ends the program.
func (d *desk) guard() {
	if v := recover(); v != nil {
		d.crashed(v)
		d.kill()
	}
}

func (d *desk) crashed(v any) {
	d.crash.CompareAndSwap(nil, &CrashError{Value: v, Stack: string(debug.Stack())})
}

// spawn runs work in a goroutine that the end of the console waits for. A panic in it restores
// the terminal and ends the console instead of leaving both broken.
func (d *desk) spawn(work func()) {
	d.crew.enter()
	go func() {
		defer d.crew.leave()
		defer d.guard()
		work()
	}()
}

// command makes a tea.Cmd of work, with the same protection.
func (d *desk) command(work func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		d.crew.enter()
		defer d.crew.leave()
		defer d.guard()
		return work()
	}
}

// crew counts goroutines. Unlike a sync.WaitGroup it may be entered while somebody waits.
type crew struct {
	mu    sync.Mutex
	n     int
	empty chan struct{} // closed when n falls to zero; nil when nobody waits
}

func (c *crew) enter() {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
}

func (c *crew) leave() {
	c.mu.Lock()
	c.n--
	if c.n == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
	c.mu.Unlock()
}

// idle returns a channel that is closed when nobody is at work.
func (c *crew) idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.empty == nil {
		c.empty = make(chan struct{})
	}
	ch := c.empty
	if c.n == 0 {
		close(c.empty)
		c.empty = nil
	}
	return ch
}

// language is what puts sentences into the operator's language.
type language = *text.Language
