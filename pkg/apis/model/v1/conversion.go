// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
)

// addFieldLabelConversions says which field selectors clients of v1 may use.
func addFieldLabelConversions(scheme *runtime.Scheme) error {
	return scheme.AddFieldLabelConversionFunc(SchemeGroupVersion.WithKind("ModelBox"),
		func(label, value string) (string, string, error) {
			switch label {
			case "metadata.name", "metadata.namespace", "spec.image", "spec.serviceType":
				return label, value, nil
			case "status.ready":
				// "True" is how the condition has it.
				ready, err := strconv.ParseBool(value)
				if err != nil {
					return "", "", fmt.Errorf("%q is not a value of the field selector %q: only \"true\", \"false\"", value, label)
				}
				return label, strconv.FormatBool(ready), nil
			default:
				return "", "", fmt.Errorf("%q is not a known field selector: only \"metadata.name\", \"metadata.namespace\", \"spec.image\", \"spec.serviceType\", \"status.ready\"", label)
			}
		})
}
