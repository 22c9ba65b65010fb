package inspect_test

import (
	"strings"
	"testing"

	"rewardctl/inspect"

	"pgregory.net/rapid"
)

// Ids of one reward that was tried again: same is what they must have in common.
func TestNormalEventSeesThroughRetries(t *testing.T) {
	t.Parallel()
	const spelling, bare = "spelling", "bare"
	for name, c := range map[string]struct{ a, b, same string }{
		"case":                 {"Daily:2026-11-30", "daily:2026-11-30", spelling},
		"blank at the end":     {"daily:2026-11-30", "daily:2026-11-30 ", spelling},
		"blank inside":         {"daily: 2026-11-30", "daily:2026-11-30", spelling},
		"no-break blank":       {"daily:\u00a02026-11-30", "daily:2026-11-30", spelling},
		"zero width":           {"daily\u200b:2026-11-30", "daily:2026-11-30", spelling},
		"byte order mark":      {"\ufeffdaily:2026-11-30", "daily:2026-11-30", spelling},
		"direction":            {"daily:\u202e2026-11-30", "daily:2026-11-30", spelling},
		"line end":             {"daily:2026-11-30\r\n", "daily:2026-11-30", spelling},
		"composed":             {"d\u00e9but:1", "de\u0301but:1", spelling},
		"full width":           {"ｄａｉｌｙ:1", "daily:1", spelling},
		"kelvin sign":          {"wee\u212a-34", "week-34", spelling},
		"retry":                {"rank-3", "rank-3-retry", spelling},
		"retry number":         {"rank-3:retry-1", "rank-3:retry-2", spelling},
		"retry with hash":      {"rank-3", "rank-3#retry2", spelling},
		"attempt":              {"rank-3_attempt_2", "rank-3", spelling},
		"attempt in words":     {"rank-3 attempt 2", "rank-3", spelling},
		"in brackets":          {"rank-3 (retry 2)", "rank-3", spelling},
		"copy":                 {"rank-3 (2)", "rank-3", spelling},
		"copy by name":         {"rank-3-copy", "rank-3", spelling},
		"query":                {"rank-3?retry=2", "rank-3", spelling},
		"twice":                {"rank-3-retry-retry2", "rank-3", spelling},
		"resend":               {"rank-3.resend", "rank-3", spelling},
		"separator left":       {"rank-3:", "rank-3", spelling},
		"uuid":                 {"gift:1b4e28ba-2fa1-11d2-883f-0016d3cca427", "gift", bare},
		"uuid in the middle":   {"g:1b4e28ba-2fa1-11d2-883f-0016d3cca427:x", "g:x", bare},
		"uuid in front":        {"1B4E28BA-2FA1-11D2-883F-0016D3CCA427-gift", "gift", bare},
		"uuid without hyphens": {"gift:1b4e28ba2fa111d2883f0016d3cca427", "gift", bare},
		"ulid":                 {"g_01ARZ3NDEKTSV4RRFFQ69G5FAV", "g_01BX5ZZKBKACTAV9WEVGEMMVS0", bare},
		"epoch":                {"login-1764506097", "login-1764506099", bare},
		"epoch in ms":          {"login:1764506097123", "login:1764506097777", bare},
		"epoch in us":          {"login:1764506097123456", "login", bare},
		"epoch in ns":          {"login:1764506097123456789", "login", bare},
		"iso":                  {"login:2026-11-30T12:34:56Z", "login:2026-11-30T12:35:01Z", bare},
		"iso with fraction":    {"l:2026-11-30T12:34:56.7+01:00", "l:2026-11-30T12:34:57.1+01:00", bare},
		"across midnight":      {"l:2026-11-30T23:59:59Z", "l:2026-12-01T00:00:01Z", bare},
		"with a blank":         {"l 2026-11-30 12:34:56", "l 2026-11-30 12:34:59", bare},
		"in file names":        {"l_2026-11-30_12-34-56", "l_2026-11-30_12-34-58", bare},
		"basic iso":            {"l:20261130T123456Z", "l:20261130T123501Z", bare},
		"digits only":          {"l-20261130123456", "l-20261130123501", bare},
		"uuid and retry":       {"g:1b4e28ba-2fa1-11d2-883f-0016d3cca427-retry-2", "g", bare},
		"retry then instant":   {"rank-3-retry-1764506097", "rank-3", spelling},
	} {
		a, b := inspect.NormalEvent(c.a), inspect.NormalEvent(c.b)
		same := ""
		switch {
		case a.Spelling == b.Spelling:
			same = spelling
		case a.Bare == b.Bare:
			same = bare
		}
		if same != c.same {
			t.Errorf("%s: %q and %q share %q, want %q: %+v, %+v", name, c.a, c.b, same, c.same, a, b)
		}
	}
}

