// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// workloadWarnings warns about fields of a StatefulSet that not every cluster supports, and about names in the overlay that its
// pods do not get.
func workloadWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	if spec.Workload != model.WorkloadStatefulSet {
		return nil
	}
	var warnings []string
	if spec.RollingUpdate != nil {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("rollingUpdate"), warn.NeedsFeatureGate))
	}
	if spec.PodTemplate == nil {
		return warnings
	}
	pod, path := &spec.PodTemplate.Spec, path.Child("podTemplate", "spec")
	if pod.Hostname != "" {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("hostname"), warn.HostnameOfStatefulSet))
	}
	if pod.Subdomain != "" {
		warnings = append(warnings, fmt.Sprintf("%s: %s", path.Child("subdomain"), warn.SubdomainOfStatefulSet))
	}
	return warnings
}
