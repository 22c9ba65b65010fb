package granttest

import (
	"fmt"
	"sync"
	"time"
)

// Point is the moment in the life of a request at which a rule looks.
type Point uint8

// The moments, in the order in which they come.
const (
	// BeforeSend: the client has sent the request, the server has not received it.
	BeforeSend Point = iota
	// AfterSend: the server has received the request and nothing after it.
	AfterSend
	// AtReply: the first frame of the reply has left the server, the client has nothing of it.
	AtReply
	// AtComplete: the frame that ends the reply has left the server. Redis: the same as AtReply.
	AtComplete
	// AtReady: PostgreSQL only, the server has finished the transaction of a pipeline.
	AtReady
)

// Frame is what a rule sees of a request or its reply.
type Frame struct {
	At   Point
	Name string   // Redis: the command, upper case. PostgreSQL: "Query", "Execute" or "Sync"
	Args []string // Redis: the arguments that follow the command
	// SQL is PostgreSQL's text of the statement. At the end of a pipeline (Sync at AtReady) it is
	// the text of the last statement that was not COMMIT.
	SQL string
	// Tag is PostgreSQL's answer from AtReply on: a command tag such as "COMMIT", "INSERT 0 1",
	// or "ERROR 40001". It is empty for a row.
	Tag string
}

// Fault is what a proxy does to the connection when a rule fires.
type Fault uint8

// The closed list of faults.
const (
	// Watch does nothing but fire.
	Watch Fault = iota
	// Drop loses this frame and every later one in the same direction. A reply that is dropped
	// leaves the other direction alone: what the client sends still arrives, and so does the
	// end of its connection.
	Drop
	// Close ends the connection on both sides.
	Close
	// HalfClose sends the client an end of stream; what it sends still arrives.
	HalfClose
	// Hang loses everything in both directions from here on, the end of the connection included.
	Hang
	// Delay holds the frame for Rule.Wait, and with it all that come after it.
	Delay
	// Hold holds the frame, and with it all that come after it, until Trigger.Release.
	Hold
)

var faultNames = [...]string{
	Watch: "watch", Drop: "drop", Close: "close", HalfClose: "half-close", Hang: "hang",
	Delay: "delay", Hold: "hold",
}

// String is the fault's word, such as "half-close".
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return fmt.Sprintf("fault(%d)", uint8(f))
}

// LossFaults are the ways in which an answer never arrives.
func LossFaults() []Fault { return []Fault{Drop, Close, HalfClose, Hang} }

// Rule says which frame is hit, and how. The first rule in force that matches a frame and has
// shots left is the one that fires.
type Rule struct {
	At    Point
	Match func(Frame) bool // nil matches every frame of that point
	Skip  int              // let this many matching frames pass first
	Times int              // fire so often; 0 means once, below 0 without end
	Fault Fault
	Wait  time.Duration // how long Delay holds the frame
}

// Trigger is a rule in force.
type Trigger struct {
	rule Rule
	seen int // guarded by the proxy's lock

	mu      sync.Mutex
	count   int
	fired   chan struct{}
	once    sync.Once
	release chan struct{}
	opened  sync.Once
}

// Fired is closed when the rule has fired for the first time and its fault is in effect: for
// Hold while the frame is held, for Delay when it has been held long enough.
func (t *Trigger) Fired() <-chan struct{} { return t.fired }

// Count is how often the rule has fired.
func (t *Trigger) Count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// Release lets frames go that Hold holds, now and later.
func (t *Trigger) Release() { t.opened.Do(func() { close(t.release) }) }

// report counts one firing.
func (t *Trigger) report() {
	t.mu.Lock()
	t.count++
	t.mu.Unlock()
	t.once.Do(func() { close(t.fired) })
}
