package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// variablePrefix opens the name of every environment variable that is read.
const variablePrefix = "REWARDCTL_"

// Variables besides those of the keys. What starts with testPrefix belongs to tests.
const (
	fileVariable    = variablePrefix + "CONFIG"
	contextVariable = variablePrefix + "CONTEXT"
	testPrefix      = variablePrefix + "TEST_"
)

// Source says where to look for the configuration.
type Source struct {
	// File is the configuration file. Empty means $REWARDCTL_CONFIG, else DefaultFile, which
	// need not exist.
	File string
	// Context is the active context. Empty means $REWARDCTL_CONTEXT, else the file's
	// current_context, else its only context.
	Context string
	// Flags override values where a flag was given: --lease-ttl overrides lease.ttl. Flags
	// that name no key are not ours. Nil means none.
	Flags *pflag.FlagSet
	// Environ replaces the process environment, as name=value. Nil means os.Environ().
	Environ []string
}

// Config is a configuration with one active context.
type Config struct {
	path     string
	exists   bool
	active   Context
	settings []Setting
	contexts []Summary
}

// Setting is one value of the active context, and where it came from.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // stars if it is secret
	Origin string `json:"origin"`
	About  string `json:"about"`
}

// Summary is one context of the file.
type Summary struct {
	Name        string `json:"name"`
	Environment string `json:"environment"`
	ReadOnly    bool   `json:"read_only"`
	Protected   bool   `json:"protected"`
	Active      bool   `json:"active"`
}

// DefaultFile returns where the configuration is looked for when nothing else is said.
func DefaultFile() string { return filepath.Join(xdg.ConfigHome, "rewardctl", "config.yaml") }

// StateDir returns the folder for what outlives a run and is no configuration, such as drafts.
func StateDir() string { return filepath.Join(xdg.StateHome, "rewardctl") }

// Path returns the configuration file, and whether it exists.
func (c *Config) Path() (path string, exists bool) { return c.path, c.exists }

// Active returns the active context.
func (c *Config) Active() Context { return c.active }

// Settings returns all values of the active context with their origins, in the order of the
// documentation. Secrets are stars.
func (c *Config) Settings() []Setting { return slices.Clone(c.settings) }

// Contexts returns the contexts of the file, in its order.
func (c *Config) Contexts() []Summary { return slices.Clone(c.contexts) }

// Load reads and checks the configuration. It joins one *Error per problem. A context without
// servers is no problem: PoolConfig and RedisOptions say so when they are asked for.
func Load(s Source) (*Config, error) {
	l := loader{source: s, env: environment(s.Environ)}
	f, err := l.readFile()
	if err != nil {
		return nil, err
	}
	return l.load(f)
}

// loader is one run of Load.
type loader struct {
	source   Source
	env      map[string]string
	exists   bool
	problems []error
}

// environment keeps our variables that are not empty.
func environment(environ []string) map[string]string {
	if environ == nil {
		environ = os.Environ()
	}
	env := map[string]string{}
	for _, line := range environ {
		name, val, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, variablePrefix) && val != "" {
			env[name] = val
		}
	}
	return env
}

// readFile finds and parses the file. A missing file is an error only if it was asked for.
func (l *loader) readFile() (*file, error) {
	path, asked := l.source.File, true
	if path == "" {
		path = l.env[fileVariable]
	}
	if path == "" {
		path, asked = DefaultFile(), false
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return &file{path: path}, nil
	}
	if err != nil {
		return nil, &Error{
			Where: path, Problem: "cannot be read: " + reason(err),
			WayOut: "name the file with --config",
		}
	}
	if !info.Mode().IsRegular() || info.Size() > fileMax {
		return nil, &Error{
			Where: path, Problem: "is not a file of up to 1 MiB",
			WayOut: "name the file with --config",
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Where: path, Problem: "cannot be read: " + reason(err)}
	}
	l.exists = true
	f, err := parse(path, content)
	if err != nil {
		return nil, err
	}
	return f, f.checkMode(info.Mode())
}

// reason returns an error of the file system without the path, which the message has already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// load picks the context and lays the sources over each other.
func (l *loader) load(f *file) (*Config, error) {
	l.checkVariables()
	name, err := l.pick(f)
	if err != nil {
		return nil, errors.Join(append(l.problems, err)...)
	}
	c := &Config{path: f.path, exists: l.exists, contexts: summaries(f, name)}
	c.active.Name = name
	origins := l.fill(&c.active, f.contexts[name])
	if len(l.problems) == 0 {
		l.complete(&c.active, origins, filepath.Dir(f.path))
	}
	if len(l.problems) > 0 {
		return nil, errors.Join(l.problems...)
	}
	for _, k := range keys() {
		c.settings = append(c.settings, Setting{
			Key: k.name, Value: text(k.at(&c.active)), Origin: origins[k.name].where,
			About: k.about,
		})
	}
	return c, nil
}

