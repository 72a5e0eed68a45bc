// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// disabledProbeWarnings warns about disabled default probes that the box does not have anyway, and about a disabled startup probe.
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
			return []string{fmt.Sprintf("%s: %s", path, warn.NoEffectWith("defaultProbes "+string(model.DefaultProbesDisabled)))}
		case own[probe] != nil:
			warnings = append(warnings, fmt.Sprintf("%s: %s", path.Index(i), warn.OwnProbe))
		case probe == model.DefaultProbeStartup && spec.LivenessProbe == nil && !slices.Contains(spec.DisabledDefaultProbes, model.DefaultProbeLiveness):
			warnings = append(warnings, fmt.Sprintf("%s: %s", path.Index(i), warn.NoStartupProbe))
		}
	}
	return warnings
}
