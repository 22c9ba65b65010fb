// Package tui is the console: screens over what inspect reads and repair does.
//
// # How it is built
//
// One root model holds the screens, a stack of dialogs, a prompt and the messages. Keys go to the
// top dialog, else to the prompt, else to the global bindings, else to the screen. One list of
// bindings per layer drives dispatch, footer and help. Bubble Tea merges fast keystrokes into one
// message; the dispatcher takes such bursts apart and never starts anything dangerous from one.
//
// Update and View never wait. Feeds read in goroutines of their own, build immutable snapshots
// and hand them over through an atomic pointer; jobs have one context each. Everything from
// outside passes through safetext before it is drawn.
//
// Whatever changes state is one Action: its dialog, its preview, its preconditions, its command
// line and its execution are the same value. A dialog shows what the operator saw beside what is
// there now and refuses when the two part.
package tui
