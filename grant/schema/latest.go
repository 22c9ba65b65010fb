package schema

import (
	"io/fs"
	"strconv"
	"strings"
)

// Latest returns the version of the newest migration that this program knows. It asks no server.
func Latest() int64 {
	files, err := fs.Glob(migrations, "sql/*.sql")
	if err != nil {
		panic("schema: " + err.Error()) // only a malformed pattern can fail
	}
	var latest int64
	for _, file := range files {
		number, _, _ := strings.Cut(strings.TrimPrefix(file, "sql/"), "_")
		if version, err := strconv.ParseInt(number, 10, 64); err == nil {
			latest = max(latest, version)
		}
	}
	return latest
}
