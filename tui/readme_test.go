package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The screens in the README are those of the goldens, line by line.
func TestReadmeShowsTheGoldens(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	var goldens []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		goldens = append(goldens, "\n"+string(text))
	}
	screens := 0
	for i, block := range strings.Split(string(readme), "```\n") {
		inside := i%2 == 1
		if !inside || !strings.HasPrefix(block, " DEMO  │") && !strings.HasPrefix(block, "────") {
			continue
		}
		screens++
		found := false
		for _, golden := range goldens {
			found = found || strings.Contains(golden, "\n"+block)
		}
		if !found {
			t.Errorf("no golden has this screen of the README:\n%s", block)
		}
	}
	if screens < 2 {
		t.Errorf("the README shows %d screens", screens)
	}
}
