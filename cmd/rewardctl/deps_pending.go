//go:build deps

package main

import (
	_ "github.com/adrg/xdg"
	_ "github.com/alicebob/miniredis/v2"
	_ "github.com/anishathalye/porcupine"
	_ "github.com/aymanbagabas/go-osc52/v2"
	_ "github.com/charmbracelet/bubbles/textinput"
	_ "github.com/charmbracelet/bubbletea"
	_ "github.com/charmbracelet/huh"
	_ "github.com/charmbracelet/lipgloss"
	_ "github.com/charmbracelet/x/ansi"
	_ "github.com/charmbracelet/x/vt"
	_ "github.com/creack/pty"
	_ "github.com/fergusstrange/embedded-postgres"
	_ "github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/pgproto3"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-isatty"
	_ "github.com/pressly/goose/v3"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/viper"
	_ "go.uber.org/goleak"
	_ "golang.org/x/term"
	_ "golang.org/x/text/encoding/unicode"
	_ "golang.org/x/sync/errgroup"
	_ "pgregory.net/rapid"
)
