//go:build !measure

package main

import "rewardctl/tui"

// measure measures nothing: the program that `go run ./.ci console` builds does.
func (a *app) measure(*tui.Options) (end func()) { return func() {} }
