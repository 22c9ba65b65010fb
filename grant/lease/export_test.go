package lease

import "time"

// Names for tests of what the package keeps to itself.
var (
	EncodeTag = encodeTag
	DecodeTag = decodeTag
	Doubts    = doubts

	LockLike     = lockLike
	HolderFields = holderFields
)

// Sources of scripts, for the rules of a proxy.
func (s *Store) AcquireSource() string { return s.scripts.acquire.source }
func (s *Store) ReleaseSource() string { return s.scripts.release.source }
func (s *Store) RenewSource() string   { return s.scripts.renew.source }

// SetGrace changes after what time a dead index entry is removed.
func SetGrace(s *Store, d time.Duration) { s.grace = d }

// SetPage changes how many index entries are read at a time.
func SetPage(s *Store, n int) { s.page = n }

// ShardKey names an index key.
func (s *Store) ShardKey(shard int) string { return s.shardKey(shard) }

// Shards is the number of index keys.
func (s *Store) Shards() int { return s.opts.Shards }

// Judge exposes the verdict on an error.
func Judge(err error) (doubt, again bool) {
	v := judge(err)
	return v.doubt, v.again
}
