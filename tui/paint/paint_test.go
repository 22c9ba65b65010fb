package paint

import (
	"reflect"
	"strings"
	"testing"

	"rewardctl/tui/safetext"
)

func TestMonoKeepsAttributesAndDropsColour(t *testing.T) {
	t.Parallel()
	mono := New(Mono, false)
	if got := mono.Text(Cursor, "x"); got != "\x1b[7mx\x1b[0m" {
		t.Errorf("the cursor row without colour is %q, want reverse video", got)
	}
	for role := Plain; role < rolesEnd; role++ {
		for _, part := range strings.FieldsFunc(mono.Open(role), func(r rune) bool {
			return r < '0' || r > '9'
		}) {
			if len(part) > 1 {
				t.Errorf("role %d sends colour %q without colour", role, part)
			}
		}
	}
}

func TestEveryGlyphIsOneColumn(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]Glyphs{"unicode": unicodeGlyphs(), "ascii": asciiGlyphs()} {
		v := reflect.ValueOf(g)
		for i := range v.NumField() {
			field, ok := v.Field(i).Interface().(string)
			if !ok {
				continue
			}
			if safetext.Width(field) != 1 {
				t.Errorf("%s glyph %s is %q", name, v.Type().Field(i).Name, field)
			}
			if name == "ascii" && field[0] > 0x7e {
				t.Errorf("ascii glyph %s is %q", v.Type().Field(i).Name, field)
			}
		}
	}
}

func TestHeatAndSpark(t *testing.T) {
	t.Parallel()
	g := asciiGlyphs()
	cases := []struct {
		share float64
		want  string
	}{{0, "...."}, {0.5, "##.."}, {1, "####"}, {7, "####"}, {-1, "...."}}
	for _, c := range cases {
		if got := g.Heat(c.share, 4); got != c.want {
			t.Errorf("Heat(%v) = %q, want %q", c.share, got, c.want)
		}
	}
	if got := g.Spark([]int{0, 5, 10}); got != ".=#" {
		t.Errorf("Spark = %q", got)
	}
	if got := g.Spark([]int{-1, 5}); got != " #" {
		t.Errorf("Spark with a gap = %q", got)
	}
	if got := g.Spark(nil); got != "" {
		t.Errorf("Spark(nil) = %q", got)
	}
}

func TestBannerKnowsProduction(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]Role{
		"prod": BannerProd, "live": BannerProd, "staging": BannerStaging, "demo": BannerDev,
		"eu-shadow": BannerOther,
	} {
		if got := Banner(word); got != want {
			t.Errorf("Banner(%q) = %d, want %d", word, got, want)
		}
	}
}
