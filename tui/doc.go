// Package tui is the console: screens over what inspect reads and repair does.
//
// # How it is built
//
// One root model holds the screens, a stack of dialogs, a prompt and the messages. Keys go to the
// top dialog, else to the prompt, else to the global bindings, else to the screen. One list of
// bindings per layer drives dispatch, footer, help, palette and the configuration of keys. Bubble
// Tea merges fast keystrokes into one message; the dispatcher takes such bursts apart and never
// starts anything dangerous from one.
//
// Update and View never wait. Feeds read in goroutines of their own, build immutable snapshots
// and hand them over through an atomic pointer; jobs have one context each. Everything from
// outside passes through safetext before it is drawn.
//
// Whatever changes state is one Action: its dialog, its preview, its preconditions, its command
// line and its execution are the same value. A dialog shows what the operator saw beside what is
// there now and refuses when the two part. In a protected context nothing changes outside a write
// window.
//
// # Where things are
//
//   - run, root, frame, keys, global, keymap: the program, the screen around the screens, the keys.
//   - list*, feed, table: what all lists have in common. A screen of rows is a listSpec: leases,
//     audits, findings, plans, planrows, outbox, oplog, doctor, drills.
//   - now*, player*, grant*: the screens that are more than a list.
//   - action, deed*, simpledeed, arm: asking before anything is changed. release, grantdeed,
//     outboxdeed, plandeed, planfile, reversedeed: the deeds.
//   - prompt, command, picker, page, reading, handover: ways to ask and to be told.
//   - paint: lipgloss styles by role, glyphs, bars. safetext: harmless text and its width.
//     text: the catalogue of languages. tuitest: a console in a terminal emulator, for tests.
package tui
