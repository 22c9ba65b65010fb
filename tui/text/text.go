// Package text is the catalogue of everything that the console says in its own words, in each of
// its languages.
//
// The English sentence is the key. The file catalogue.txt has every sentence once, with what it
// is in the other languages; a test reads the sources of the console and fails when one of them
// says something that the catalogue does not have, or when the catalogue has something that
// nobody says. Words of the engine, such as outcomes, check names and what servers answer, are
// not translated: they are the same in logs, commands and files.
package text

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed catalogue.txt
var catalogue string

// The languages, as in the configuration.
const (
	English = "en"
	Korean  = "ko"
)

// Languages lists the languages that the console speaks.
func Languages() []string { return []string{English, Korean} }

// Entry is one sentence of the catalogue.
type Entry struct {
	Line    int // in the file
	English string
	Korean  string
}

// Entries returns the catalogue in the order of the file.
func Entries() []Entry {
	var (
		all  []Entry
		have Entry
	)
	for i, line := range strings.Split(catalogue, "\n") {
		switch {
		case strings.HasPrefix(line, "en: "):
			have = Entry{Line: i + 1, English: line[len("en: "):]}
		case strings.HasPrefix(line, "ko: "):
			have.Korean = line[len("ko: "):]
		case line == "" && have.English != "":
			all, have = append(all, have), Entry{}
		}
	}
	if have.English != "" {
		all = append(all, have)
	}
	return all
}

// Language puts sentences into one language. A nil Language speaks English.
type Language struct {
	name  string
	words map[string]string
}

// New returns a language by its name; English for a name that it does not know.
func New(name string) *Language {
	l := &Language{name: English}
	if name != Korean {
		return l
	}
	l.name, l.words = Korean, map[string]string{}
	for _, e := range Entries() {
		l.words[e.English] = e.Korean
	}
	return l
}

// Name returns the language's name.
func (l *Language) Name() string {
	if l == nil {
		return English
	}
	return l.name
}

// T returns a sentence in the language, with args put in as fmt.Sprintf does.
func (l *Language) T(sentence string, args ...any) string {
	if l != nil {
		if own, ok := l.words[sentence]; ok && own != "" {
			sentence = own
		}
	}
	if len(args) == 0 {
		return sentence
	}
	return fmt.Sprintf(sentence, args...)
}

// N marks a sentence that is translated elsewhere, where the language is known.
func N(sentence string) string { return sentence }

// Detect returns the language of a locale, from the environment variables that getenv looks up:
// LC_ALL, LC_MESSAGES and LANG, in this order.
func Detect(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			if strings.HasPrefix(strings.ToLower(value), Korean) {
				return Korean
			}
			return English
		}
	}
	return English
}
