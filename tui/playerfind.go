package tui

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"rewardctl/grant"
	"rewardctl/inspect"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	findWords  = 12 // words of a line that are looked up
	findEach   = 8  // players per word
	findLetter = 3  // shorter words name nobody
)

// foundMsg brings the players that a search may have meant.
type foundMsg struct {
	text  string
	names []inspect.PlayerName
	exact int // so many of the first are ids as they stand in the text
	err   error
}

// find looks for players whom a text that is no id may mean: by the beginning of an id or a name,
// or by an id within it, as in a line of a ticket.
func (s *playerScreen) find(text string) tea.Cmd {
	j, cmd := s.d.start(s.ctx, s.d.tr("looking for %s", text), false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			got := foundMsg{text: text}
			got.names, got.exact, got.err = findAmong(ctx, s.d.opts.Inspector, text)
			return got
		})
	s.finding = j
	return cmd
}

// findAmong looks up the words of a text: as ids, and as what names begin with, where the context
// has a list of players.
func findAmong(ctx context.Context, in PlayerReader, text string) (
	names []inspect.PlayerName, exact int, err error,
) {
	words := strings.FieldsFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(`,;()[]<>"'`, c)
	})
	var whole, begun []inspect.PlayerName
	known := map[string]bool{}
	listed := true
	for _, word := range words[:min(len(words), findWords)] {
		word = strings.TrimRight(word, ".:!?")
		if len(word) < findLetter {
			continue
		}
		if word != text && !known[word] {
			_, err := in.Player(ctx, inspect.PlayerQuery{PlayerID: word, Limit: 1})
			if err != nil && !notFound(err) {
				return nil, 0, err
			}
			if known[word] = err == nil; err == nil {
				whole = append(whole, inspect.PlayerName{ID: word})
			}
		}
		if !listed {
			continue
		}
		got, err := in.FindPlayers(ctx, word, findEach)
		var none *grant.Rejection
		if listed = !errors.As(err, &none); err != nil && listed {
			return nil, 0, err
		}
		for _, one := range got {
			if !known[one.ID] {
				known[one.ID] = true
				begun = append(begun, one)
			}
		}
	}
	return append(whole, begun...), len(whole), nil
}

// found shows the one player who was meant, or asks which one.
func (s *playerScreen) found(got foundMsg) tea.Cmd {
	s.finding = nil
	if got.text != s.player || got.err != nil || len(got.names) == 0 {
		return nil // another search was begun, or what it says about this one stays true
	}
	for _, one := range got.names {
		s.recent.named(one.ID, one.Name)
	}
	if got.exact == 1 || len(got.names) == 1 {
		return s.lookUp(got.names[0].ID)
	}
	choices := make([]choice, len(got.names))
	for i, one := range got.names {
		choices[i] = choice{label: one.ID, note: one.Name, run: func() tea.Cmd {
			return s.lookUp(one.ID)
		}}
	}
	return openPicker(s.d, s.d.tr("which player?"), choices)
}
