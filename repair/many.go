package repair

import (
	"context"
	"errors"

	"rewardctl/grant"
)

// brokenMax is after how many things in a row that a server could not answer for the rest is left:
// each of them would wait for a timeout.
const brokenMax = 3

// eachInTurn does n things one after the other, until ctx ends or a server answers nothing any
// more; do returns the error of its thing. The rest is left, each with what ctx says.
func eachInTurn(ctx context.Context, n int, do func(i int) error, leave func(i int, why error)) {
	broken := 0
	for i := range n {
		if ctx.Err() != nil || broken >= brokenMax {
			leave(i, ctx.Err())
			continue
		}
		var backend *grant.BackendError
		if errors.As(do(i), &backend) {
			broken++
		} else {
			broken = 0
		}
	}
}
