package tui

import (
	"errors"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// health is what the last reads said about the two servers.
type health struct {
	redis, postgres backend
	took            time.Duration // of the last complete read
}

// backend is how one server answered last.
type backend struct {
	known bool
	down  bool
	why   string
	took  time.Duration // of the last small question; 0 when none was measured
}

func (h *health) backend(b grant.Backend) *backend {
	if b == grant.Redis {
		return &h.redis
	}
	return &h.postgres
}

// read records an answer of some servers: what is missing was down, the rest answered.
func (h *health) read(missing []inspect.Missing, took time.Duration, servers []grant.Backend) {
	for _, s := range servers {
		*h.backend(s) = backend{known: true}
	}
	if len(servers) > 0 {
		h.took = took
	}
	for _, m := range missing {
		if grant.Answers(m.Err) {
			*h.backend(m.Backend) = backend{known: true}
			continue
		}
		b := h.backend(m.Backend)
		b.known, b.down = true, true
		if m.Err != nil {
			b.why = m.Err.Error()
		}
	}
}

// failed records an error, if it says which server it comes from.
func (h *health) failed(err error) {
	var b *grant.BackendError
	if errors.As(err, &b) && !grant.Answers(err) {
		*h.backend(b.Backend) = backend{known: true, down: true, why: err.Error()}
	}
}
