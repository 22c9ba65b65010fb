package workbook

import (
	"testing"
	"unicode/utf8"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]Shown{
		"General": ShownExactly, "0": ShownExactly, "@": ShownExactly, "#": ShownExactly,
		"0.00": ShownInFull, "#,##0": ShownInFull, "#,##0.00": ShownInFull, "000000": ShownInFull,
		`_-* #,##0_-;\-* #,##0_-`: ShownInFull, "[Red]0": ShownInFull, "0;[Red]-0": ShownExactly,
		"[White]0": ShownAsOther, "[>100]0;1": ShownAsOther, "0.0,": ShownAsOther,
		"0,,": ShownAsOther, "0,.0": ShownAsOther, "0%": ShownAsOther, ";;;": ShownAsOther,
		"":   ShownAsOther,
		`""`: ShownAsOther, `0"k"`: ShownAsOther, `0\k`: ShownAsOther, "0.0E+0": ShownAsOther,
		"# ?/?": ShownAsOther, `[$€-407] 0`: ShownAsOther, "0*9": ShownAsOther, "0x": ShownAsOther,
		"yyyy-mm-dd": ShownAsDate, "[h]:mm:ss": ShownAsDate, "d. mmm": ShownAsDate,
		`[$-409]h:mm AM/PM;@`: ShownAsDate, `"`: ShownAsOther, "[": ShownAsOther, `\`: ShownAsOther,
		"_": ShownAsOther, "*": ShownAsOther,
	} {
		if got := judge(code); got.shown != want {
			t.Errorf("%q: %v, want %v", code, got.shown, want)
		}
	}
	for id, want := range map[string]Shown{
		"0": ShownExactly, "1": ShownExactly, "49": ShownExactly, "": ShownExactly,
		"3": ShownInFull, "44": ShownInFull, "9": ShownAsOther, "11": ShownAsOther, "12": ShownAsOther,
		"14": ShownAsDate, "22": ShownAsDate, "47": ShownAsDate, "48": ShownAsOther, "163": ShownAsOther,
		"-1": ShownAsOther, "x": ShownAsOther,
	} {
		if got := styleOf(id, nil); got.shown != want {
			t.Errorf("number %q: %v, want %v", id, got.shown, want)
		}
	}
	// A workbook may give one of the known numbers a format of its own.
	if got := styleOf("1", map[string]string{"1": "0,"}); got.shown != ShownAsOther {
		t.Errorf("a format that was changed: %v", got.shown)
	}
	for code, want := range map[string]bool{
		";;;": true, "0;0;0": false, "0;0;0;@": false, `0;0;0;"x"`: true, `0;0;0;"@"`: true,
	} {
		if got := judge(code); got.hidesText != want {
			t.Errorf("%q hides text: %v", code, got.hidesText)
		}
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "_": "_", "_x0041_": "A", "_x005F_x0041_": "_x0041_", "a_x000A_b": "a\nb",
		"_xD83D__xDE00_": "😀", "_xD83D_": "\ufffd", "_xD83D__x0041_": "\ufffdA", "_x00g1_": "_x00g1_",
		"_x0041": "_x0041", "_x00e9_": "é", "__x0041_": "_A",
	} {
		if got := string(unescape([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add("_x005F_x0041_")
	f.Add("_xD83D__xDE00_")
	f.Fuzz(func(t *testing.T, text string) {
		got := unescape([]byte(text))
		if len(got) > len(text) || utf8.ValidString(text) && !utf8.Valid(got) {
			t.Fatalf("%q becomes %q", text, got)
		}
	})
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string][2]int{
		"A1": {1, 1}, "$B$12": {2, 12}, "XFD1048576": {16384, 1048576}, "aa3": {27, 3},
	} {
		if column, row, ok := parseRef(ref); !ok || [2]int{column, row} != want {
			t.Errorf("%s: %d, %d, %v", ref, column, row, ok)
		}
	}
	for _, ref := range []string{
		"", "A", "1", "A0", "A-1", "XFE1", "A1048577", "AAAAA1", "A1:B2", "Ä1",
	} {
		if _, _, ok := parseRef(ref); ok {
			t.Errorf("%q is read", ref)
		}
	}
	for n, want := range map[int]string{
		1: "A", 26: "Z", 27: "AA", 702: "ZZ", 703: "AAA", 16384: "XFD",
	} {
		if got := Column(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := (Range{2, 3, 1, 28}).Name(); got != "A2:AB3" {
		t.Error(got)
	}
}
