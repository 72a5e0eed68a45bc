// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

const (
	// maxCheckQueryLength is the length of the longest query of a check, in characters.
	maxCheckQueryLength = 4096

	minCheckInterval = 5 * time.Second
	maxCheckInterval = time.Hour

	mustHaveRolloutType = "may not be set without `rollout.type`: only the steps of a rollout have checks"
	mustHaveCheckLimit  = "must have max, min or both"
)

// validateRolloutChecks validates all but the queries themselves: whether a query is valid, the server decides, which has the parser.
func validateRolloutChecks(rollout *model.ModelBoxRollout, path *field.Path) field.ErrorList {
	if rollout == nil || len(rollout.Checks) == 0 {
		return nil
	}
	var errs field.ErrorList
	if rollout.Type == nil {
		errs = append(errs, field.Forbidden(path, mustHaveRolloutType))
	}
	for i := range rollout.Checks {
		check, path := &rollout.Checks[i], path.Index(i)
		errs = append(errs, validateRolloutCheck(check, path)...)
		isBefore := func(other model.ModelBoxRolloutCheck) bool { return other.Name == check.Name }
		if slices.ContainsFunc(rollout.Checks[:i], isBefore) {
			errs = append(errs, field.Duplicate(path.Child("name"), check.Name))
		}
	}
	return errs
}

func validateRolloutCheck(check *model.ModelBoxRolloutCheck, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateCheckName(check.Name, path.Child("name")),
		validateCheckQuery(check.Prometheus.Query, path.Child("prometheus", "query")),
		validateCheckLimits(check, path),
		validateCheckDuration(check.Interval, minCheckInterval, path.Child("interval")),
	)
	if check.InitialDelay != "" {
		errs = append(errs, validateCheckDuration(check.InitialDelay, 0, path.Child("initialDelay"))...)
	}
	if check.Count == nil {
		errs = append(errs, field.Required(path.Child("count"), ""))
	} else if *check.Count < 1 {
		errs = append(errs, field.Invalid(path.Child("count"), *check.Count, "must be at least 1"))
	}
	if check.FailureLimit == nil {
		errs = append(errs, field.Required(path.Child("failureLimit"), ""))
	} else if *check.FailureLimit < 0 {
		errs = append(errs, field.Invalid(path.Child("failureLimit"), *check.FailureLimit, "must not be negative"))
	}
	return errs
}

func validateCheckName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func validateCheckQuery(query string, path *field.Path) field.ErrorList {
	switch {
	case query == "":
		return field.ErrorList{field.Required(path, "")}
	case utf8.RuneCountInString(query) > maxCheckQueryLength:
		return field.ErrorList{field.TooLongMaxLength(path, field.OmitValueType{}, maxCheckQueryLength)}
	default:
		return nil
	}
}

func validateCheckLimits(check *model.ModelBoxRolloutCheck, path *field.Path) field.ErrorList {
	switch {
	case check.Max == nil && check.Min == nil:
		return field.ErrorList{field.Required(path, mustHaveCheckLimit)}
	case check.Max != nil && check.Min != nil && check.Min.Cmp(*check.Max) > 0:
		return field.ErrorList{field.Invalid(path.Child("min"), check.Min.String(), fmt.Sprintf("must not be more than max, which is %s", check.Max))}
	default:
		return nil
	}
}

// validateCheckDuration requires a duration of at least shortest, and of at most the longest interval.
func validateCheckDuration(value string, shortest time.Duration, path *field.Path) field.ErrorList {
	duration, err := time.ParseDuration(value)
	if err != nil || duration < shortest || duration > maxCheckInterval {
		return field.ErrorList{field.Invalid(path, value, fmt.Sprintf("must be a duration, such as '30s', from '%s' to '1h'", shortest))}
	}
	return nil
}
