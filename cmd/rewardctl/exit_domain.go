package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"rewardctl/config"
	"rewardctl/grant/lease"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// ruleConfig knows what is wrong with the configuration: often more than one thing.
func ruleConfig(err error) (problem, bool) {
	if errors.Is(err, config.ErrNoPostgres) || errors.Is(err, config.ErrNoRedis) {
		return problem{
			exit: exitUsage, message: err.Error(), field: "config", cause: err,
			wayOut: "see where it is looked for with: rewardctl config path",
		}, true
	}
	var first *config.Error
	if !errors.As(err, &first) {
		return problem{}, false
	}
	p := problem{exit: exitUsage, field: first.Key, value: first.Value, cause: err}
	for i, one := range leaves(err) {
		if i == 0 {
			p.message = one.Error()
			continue
		}
		p.more = append(p.more, one.Error())
	}
	return p, true
}

// leaves takes joined errors apart.
func leaves(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, leaves(one)...)
	}
	return all
}

// ruleDomain knows the errors that the rooms of this project define.
func ruleDomain(err error) (problem, bool) {
	var (
		unknown *inspect.NotFoundError
		missing *repair.NotFoundError
		changed *repair.PreconditionError
		busy    *repair.BusyError
		closed  *repair.ReadOnlyError
		file    *batchfile.FileError
		option  *lease.OptionError
		silent  *inspect.ReceiverError
	)
	switch {
	case errors.As(err, &unknown):
		return problem{
			exit: exitNotFound, message: unknown.Error(), field: unknown.What,
			value: unknown.Name, wayOut: "check the spelling; ids are case-sensitive", cause: err,
		}, true
	case errors.As(err, &missing):
		return problem{
			exit: exitNotFound, message: missing.Error(), field: missing.What, value: missing.Name,
			wayOut: "check the number; see: rewardctl player history PLAYER", cause: err,
		}, true
	case errors.As(err, &changed):
		return problem{
			exit: exitPrecondition, cause: err, field: changed.Resource, value: changed.Have,
			message: fmt.Sprintf("%s has %s, not %s; nothing was changed", changed.Resource,
				changed.Have, changed.Want),
			wayOut: changed.WayOut,
		}, true
	case errors.As(err, &closed):
		return problem{
			exit: exitDenied, message: closed.Error(), field: "context", cause: err,
			wayOut: "use another context, or only look: --dry-run",
		}, true
	case errors.As(err, &silent) && silent.Unasked:
		return problem{
			exit: exitUsage, message: silent.Error(), field: "outbox_http.url", cause: err,
			wayOut: "check outbox_http.url, or leave --receiver out",
		}, true
	case errors.As(err, &silent):
		return problem{
			exit: exitUnavailable, message: silent.Error(), backend: "receiver", cause: err,
			wayOut: "try again when it answers; --resume goes on",
		}, true
	case errors.As(err, &busy):
		return problem{exit: exitPrecondition, message: busy.Error(), cause: err}, true
	case errors.As(err, &file):
		where := file.Name
		if file.Line > 0 {
			where = fmt.Sprintf("%s, line %d", file.Name, file.Line)
		}
		return problem{
			exit: exitUsage, message: where + ": " + file.Problem, field: "file",
			value: file.Name, wayOut: file.WayOut, cause: err,
		}, true
	case errors.As(err, &option):
		return problem{
			exit: exitUsage, message: option.Error(), field: option.Field,
			wayOut: "correct the context; see: rewardctl config show", cause: err,
		}, true
	}
	return problem{}, false
}

// flagProblem turns the flag library's errors into usage problems that name the flag.
func flagProblem(path string, err error) *problem {
	p := usage("", "see: "+path+" --help", "%v", err)
	p.cause = err
	var (
		unknown *pflag.NotExistError
		bare    *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		p.field = unknown.GetSpecifiedName()
		p.message = fmt.Sprintf("%s has no flag --%s", path, p.field)
		if len(p.field) == 1 {
			p.message = fmt.Sprintf("%s has no flag -%s", path, p.field)
		}
	case errors.As(err, &bare):
		p.field = bare.GetSpecifiedName()
		p.message = fmt.Sprintf("--%s needs a value", p.field)
	case errors.As(err, &invalid):
		p.field, p.value = invalid.GetFlag().Name, invalid.GetValue()
		p.message = fmt.Sprintf("--%s %q is not a %s", p.field, p.value, flagType(invalid))
	}
	return p
}

// flagType says in words what a flag takes.
func flagType(e *pflag.InvalidValueError) string {
	switch t := e.GetFlag().Value.Type(); t {
	case "int", "int64":
		return "whole number"
	case "duration":
		return "time such as 5s or 100ms"
	default:
		return t
	}
}
