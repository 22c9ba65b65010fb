package tui_test

import (
	"testing"

	"rewardctl/tui"
)

// Every page of text is searched: what matches is counted and shown, and n and N go through it.
func TestPageIsSearched(t *testing.T) {
	t.Parallel()
	c := sample(t, 80, 24, nil)
	c.See("7 total")
	c.Press("?")
	c.See("/ search")
	c.NotSee("suspend")
	c.Press("/")
	c.Type("suspEND")
	c.See("suspend") // it scrolled there while it was typed
	c.Press("enter")
	c.See("1 lines with suspEND, n N")
	c.Press("g")
	c.NotSee("  ctrl+z")
	c.Press("n")
	c.See("  ctrl+z")
	c.Press("/", "esc") // gives the search up, not the page
	c.NotSee("lines with")
	c.See("j k scroll")
	c.Press("q")
	c.NotSee("j k scroll")
	c.See("7 total")
}

// A page is copied as a whole, without what the search adds.
func TestPageIsCopied(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Endpoints = "pg.example:5432" })
	c.See("7 total")
	c.Press("?")
	c.See("On this screen")
	c.Press("y")
	c.See("copied the text")
}
