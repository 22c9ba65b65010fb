package grant_test

import (
	"errors"
	"strings"
	"testing"

	"rewardctl/grant"

	"pgregory.net/rapid"
)

func TestB19EventIDIsMeaning(t *testing.T) {
	t.Parallel()
	parts := grant.EventParts{
		Campaign: "season-2026-week-34", PlayerID: "player-42", Subject: "rank-3", Kind: "gems",
	}
	for _, version := range []int{0, 1} {
		parts.Version = version
		id, err := grant.EventID(parts)
		if err != nil || id != "season-2026-week-34:player-42:rank-3:gems:v1" {
			t.Errorf("version %d: %q, %v", version, id, err)
		}
	}
	parts.Subject, parts.Version = "", 2
	id, err := grant.EventID(parts)
	if err != nil || id != "season-2026-week-34:player-42::gems:v2" {
		t.Errorf("without subject: %q, %v", id, err)
	}
}

func TestEventIDNamesThePart(t *testing.T) {
	t.Parallel()
	good := grant.EventParts{Campaign: "c", PlayerID: "p", Subject: "s", Kind: "k", Version: 1}
	for field, spoil := range map[string]func(*grant.EventParts){
		"campaign":        func(p *grant.EventParts) { p.Campaign = "" },
		"player_id":       func(p *grant.EventParts) { p.PlayerID = " p" },
		"subject":         func(p *grant.EventParts) { p.Subject = "a\u200bb" },
		"kind":            func(p *grant.EventParts) { p.Kind = "" },
		"version":         func(p *grant.EventParts) { p.Version = -1 },
		"reward_event_id": func(p *grant.EventParts) { p.Subject = strings.Repeat("s", 200) },
	} {
		parts := good
		spoil(&parts)
		_, err := grant.EventID(parts)
		var r *grant.Rejection
		if !errors.As(err, &r) || r.Field != field || r.Problem == "" || r.WayOut == "" {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Different parts never give one id: two rewards must not be taken for the same.
func TestEventIDsNeverCollide(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[ab:% ]{0,3}`)
	part := func(t *rapid.T, label string) grant.EventParts {
		return grant.EventParts{
			Campaign: "x" + text.Draw(t, label+" campaign") + "x",
			PlayerID: "x" + text.Draw(t, label+" player") + "x",
			Subject:  strings.TrimSpace(text.Draw(t, label+" subject")),
			Kind:     "x" + text.Draw(t, label+" kind") + "x",
			Version:  rapid.IntRange(1, 12).Draw(t, label+" version"),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := part(t, "first"), part(t, "second")
		idA, errA := grant.EventID(a)
		idB, errB := grant.EventID(b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if (idA == idB) != (a == b) {
			t.Fatalf("%+v and %+v give %q and %q", a, b, idA, idB)
		}
	})
}

func TestLooksRandom(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]grant.RandomForm{
		"1b4e28ba-2fa1-11d2-883f-0016d3cca427":      grant.FormUUID,
		"gift:1B4E28BA-2FA1-11D2-883F-0016D3CCA427": grant.FormUUID,
		"1b4e28ba2fa111d2883f0016d3cca427":          grant.FormUUID,
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":                grant.FormULID,
		"login-1700000000":                          grant.FormEpoch,
		"login:1700000000123":                       grant.FormEpoch,
		"1700000000123456":                          grant.FormEpoch,
		"1700000000123456789":                       grant.FormEpoch,
		"season-2026-week-34:player-42:rank-3":      "",
		"007":                                       "",
		"e1":                                        "",
		"2026-11-30":                                "",
		"20261130":                                  "",
		"daily:2026113010":                          "", // an hour
		"daily:1764460800":                          "", // a midnight
		"daily:1764460800000":                       "",
		"1764460801":                                grant.FormEpoch,
		"9999999999":                                "",
		"76561198308210211":                         "",
		"ABCDEFGHJKMNPQRSTVWXYZABCD":                "",
		"":                                          "",
	} {
		form, random := grant.LooksRandom(id)
		if form != want || random != (want != "") {
			t.Errorf("%q: %q, %v; want %q", id, form, random, want)
		}
	}
}
