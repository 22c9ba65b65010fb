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
}

func (h *health) backend(b grant.Backend) *backend {
	if b == grant.Redis {
		return &h.redis
	}
	return &h.postgres
}

// read records an answer: what is missing was down, the rest answered.
func (h *health) read(missing []inspect.Missing, took time.Duration) {
	h.redis, h.postgres, h.took = backend{known: true}, backend{known: true}, took
	for _, m := range missing {
		b := h.backend(m.Backend)
		b.down = true
		if m.Err != nil {
			b.why = m.Err.Error()
		}
	}
}

// failed records an error, if it says which server it comes from.
func (h *health) failed(err error) {
	var b *grant.BackendError
	if errors.As(err, &b) {
		*h.backend(b.Backend) = backend{known: true, down: true, why: err.Error()}
	}
}
