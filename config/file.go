package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fileMax bounds the size of a configuration file.
const fileMax = 1 << 20

// value is a setting as it stands in a file.
type value struct {
	text  string   // of a scalar
	list  []string // of a list
	isSeq bool
	where string // file and line
}

// file is a parsed configuration file whose keys are all known.
type file struct {
	path     string
	current  string
	contexts map[string]map[string]value // by context and key
	order    []string                    // the contexts as they stand in the file
}

// parse reads a configuration file's content. The error joins one *Error per problem.
func parse(path string, content []byte) (*file, error) {
	f := &file{path: path, contexts: map[string]map[string]value{}}
	if len(content) > fileMax {
		return nil, &Error{
			Where: path, Problem: "is larger than 1 MiB",
			WayOut: "is it a configuration file?",
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return f, nil
	} else if err != nil {
		return nil, &Error{Where: path, Problem: "is not YAML: " + err.Error()}
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, &Error{
			Where: path, Problem: "holds more than one document",
			WayOut: "keep one, and separate contexts by name",
		}
	}
	if len(doc.Content) == 0 {
		return f, nil
	}
	r := &reader{file: f}
	r.root(doc.Content[0])
	return f, errors.Join(r.problems...)
}

// reader walks a YAML document and collects what is wrong with it.
type reader struct {
	file     *file
	problems []error
}

func (r *reader) fail(n *yaml.Node, key, val, problem, wayOut string) {
	r.problems = append(r.problems, &Error{
		Where: r.where(n), Key: key, Value: val, Problem: problem, WayOut: wayOut,
	})
}

func (r *reader) where(n *yaml.Node) string { return fmt.Sprintf("%s:%d", r.file.path, n.Line) }

// entries calls do for each key of a mapping, and complains about everything else.
func (r *reader) entries(n *yaml.Node, at string, do func(name string, key, val *yaml.Node)) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, at, "", "is not a mapping", "indent its keys below it")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			r.fail(key, at, "", "has a key that is not plain text", "write it as a word")
		case seen[key.Value]:
			r.fail(key, join(at, key.Value), "", "is there twice", "keep one")
		default:
			seen[key.Value] = true
			do(key.Value, key, val)
		}
	}
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func (r *reader) root(n *yaml.Node) {
	r.entries(n, "", func(name string, key, val *yaml.Node) {
		switch name {
		case "current_context":
			r.file.current = r.scalar(val, name).text
		case "contexts":
			r.entries(val, name, r.context)
		default:
			r.fail(key, name, "", "is not a known key",
				didYouMean(name, []string{"current_context", "contexts"}))
		}
	})
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

func (r *reader) context(name string, key, val *yaml.Node) {
	at := join("contexts", name)
	if !contextName.MatchString(name) {
		r.fail(key, at, "", "is not a name for a context", "use letters, digits, - and _")
		return
	}
	values := map[string]value{}
	r.file.contexts[name] = values
	r.file.order = append(r.file.order, name)
	r.entries(val, at, func(name string, key, val *yaml.Node) {
		if slices.Contains(sections(), name) {
			r.entries(val, join(at, name), func(inner string, key, val *yaml.Node) {
				r.setting(values, at, join(name, inner), key, val)
			})
			return
		}
		r.setting(values, at, name, key, val)
	})
}

// setting takes one value of a context down.
func (r *reader) setting(values map[string]value, at, name string, key, val *yaml.Node) {
	for _, k := range keys() {
		if k.name != name {
			continue
		}
		if val.Kind == yaml.ScalarNode && val.Tag == "!!null" {
			return
		}
		if k.ledgers() {
			values[name] = r.ledgers(val, join(at, name))
		} else if k.approvalRules() {
			values[name] = r.approvalRules(val, join(at, name))
		} else if k.list() {
			values[name] = r.sequence(val, join(at, name))
		} else {
			values[name] = r.scalar(val, join(at, name))
		}
		return
	}
	if problem, wayOut := forbidden(name); problem != "" {
		r.fail(key, join(at, name), "", problem, wayOut)
		return
	}
	r.fail(key, join(at, name), "", "is not a known key", didYouMean(name, siblings(name)))
}

// siblings returns the known names most likely meant by an unknown one: those of its section, or
// all if it has none.
func siblings(name string) []string {
	section, _, two := strings.Cut(name, ".")
	var names []string
	for _, k := range keys() {
		if !two || strings.HasPrefix(k.name, section+".") {
			names = append(names, k.name)
		}
	}
	if !two {
		names = append(names, sections()...)
	}
	return names
}

func (r *reader) scalar(n *yaml.Node, at string) value {
	if n.Kind != yaml.ScalarNode {
		r.fail(n, at, "", "is not a single value", "give one value")
	}
	return value{text: n.Value, where: r.where(n)}
}

// sequence takes a list, or one text with commas.
func (r *reader) sequence(n *yaml.Node, at string) value {
	if n.Kind == yaml.ScalarNode {
		return r.scalar(n, at)
	}
	v := value{isSeq: true, where: r.where(n)}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, at, "", "is not a list", "write [a, b]")
	}
	for _, item := range n.Content {
		v.list = append(v.list, r.scalar(item, at).text)
	}
	return v
}
