package tuitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rewardctl/tui/safetext"

	"github.com/charmbracelet/x/ansi"
)

// goldenPatience bounds the wait for a screen to become its golden: by then it shows what the test
// waited for, and only has to be drawn to its end.
const goldenPatience = 5 * time.Second

var update = flag.Bool("update", false, "write the golden screens anew")

// Golden compares the screen with testdata/NAME.txt. Every line of it must be as wide as the
// terminal.
func (c *Console) Golden(name string) {
	c.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		c.settle()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.Text()+"\n"), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	want := strings.TrimSuffix(string(raw), "\n")
	if err := c.pollFor(goldenPatience, func() bool { return c.Text() == want }); err != nil {
		c.t.Errorf("%s: %v\n%s", path, err, difference(want, c.Text()))
	}
	c.Exact()
}

// difference lists the lines that differ.
func difference(want, got string) string {
	var b strings.Builder
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var wl, gl string
		if i < len(w) {
			wl = w[i]
		}
		if i < len(g) {
			gl = g[i]
		}
		if wl != gl {
			b.WriteString("want " + wl + "\n got " + gl + "\n")
		}
	}
	return b.String()
}

// settle waits until nothing is drawn for a while.
func (c *Console) settle() {
	const quiet = 400 * time.Millisecond
	for last := ""; last != c.Text(); {
		last = c.Text()
		timer := time.NewTimer(quiet)
		<-timer.C
	}
}

// Exact fails the test when a line of the screen is not as wide as the terminal.
func (c *Console) Exact() {
	c.t.Helper()
	for i, line := range c.Lines() {
		if got := safetext.Width(line); got != c.w {
			c.t.Errorf("line %d is %d wide, the terminal %d: %q", i, got, c.w, line)
		}
	}
}

// foreign returns the first control sequence in a frame that the console does not send itself:
// anything but attributes, cursor movement, erasing and the modes it switches.
func foreign(p []byte) string {
	state := byte(0)
	for len(p) > 0 {
		seq, width, n, next := ansi.DecodeSequence(p, state, nil)
		state = next
		if width == 0 && len(seq) > 0 && !ours(string(seq)) {
			return string(seq)
		}
		p = p[n:]
	}
	return ""
}

func ours(seq string) bool {
	if seq == "\r" || seq == "\n" || seq == "\x1b" {
		return true
	}
	if strings.HasPrefix(seq, "\x1b]52;c;") || strings.HasPrefix(seq, "\x1b]2;") {
		return true
	}
	if !strings.HasPrefix(seq, "\x1b[") {
		r := []rune(seq)
		return len(r) > 0 && r[0] >= 0x300 // a combining mark that stands alone
	}
	switch seq[len(seq)-1] {
	case 'm', 'A', 'B', 'C', 'D', 'H', 'K', 'J', 'h', 'l':
		return true
	}
	return false
}

// GoldenColour compares the screen and the attributes of its cells with testdata/NAME.txt. The
// escape character is written as ␛.
func (c *Console) GoldenColour(name string) {
	c.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		c.settle()
		if err := os.WriteFile(path, []byte(c.drawn()+"\n"), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	want := strings.TrimSuffix(string(raw), "\n")
	if err := c.pollFor(goldenPatience, func() bool { return c.drawn() == want }); err != nil {
		c.t.Errorf("%s: %v\n%s", path, err, difference(want, c.drawn()))
	}
	c.Exact()
}

// drawn returns the screen with its attributes.
func (c *Console) drawn() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := strings.Split(strings.ReplaceAll(c.em.Render(), "\r", ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(lines[i], "\x1b", "␛"), " ")
	}
	return strings.Join(lines, "\n")
}
