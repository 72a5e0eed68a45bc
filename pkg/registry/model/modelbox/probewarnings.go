// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// disabledProbeWarnings is about default probes that are not there anyway, and about what is left when one goes.
func disabledProbeWarnings(spec *model.ModelBoxSpec, path *field.Path) []string {
	own := map[model.DefaultProbe]*corev1.Probe{
		model.DefaultProbeReadiness: spec.ReadinessProbe,
		model.DefaultProbeLiveness:  spec.LivenessProbe,
		model.DefaultProbeStartup:   spec.StartupProbe,
	}
	var warnings []string
	path = path.Child("disabledDefaultProbes")
	for i, probe := range spec.DisabledDefaultProbes {
		switch {
		case spec.DefaultProbes == model.DefaultProbesDisabled:
			return []string{fmt.Sprintf("%s: has no effect with defaultProbes %s", path, model.DefaultProbesDisabled)}
		case own[probe] != nil:
			warnings = append(warnings, fmt.Sprintf("%s: has no effect: the box has a probe of its own", path.Index(i)))
		case probe == model.DefaultProbeStartup && spec.LivenessProbe == nil && !slices.Contains(spec.DisabledDefaultProbes, model.DefaultProbeLiveness):
			warnings = append(warnings, fmt.Sprintf("%s: the default liveness probe restarts a container that does not answer within 30 seconds of its start", path.Index(i)))
		}
	}
	return warnings
}
