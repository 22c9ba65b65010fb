package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// emptyWord has this program be the empty one.
const emptyWord = "console-empty"

// openEmpty starts a program with the same loop as the console, whose screen is empty but for a
// mark: what a key costs at least, on this machine at this moment.
func (w *consoleWorld) openEmpty(ctx context.Context, width, height int) (*screen, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := openScreen(exec.CommandContext(ctx, self, emptyWord), width, height)
	if err != nil {
		return nil, err
	}
	_, err = s.until(ctx, time.Now(), func() bool { return cursorAt(0)(s) })
	return s, err
}

// runEmpty is the empty program.
func runEmpty(ctx context.Context) error {
	_, err := tea.NewProgram(emptyModel{}, tea.WithContext(ctx), tea.WithAltScreen()).Run()
	return err
}

// emptyModel moves a mark between the first two lines with each key.
type emptyModel struct{ down bool }

type emptyTick struct{}

func emptyBeat() tea.Cmd {
	return tea.Tick(250*time.Millisecond, func(time.Time) tea.Msg { return emptyTick{} })
}

// Init starts the beat that the console has, too.
func (m emptyModel) Init() tea.Cmd { return emptyBeat() }

// Update takes a key.
func (m emptyModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg.(type) {
	case tea.KeyMsg:
		m.down = !m.down
	case emptyTick:
		return m, emptyBeat()
	}
	return m, nil
}

// View draws the mark.
func (m emptyModel) View() string {
	if m.down {
		return strings.Join([]string{"", "▶"}, "\n")
	}
	return "▶"
}
