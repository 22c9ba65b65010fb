package config

import (
	"fmt"
	"io"
	"log/slog"
)

// stars is what a secret looks like. Its length tells nothing.
const stars = "********"

// Secret is a value that must not be seen: it prints as stars in every format, logs included.
// The zero value is no secret at all, and prints as nothing.
type Secret struct {
	// A pointer, so that a printer which bypasses the methods shows an address.
	value *string
}

// NewSecret keeps a value secret. An empty one is no secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the value, or "" if there is none. It is for drivers only.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Set reports whether there is a value.
func (s Secret) Set() bool { return s.value != nil }

// String returns stars, or "" if there is no value.
func (s Secret) String() string {
	if s.value == nil {
		return ""
	}
	return stars
}

// GoString returns what String does.
func (s Secret) GoString() string { return s.String() }

// Format prints what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns what String does; JSON and other encoders use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML returns what String does.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
