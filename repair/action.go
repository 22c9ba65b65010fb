package repair

import (
	"strconv"
	"strings"

	"rewardctl/grant"
)

// Action is one deed as it is shown in a dialog, typed as a command and written in the log: the
// three never differ, because all of them come from here.
type Action interface {
	// Word names the deed as the command does, such as "lease release".
	Word() string
	// Target is what the deed is about: a resource or a player.
	Target() string
	// CLI returns the equivalent command, one element per argument, beginning with "rewardctl".
	CLI() []string
}

// GrantRequest is a grant by hand, as an Action.
type GrantRequest struct {
	grant.Request
	DryRun bool
}

// Word returns "grant create".
func (r GrantRequest) Word() string { return "grant create" }

// Target returns the player.
func (r GrantRequest) Target() string { return r.PlayerID }

// CLI returns the grant create command. A lease that the caller holds already has no flag.
func (r GrantRequest) CLI() []string {
	argv := []string{
		"rewardctl", "grant", "create", "--player", r.PlayerID, "--event", r.EventID,
		"--kind", r.Kind, "--amount", strconv.FormatInt(r.Amount, 10), "--reason", r.Reason,
	}
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	return argv
}

// Word returns "lease release".
func (r ReleaseRequest) Word() string { return "lease release" }

// Target returns the resource.
func (r ReleaseRequest) Target() string { return r.Resource }

// CLI returns the lease release command.
func (r ReleaseRequest) CLI() []string {
	argv := []string{"rewardctl", "lease", "release"}
	if r.foreign() {
		argv = append(argv, "--value", r.Value)
	} else {
		argv = append(argv, "--owner", r.Owner, "--token", strconv.FormatInt(r.Token, 10))
	}
	argv = append(argv, "--reason", r.Reason)
	if r.DryRun {
		argv = append(argv, "--dry-run")
	}
	if strings.HasPrefix(r.Resource, "-") {
		return append(argv, "--", r.Resource)
	}
	return append(argv[:3], append([]string{r.Resource}, argv[3:]...)...)
}

// CommandLine joins arguments into a line that a POSIX shell reads back as exactly those
// arguments. Text with control characters is written with $'...', which bash and zsh read too.
func CommandLine(argv []string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = quote(arg)
	}
	return strings.Join(quoted, " ")
}