// Ids of two rewards: they must stay apart however alike they look.
func TestNormalEventKeepsRewardsApart(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"daily:2026-11-29", "daily:2026-11-30"},
		{"daily:20261129", "daily:20261130"},
		{"daily-1", "daily-2"},
		{"daily-1", "daily-11"},
		{"daily:day-17", "daily:day-18"},
		{"daily", "daily-2"},
		{"daily #1", "daily #2"},
		{"login day 1 2", "login day 12"},
		{"hourly:2026-11-30T10", "hourly:2026-11-30T11"},
		{"hourly:2026-11-30T10:00", "hourly:2026-11-30T11:00"},
		{"hourly:2026-11-30T10:00:00Z", "hourly:2026-11-30T11:00:00Z"},
		{"hourly:2026113010", "hourly:2026113011"},
		{"half:2026-11-30T10:30:00Z", "half:2026-11-30T11:00:00Z"},
		{"chest:2026-11-30T10:10:00Z", "chest:2026-11-30T10:20:00Z"},
		{"chest:202611301010", "chest:202611301020"},
		{"daily:1764460800", "daily:1764547200"},
		{"daily:1764460800000", "daily:1764547200000"},
		{"daily:2026-11-29T00:00:00Z", "daily:2026-11-30T00:00:00Z"},
		{"order-20261130-000123", "order-20261130-000124"},
		{"order-1234567890", "order-1234567891"},
		{"week-34", "week-35"},
		{"rank-3:gems:v1", "rank-3:gems:v2"},
		{"season-2026-week-34:player-42:rank-3", "season-2026-week-34:player-42:rank-2"},
		{"entry", "en"},
		{"guild:12:34:56", "guild:12:34:57"},
		{"platform:76561198308210211", "platform:76561198308210212"},
		{"x_y", "xy"},
		{"a:b", "ab"},
		{"quest 3", "quest 4"},
		{"日次:1", "日次:2"},
		{"(1)", "(2)"},
	} {
		a, b := inspect.NormalEvent(pair[0]), inspect.NormalEvent(pair[1])
		if a.Spelling == b.Spelling || a.Bare == b.Bare {
			t.Errorf("%q and %q are taken for one: %+v, %+v", pair[0], pair[1], a, b)
		}
	}
}

func TestNormalEventPattern(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"Gift:1B4E28BA-2FA1-11D2-883F-0016D3CCA427":   "gift:{uuid}",
		"login-1764506097":                            "login-{instant}",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV:2026-11-30-retry": "{ulid}:2026-11-30",
		"daily:2026-11-30T12:34:56Z:gems":             "daily:{instant}:gems",
		"season-2026-week-34:player-42:rank-3":        "season-2026-week-34:player-42:rank-3",
		"{uuid}":                                      "{uuid}",
	} {
		if got := inspect.NormalEvent(id).Pattern; got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

// Whatever the text: no panic, nothing invisible is left, and what cannot be seen makes no
// difference.
func TestNormalEventProperties(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"daily", ":", "-", " ", "2026-11-30", "T12:34:56Z", "retry", "-retry-2", "1764506097",
		"1b4e28ba-2fa1-11d2-883f-0016d3cca427", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "\u200b", "(", "7",
	}))
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces")
		id := strings.Join(pieces, "")
		forms := inspect.NormalEvent(id)
		for _, form := range []string{forms.Spelling, forms.Bare, forms.Pattern} {
			if strings.ContainsAny(form, "\x00 \t\r\n\u200b\ufeff") {
				t.Fatalf("%q: %q holds what cannot be seen", id, form)
			}
		}
		hidden := " " + strings.Join(pieces, "\u200b") + "\u00a0\r\n"
		if again := inspect.NormalEvent(hidden); again != forms {
			t.Fatalf("%q: %+v, but %q: %+v", id, forms, hidden, again)
		}
	})
}

func BenchmarkNormalEvent(b *testing.B) {
	for b.Loop() {
		inspect.NormalEvent("daily:2024-01-01:player-99999:gems:v1")
	}
}
