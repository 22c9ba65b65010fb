package simulator

// random draws from a seed. It is written out here so that a seed means the same schedule for
// ever, whatever the library's generators become. (The generator is SplitMix64, from Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014.)
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1. The bias of the remainder is far below what matters here.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }
