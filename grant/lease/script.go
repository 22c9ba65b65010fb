package lease

import (
	"crypto/sha1"
	_ "embed" // the scripts below
	"encoding/hex"
)

//go:embed lua/acquire.lua
var acquireLua string

//go:embed lua/release.lua
var releaseLua string

//go:embed lua/abandon.lua
var abandonLua string

//go:embed lua/renew.lua
var renewLua string

//go:embed lua/index_enter.lua
var indexEnterLua string

//go:embed lua/index_leave.lua
var indexLeaveLua string

//go:embed lua/index_prune.lua
var indexPruneLua string

//go:embed lua/now.lua
var nowLua string

//go:embed lua/left.lua
var leftLua string

//go:embed lua/read.lua
var readLua string

//go:embed lua/check.lua
var checkLua string

//go:embed lua/counter_read.lua
var counterReadLua string

//go:embed lua/counter_raise.lua
var counterRaiseLua string

// script is one Lua file with the name under which a server caches it.
type script struct {
	source string
	sha    string
}

func newScript(source string) *script {
	// The server names scripts by SHA-1; nothing here depends on it being hard to forge.
	sum := sha1.Sum([]byte(source))
	return &script{source: source, sha: hex.EncodeToString(sum[:])}
}

type scripts struct {
	acquire, release, abandon, renew   *script
	indexEnter, indexLeave, indexPrune *script
	now, left, read, check             *script
	counterRead, counterRaise          *script
}

func loadScripts() scripts {
	return scripts{
		acquire: newScript(acquireLua), release: newScript(releaseLua),
		abandon: newScript(abandonLua), renew: newScript(renewLua),
		indexEnter: newScript(indexEnterLua), indexLeave: newScript(indexLeaveLua),
		indexPrune: newScript(indexPruneLua),
		now:        newScript(nowLua), left: newScript(leftLua),
		read: newScript(readLua), check: newScript(checkLua),
		counterRead: newScript(counterReadLua), counterRaise: newScript(counterRaiseLua),
	}
}
