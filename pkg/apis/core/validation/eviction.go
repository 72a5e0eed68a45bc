// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	maxEvictionResponders = 10
	// Lower priorities are for responders of Kubernetes, which no pod has.
	minResponderPriority = 1_000
	maxResponderPriority = 100_000
)

// validateEvictionResponders validates the responders as clusters do that have the feature on: it is off by default.
func validateEvictionResponders(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	responders, respondersPath := spec.EvictionResponders, path.Child("evictionResponders")
	var errs field.ErrorList
	if len(responders) > 0 && spec.SchedulingGroup != nil {
		errs = append(errs, field.Forbidden(path.Child("schedulingGroup"), "may not be given together with evictionResponders"))
	}
	if len(responders) > maxEvictionResponders {
		return append(errs, field.TooMany(respondersPath, len(responders), maxEvictionResponders))
	}
	names := validate.Unique[string]{}
	for i := range validate.Each(responders, &errs) {
		responder, responderPath := &responders[i], respondersPath.Index(i)
		errs = append(errs, validateResponderName(responder.Name, responderPath.Child("name"))...)
		errs = append(errs, names.Add(responder.Name, responderPath.Child("name"))...)
		errs = append(errs, validateResponderPriority(responder.Priority, responderPath.Child("priority"))...)
	}
	return errs
}

func validateResponderName(name string, path *field.Path) field.ErrorList {
	errs := validate.Format(name, content.IsPrefixedLabelKey, path)
	domain, _, _ := strings.Cut(name, "/")
	for _, reserved := range []string{"k8s.io", "kubernetes.io"} {
		if domain == reserved || strings.HasSuffix(domain, "."+reserved) {
			errs = append(errs, field.Invalid(path, name, "must have another domain: the domain of Kubernetes is reserved"))
		}
	}
	return errs
}

func validateResponderPriority(priority *int32, path *field.Path) field.ErrorList {
	detail := fmt.Sprintf("must be between %d and %d", minResponderPriority, maxResponderPriority)
	switch {
	case priority == nil:
		return field.ErrorList{field.Required(path, detail)}
	case *priority < minResponderPriority || *priority > maxResponderPriority:
		return field.ErrorList{field.Invalid(path, *priority, detail)}
	}
	return nil
}
