package drill

import _ "embed"

//go:embed lua/room_write.lua
var roomWriteLua string
