// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// addFieldLabelConversions says which field selectors clients of v1 may use.
func addFieldLabelConversions(scheme *runtime.Scheme) error {
	return scheme.AddFieldLabelConversionFunc(SchemeGroupVersion.WithKind("ModelBox"),
		func(label, value string) (string, string, error) {
			switch label {
			case "metadata.name", "metadata.namespace", "spec.image", "spec.serviceType", "status.ready":
				return label, value, nil
			default:
				return "", "", fmt.Errorf("%q is not a known field selector: only \"metadata.name\", \"metadata.namespace\", \"spec.image\", \"spec.serviceType\", \"status.ready\"", label)
			}
		})
}
