// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// addFieldLabelConversions says which field selectors clients of v1 may use.
func addFieldLabelConversions(scheme *runtime.Scheme) error {
	for kind, labels := range map[string][]string{
		"ModelBox":   {"metadata.name", "metadata.namespace", "spec.image", "spec.serviceType", "spec.workload", "status.ready"},
		"ModelStack": {"metadata.name", "metadata.namespace", "status.ready"},
	} {
		if err := scheme.AddFieldLabelConversionFunc(SchemeGroupVersion.WithKind(kind), fieldLabelConversion(labels)); err != nil {
			return err
		}
	}
	return nil
}

// fieldLabelConversion returns a function that accepts the labels of a kind.
func fieldLabelConversion(known []string) runtime.FieldLabelConversionFunc {
	return func(label, value string) (string, string, error) {
		switch {
		case !slices.Contains(known, label):
			return "", "", fmt.Errorf("%q is not a known field selector: only \"%s\"", label, strings.Join(known, `", "`))
		case label == "status.ready":
			// "True" is how the condition has it.
			ready, err := strconv.ParseBool(value)
			if err != nil {
				return "", "", fmt.Errorf("%q is not a value of the field selector %q: only \"true\", \"false\"", value, label)
			}
			return label, strconv.FormatBool(ready), nil
		default:
			return label, value, nil
		}
	}
}
