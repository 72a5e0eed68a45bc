// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/promquery"
)

// noPrometheus is why a server without a Prometheus refuses checks.
const noPrometheus = "may not be set, because the server has no --prometheus-url, and the checks would never succeed"

// validateChecks refuses checks on a server without a Prometheus, and queries that cannot be restricted to the namespace of the
// box. It accepts checks that old has as well. old is nil for a new box.
func (v SpecValidator) validateChecks(box, old *model.ModelBox, path *field.Path) field.ErrorList {
	path = path.Child("rollout", "checks")
	var errs field.ErrorList
	before := checksOf(old)
	for i, check := range checksOf(box) {
		same := slices.IndexFunc(before, func(other model.ModelBoxRolloutCheck) bool { return other.Name == check.Name })
		if same < 0 && v.NoPrometheus {
			return append(errs, field.Forbidden(path, noPrometheus))
		}
		if same >= 0 && before[same].Prometheus == check.Prometheus || check.Prometheus.Query == "" {
			continue
		}
		if err := promquery.Validate(check.Prometheus.Query); err != nil {
			errs = append(errs, field.Invalid(path.Index(i).Child("prometheus", "query"), check.Prometheus.Query, err.Error()))
		}
	}
	return errs
}

// checksOf returns the checks of the box, which may be nil.
func checksOf(box *model.ModelBox) []model.ModelBoxRolloutCheck {
	if box == nil || box.Spec.Rollout == nil {
		return nil
	}
	return box.Spec.Rollout.Checks
}
