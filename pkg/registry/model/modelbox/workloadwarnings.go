// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// workloadWarnings is about names in the overlay that the pods of a StatefulSet do not get: each has its own.
func workloadWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	if spec.Workload != model.WorkloadStatefulSet || spec.PodTemplate == nil {
		return nil
	}
	pod, path := &spec.PodTemplate.Spec, path.Child("podTemplate", "spec")
	var warnings []string
	if pod.Hostname != "" {
		warnings = append(warnings, fmt.Sprintf("%s: has no effect with workload %s: each pod has its name for a hostname", path.Child("hostname"), spec.Workload))
	}
	if pod.Subdomain != "" {
		warnings = append(warnings, fmt.Sprintf("%s: has no effect with workload %s: the pods are in that of its headless Service", path.Child("subdomain"), spec.Workload))
	}
	return warnings
}
