package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write writes a configuration file that Load reads back, with mode 0600, whole or not at all.
// Values that are zero or the default are left out. Secrets are written as they are, which is
// why nobody else may read the file.
func Write(path, current string, contexts ...Context) error {
	root := mapping()
	add(root, "current_context", scalar(current))
	all := mapping()
	add(root, "contexts", all)
	for _, c := range contexts {
		add(all, c.Name, contextNode(c))
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(root), encoder.Close()); err != nil {
		return err
	}
	return writeWhole(path, b.Bytes())
}

// contextNode returns the values of a context that are worth writing.
func contextNode(c Context) *yaml.Node {
	node, zero := mapping(), Context{}
	sections := map[string]*yaml.Node{}
	for _, k := range keys() {
		written := text(k.at(&c))
		if s, is := k.at(&c).(*Secret); is {
			written = s.Reveal()
		}
		if written == k.unset || written == text(k.at(&zero)) {
			continue
		}
		value := scalar(written)
		if list, is := k.at(&c).(*[]string); is {
			value = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
			for _, item := range *list {
				value.Content = append(value.Content, scalar(item))
			}
		}
		if list, is := k.at(&c).(*Ledgers); is {
			value = list.node()
		}
		if rules, is := k.at(&c).(*ApprovalRules); is {
			value = rules.node()
		}
		section, name, two := strings.Cut(k.name, ".")
		if !two {
			add(node, k.name, value)
			continue
		}
		if sections[section] == nil {
			sections[section] = mapping()
			add(node, section, sections[section])
		}
		add(sections[section], name, value)
	}
	return node
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode} }

func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func add(to *yaml.Node, key string, value *yaml.Node) {
	to.Content = append(to.Content, scalar(key), value)
}

// writeWhole writes a file beside its place and then moves it there.
func writeWhole(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".rewardctl-") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
