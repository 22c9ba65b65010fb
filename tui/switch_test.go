package tui_test

import (
	"errors"
	"testing"

	"rewardctl/tui"
)

// chosen has a console with two other contexts, of which one cannot be opened, and tells which one
// it ended for.
func chosen(o *tui.Options) <-chan string {
	got := make(chan string, 1)
	o.Contexts = []tui.Target{
		{Name: o.Context},
		{Name: "eu-live", Environment: "prod", Protected: true},
		{Name: "broken", Environment: "dev", ReadOnly: true},
	}
	o.CanOpen = func(name string) error {
		if name == "broken" {
			return errors.New("broken: redis.addrs is not set\nset it")
		}
		return nil
	}
	o.SwitchTo = func(name string) { got <- name }
	return got
}

func TestContextIsSwitched(t *testing.T) {
	t.Parallel()
	var got <-chan string
	c := sample(t, 120, 32, func(o *tui.Options) {
		got = chosen(o)
		o.Protected = true
	})
	c.See("7 total")
	c.Press("A")
	c.Type("INC-77")
	c.Press("tab", "ctrl+s")
	c.See("ARMED")
	c.Press("ctrl+o")
	c.See("which context?")
	c.See("PROD  protected")
	c.See("DEV  read-only")
	c.Type("eu")
	c.NotSee("DEV  read-only")
	c.Press("enter")
	if err := c.End(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if name := <-got; name != "eu-live" {
		t.Errorf("it switched to %q", name)
	}
	_, closed := c.World.Windows()
	if len(closed) != 1 || closed[0].Why != "another context was opened" {
		t.Errorf("ends of write windows in the log: %+v", closed)
	}
}

func TestContextThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	c := sample(t, 80, 24, func(o *tui.Options) { chosen(o) })
	c.See("7 total")
	c.Press(":")
	c.Type("context broken")
	c.Press("enter")
	c.See("broken is not opened")
	c.Press("!")
	c.See("redis.addrs is not set")
	c.Press("esc", "esc", ":")
	c.Type("ctx local")
	c.Press("enter")
	c.See("this is local already")
	c.Press("1")
	c.See("7 total")
}

func TestOnlyContext(t *testing.T) {
	t.Parallel()
	c := sample(t, 80, 24, nil)
	c.See("7 total")
	c.Press("ctrl+o")
	c.See("the configuration has no other context")
}
