package embedded

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// oldestMajor is the oldest PostgreSQL that the schema works with and that is still maintained.
const oldestMajor = 14

// fetchedVersion is what is fetched when the machine has no PostgreSQL.
const fetchedVersion = embeddedpostgres.V17

// binaries is one installed PostgreSQL.
type binaries struct {
	dir     string // holds postgres and initdb
	version string // such as "15.18"
	major   int
}

func (b binaries) initdb() string   { return filepath.Join(b.dir, "initdb") }
func (b binaries) postgres() string { return filepath.Join(b.dir, "postgres") }

// FindPostgres returns the folder of a usable PostgreSQL's binaries on this machine, and its
// version. It looks in PATH, asks pg_config, and then tries the usual install folders, newest
// version first. The error says where it looked.
func FindPostgres(ctx context.Context) (dir, version string, err error) {
	b, err := findBinaries(ctx, candidates(ctx), 0)
	return b.dir, b.version, err
}

// findBinaries returns the first usable candidate, of the given major version unless it is 0.
func findBinaries(ctx context.Context, dirs []string, major int) (binaries, error) {
	var problems []string
	for _, dir := range dirs {
		b, err := inspect(ctx, dir)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case b.major < oldestMajor:
			problems = append(problems, fmt.Sprintf("%s: version %s is older than %d",
				dir, b.version, oldestMajor))
		case major != 0 && b.major != major:
			problems = append(problems, fmt.Sprintf("%s: is version %s", dir, b.version))
		default:
			return b, nil
		}
	}
	if len(problems) == 0 {
		problems = append(problems, "none in PATH, from pg_config, or in the usual folders")
	}
	return binaries{}, fmt.Errorf("no usable PostgreSQL found (%s)", strings.Join(problems, "; "))
}

// candidates lists folders that may hold PostgreSQL's binaries, best first.
func candidates(ctx context.Context) []string {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	var usual []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/lib/postgresql*/bin",
		"/usr/libexec/postgresql*", "/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin", "/opt/local/lib/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin", "/Library/PostgreSQL/*/bin",
		"/usr/local/pgsql/bin", "/usr/local/bin", "/usr/bin",
	} {
		found, _ := filepath.Glob(filepath.Join(pattern, "postgres")) // the patterns are valid
		for _, path := range found {
			usual = append(usual, filepath.Dir(path))
		}
	}
	slices.SortStableFunc(usual, func(a, b string) int {
		return cmp.Compare(numberIn(b), numberIn(a))
	})
	return distinct(append(dirs, usual...))
}

// numberIn returns the last whole number in a path, which is the version in the usual folders.
func numberIn(path string) int {
	all := regexp.MustCompile(`\d+`).FindAllString(path, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1]) // too long a number sorts last, as 0
	return n
}

func distinct(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// inspect asks a folder's postgres for its version and checks that initdb is there.
func inspect(ctx context.Context, dir string) (binaries, error) {
	b := binaries{dir: dir}
	if _, err := os.Stat(b.initdb()); err != nil {
		return b, fmt.Errorf("%s: no initdb", dir)
	}
	out, err := exec.CommandContext(ctx, b.postgres(), "--version").Output()
	if err != nil {
		return b, fmt.Errorf("%s: postgres --version: %w", dir, err)
	}
	match := regexp.MustCompile(`\(PostgreSQL\) (\d+)(\S*)`).FindStringSubmatch(string(out))
	if match == nil {
		return b, fmt.Errorf("%s: postgres --version answers %q", dir, out)
	}
	b.version = match[1] + match[2]
	b.major, err = strconv.Atoi(match[1])
	return b, err
}

// fetchBinaries gets PostgreSQL through the embedded-postgres library, once per machine.
func fetchBinaries(ctx context.Context) (binaries, error) {
	dir := filepath.Join(cacheDir(), "postgresql-"+string(fetchedVersion))
	if b, err := inspect(ctx, filepath.Join(dir, "bin")); err == nil {
		return b, nil
	}
	if err := os.MkdirAll(cacheDir(), 0o755); err != nil {
		return binaries{}, err
	}
	work, err := os.MkdirTemp(cacheDir(), workPrefix)
	if err != nil {
		return binaries{}, err
	}
	defer os.RemoveAll(work)
	port, err := freePort()
	if err != nil {
		return binaries{}, err
	}
	fetched := make(chan error, 1)
	go func() { fetched <- fetchInto(work, port) }()
	select {
	case err = <-fetched:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return binaries{}, err
	}
	if err := readable(filepath.Join(work, "postgresql")); err != nil {
		return binaries{}, err
	}
	// Losing the race against another process is fine: the winner's binaries are the same.
	_ = os.Rename(filepath.Join(work, "postgresql"), dir)
	return inspect(ctx, filepath.Join(dir, "bin"))
}

// fetchInto lets the library download and unpack its binaries into dir/postgresql. The library
// offers that only as a part of starting a server, which we do not want, and which fails for
// root: binaries in place are what counts, whatever it says about the rest.
func fetchInto(dir string, port int) error {
	target := filepath.Join(dir, "postgresql")
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(fetchedVersion).Port(uint32(port)).Logger(io.Discard).
		CachePath(filepath.Join(dir, "archive")).BinariesPath(target).
		RuntimePath(filepath.Join(dir, "runtime")).DataPath(filepath.Join(dir, "data")))
	err := server.Start()
	if err == nil {
		err = server.Stop()
	}
	for _, name := range []string{"postgres", "initdb"} {
		if _, missing := os.Stat(filepath.Join(target, "bin", name)); missing != nil {
			return fmt.Errorf("fetch PostgreSQL %s: %w", fetchedVersion, err)
		}
	}
	return nil
}

// readable lets the account that runs the server read fetched binaries, which we unpacked.
func readable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Type()&os.ModeSymlink != 0 {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o044
		if d.IsDir() || mode&0o100 != 0 {
			mode |= 0o011
		}
		return os.Chmod(path, mode)
	})
}