// checkVariables complains about variables of ours that mean nothing: a misspelled
// REWARDCTL_READ_ONLY must not be ignored.
func (l *loader) checkVariables() {
	known := []string{fileVariable, contextVariable}
	for _, k := range keys() {
		known = append(known, k.variable())
	}
	for name := range l.env {
		if slices.Contains(known, name) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		var lower []string
		for _, k := range known {
			lower = append(lower, strings.ToLower(k))
		}
		l.problems = append(l.problems, &Error{
			Where: "environment", Key: name, Problem: "is not a known variable",
			WayOut: meantVariable(name, lower),
		})
	}
}

func meantVariable(name string, lower []string) string {
	if n := nearest(name, lower); n != "" {
		return fmt.Sprintf("did you mean %s?", strings.ToUpper(n))
	}
	return "`rewardctl config show` lists the keys"
}

// pick returns the name of the active context.
func (l *loader) pick(f *file) (string, error) {
	name, where := l.source.Context, "--context"
	if name == "" {
		name, where = l.env[contextVariable], contextVariable
	}
	if name == "" {
		name, where = f.current, f.path+": current_context"
	}
	switch {
	case name == "" && len(f.order) == 0:
		return "default", nil
	case name == "" && len(f.order) == 1:
		return f.order[0], nil
	case name == "":
		return "", &Error{
			Where: f.path, Problem: "holds several contexts and no current_context",
			WayOut: "choose one with --context: " + strings.Join(f.order, ", "),
		}
	}
	if _, known := f.contexts[name]; known {
		return name, nil
	}
	wayOut := "the file " + f.path + " holds none"
	if len(f.order) > 0 {
		wayOut = didYouMean(name, f.order)
	}
	return "", &Error{Where: where, Value: name, Problem: "is not a known context", WayOut: wayOut}
}

// origin is where a value came from.
type origin struct {
	where string
	rank  int // the higher one wins
}

// The ranks of origins.
const (
	fromDefault = iota
	fromFile
	fromEnvironment
	fromFlag
)

// fill parses all values of a context into it and returns where each came from.
func (l *loader) fill(c *Context, inFile map[string]value) map[string]origin {
	layers := viper.New()
	origins := map[string]origin{}
	for _, k := range keys() {
		layers.SetDefault(k.name, k.unset)
		origins[k.name] = origin{"default", fromDefault}
		if v, is := inFile[k.name]; is {
			l.merge(layers, k, v.any())
			origins[k.name] = origin{v.where, fromFile}
		}
		if v, is := l.env[k.variable()]; is && !pinned(layers, k) {
			l.merge(layers, k, v)
			origins[k.name] = origin{"environment " + k.variable(), fromEnvironment}
		}
		if flag := l.flag(k); flag != nil && !pinned(layers, k) {
			if err := layers.BindPFlag(k.name, flag); err == nil {
				origins[k.name] = origin{"flag --" + k.flag(), fromFlag}
			}
		}
		raw := layers.GetString(k.name)
		if k.list() {
			raw = strings.Join(layers.GetStringSlice(k.name), ",")
		}
		if problem, wayOut := set(k.at(c), raw); problem != "" {
			l.fail(origins[k.name], k, raw, problem, wayOut)
		}
	}
	return origins
}

// pinned reports whether a key is on, and stays on whatever later sources say.
func pinned(layers *viper.Viper, k key) bool {
	return k.sticky() && layers.GetString(k.name) == "true"
}

func (v value) any() any {
	if v.isSeq {
		return v.list
	}
	return v.text
}

// merge puts a value over the ones below it.
func (l *loader) merge(layers *viper.Viper, k key, v any) {
	if text, is := v.(string); is && k.list() {
		v = splitList(text)
	}
	section, name, two := strings.Cut(k.name, ".")
	tree := map[string]any{section: v}
	if two {
		tree = map[string]any{section: map[string]any{name: v}}
	}
	if err := layers.MergeConfigMap(tree); err != nil {
		l.problems = append(l.problems, err)
	}
}

func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// flag returns the flag of a key if it was given. Secrets are never taken from flags.
func (l *loader) flag(k key) *pflag.Flag {
	if l.source.Flags == nil || k.secret() {
		return nil
	}
	if f := l.source.Flags.Lookup(k.flag()); f != nil && f.Changed {
		return f
	}
	return nil
}

// fail notes a problem with a value.
func (l *loader) fail(from origin, k key, val, problem, wayOut string) {
	if k.secret() {
		val = stars
	}
	if strings.HasSuffix(k.name, "url") {
		val = MaskURL(val)
	}
	l.problems = append(l.problems, &Error{
		Where: from.where, Key: k.name, Value: val, Problem: problem, WayOut: wayOut,
	})
}

func summaries(f *file, active string) []Summary {
	var all []Summary
	for _, name := range f.order {
		v := f.contexts[name]
		s := Summary{
			Name: name, Environment: v["environment"].text, Active: name == active,
			ReadOnly:  v["read_only"].text == "true",
			Protected: v["protected"].text == "true",
		}
		if s.Environment == "" {
			s.Environment = name
		}
		all = append(all, s)
	}
	return all
}
