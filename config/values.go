package config

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// set parses raw into the value that into points to. It returns what is wrong, if anything.
func set(into any, raw string) (problem, wayOut string) {
	if strings.ContainsFunc(raw, unicode.IsControl) {
		return "holds a control character", "remove it"
	}
	switch p := into.(type) {
	case *string:
		*p = raw
	case *Secret:
		*p = NewSecret(raw)
	case *[]string:
		*p = splitList(raw)
	case *Ledgers:
		ledgers, problem, wayOut := parseLedgers(raw)
		*p = ledgers
		return problem, wayOut
	case *ApprovalRules:
		rules, problem, wayOut := parseApprovalRules(raw)
		*p = rules
		return problem, wayOut
	case *bool:
		*p = raw == "true"
		if raw != "true" && raw != "false" {
			return "is neither true nor false", "write true or false"
		}
	case *int:
		n, err := strconv.Atoi(raw)
		*p = n
		if err != nil {
			return "is not a whole number", "write digits only"
		}
	case *int64:
		n, err := strconv.ParseInt(raw, 10, 64)
		*p = n
		if err != nil {
			return "is not a whole number", "write digits only"
		}
	case *time.Duration:
		d, err := time.ParseDuration(raw)
		*p = d
		if err != nil {
			return "is not a time", "write a number and a unit, such as 500ms, 30s or 168h"
		}
	default:
		panic("config: no such kind of value")
	}
	return "", ""
}

// text is the inverse of set, with stars for secrets.
func text(from any) string {
	switch p := from.(type) {
	case *string:
		return *p
	case *Secret:
		return p.String()
	case *[]string:
		return strings.Join(*p, ",")
	case *Ledgers:
		return p.String()
	case *ApprovalRules:
		return p.String()
	case *bool:
		return strconv.FormatBool(*p)
	case *int:
		return strconv.Itoa(*p)
	case *int64:
		return strconv.FormatInt(*p, 10)
	case *time.Duration:
		return p.String()
	}
	panic("config: no such kind of value")
}
