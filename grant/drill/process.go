package drill

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rewardctl/grant"
)

// part is what a worker's process is told to play: one line of JSON on its standard input. It names
// no server: whoever starts the process sees to that.
type part struct {
	Role     string        `json:"role"`
	Drill    string        `json:"drill"`
	Schema   string        `json:"schema"`
	Prefix   string        `json:"prefix"`
	TTL      time.Duration `json:"ttl"`
	Defence  Defence       `json:"defence"`
	Worker   string        `json:"worker"`
	Player   string        `json:"player"`
	Event    string        `json:"event"`
	Resource string        `json:"resource"`
	Receiver string        `json:"receiver,omitempty"` // URL of the item server
	Hold     []string      `json:"hold"`               // the steps at which it waits for a word
}

// event is what a worker's process says: one line of JSON on its standard output.
type event struct {
	Step    string       `json:"step"`
	Token   int64        `json:"token,string,omitempty"`
	Owner   string       `json:"owner,omitempty"`
	Ledger  int64        `json:"ledger,string,omitempty"`
	Refused *refusedText `json:"refused,omitempty"`
	Text    string       `json:"text,omitempty"`
}

// refusedText is a Refusal on its way between two processes.
type refusedText struct {
	Worker  string  `json:"worker"`
	Line    Defence `json:"line"`
	Outcome string  `json:"outcome"`
	Detail  string  `json:"detail"`
}

// told turns what became of a payment into a step.
func told(p payment) event {
	e := event{Step: stepPaid, Ledger: p.ledgerID}
	if r := p.refused; r != nil {
		e.Refused = &refusedText{r.Worker, r.Line, r.Outcome.String(), r.Detail}
	}
	return e
}

// payment is the inverse of told. Failed, which is no answer, is the outcome of workers without the
// engine.
func (e event) payment() payment {
	p := payment{ledgerID: e.Ledger}
	if r := e.Refused; r != nil {
		outcome, err := grant.ParseOutcome(r.Outcome)
		if err != nil {
			outcome = grant.Failed
		}
		p.refused = &Refusal{r.Worker, r.Line, outcome, r.Detail}
	}
	return p
}

// The steps that more than one role has.
const (
	stepReady  = "ready"  // it has its servers and waits for its work
	stepHolds  = "holds"  // it holds the lease
	stepPaid   = "paid"   // it has the answer of its payment
	stepDone   = "done"   // it has given back what it held
	stepFailed = "failed" // it could not play its part; Text says why
	goOn       = "go"     // what it is told at a step at which it waits
)

// process is a worker that runs in a process of its own.
type process struct {
	cmd    *exec.Cmd
	worker string
	in     io.WriteCloser
	events chan event
	words  lastWords // of its standard error
	once   sync.Once
}

// spawn starts a worker's process and tells it its part. It is ended with the stage.
func (st *stage) spawn(
	ctx context.Context, role, worker string, r reward, more func(*part),
) (*process, error) {
	p := &process{cmd: st.opt.Spawn(ctx), worker: worker, events: make(chan event, 16)}
	p.cmd.Stderr = &p.words
	p.cmd.WaitDelay = time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, p.problem("cannot be started", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, p.problem("cannot be started", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, p.problem("cannot be started", err)
	}
	go p.read(out)
	st.mu.Lock()
	st.children = append(st.children, p)
	st.mu.Unlock()
	told := part{
		Role: role, Drill: st.about.Name, Schema: st.db.name, Prefix: st.prefix, TTL: st.opt.TTL,
		Defence: st.opt.Defence, Worker: worker, Player: r.player, Event: r.event,
		Resource: r.resource,
	}
	more(&told)
	line, err := json.Marshal(told)
	if err == nil {
		err = p.tell(string(line))
	}
	if err != nil {
		return nil, p.problem("did not take its part", err)
	}
	_, err = p.until(ctx, stepReady)
	return p, err
}

// read passes on what the process says, until it ends.
func (p *process) read(out io.Reader) {
	defer close(p.events)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			p.events <- e
		}
	}
}

// until waits for a step. Steps before it are passed over.
func (p *process) until(ctx context.Context, step string) (event, error) {
	for {
		select {
		case <-ctx.Done():
			return event{}, ctx.Err()
		case e, ok := <-p.events:
			switch {
			case !ok:
				return e, p.problem("ended before the step "+step, errors.New(p.words.text()))
			case e.Step == step:
				return e, nil
			case e.Step == stepFailed:
				return e, p.problem("could not play its part", errors.New(e.Text))
			}
		}
	}
}

// tell writes a line to the process.
func (p *process) tell(line string) error {
	_, err := io.WriteString(p.in, line+"\n")
	return err
}

// goOn lets the process pass the step at which it waits.
func (p *process) goOn() error {
	if err := p.tell(goOn); err != nil {
		return p.problem("cannot be told to go on", err)
	}
	return nil
}

// stop freezes the process as it stands, as a debugger, a hypervisor or a full machine does.
func (p *process) stop() error { return p.signal(syscall.SIGSTOP) }

// resume lets a frozen process run again.
func (p *process) resume() error { return p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return p.problem("cannot be sent "+s.String(), err)
	}
	return nil
}

// kill ends the process with SIGKILL and waits until it is gone: it gets no chance to tidy up.
func (p *process) kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	p.end()
	return nil
}

// end ends the process in any case, a frozen one as well, and waits for it.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.in.Close()
		for range p.events { // its reader has to finish before Wait closes the pipe
		}
		_ = p.cmd.Wait() // "signal: killed"
	})
}

func (p *process) problem(what string, err error) error {
	return fmt.Errorf("drill: the process of %s %s: %w", p.worker, what, err)
}

// lastWords keeps the end of what a process says on its standard error.
type lastWords struct {
	mu   sync.Mutex
	tail bytes.Buffer
}

const wordsMax = 2000

// Write keeps the last of it.
func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail.Write(b)
	if over := l.tail.Len() - wordsMax; over > 0 {
		l.tail.Next(over)
	}
	return len(b), nil
}

func (l *lastWords) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := strings.TrimSpace(l.tail.String()); text != "" {
		return text
	}
	return "it said nothing"
}

// holding has a process wait at these steps.
func holding(steps ...string) func(*part) {
	return func(p *part) { p.Hold = slices.Concat(p.Hold, steps) }
}

// lease is what a process says it holds.
func (e event) lease(r reward) grant.Lease {
	return grant.Lease{Resource: r.resource, Token: e.Token, Owner: e.Owner}
}

// paidBy waits until a process has tried to pay, and shows what became of it.
func (st *stage) paidBy(ctx context.Context, p *process, deed string) error {
	e, err := p.until(ctx, stepPaid)
	if err != nil {
		return err
	}
	return st.paid(ctx, p.worker, e.payment(), deed)
}
