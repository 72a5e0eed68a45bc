// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"bytes"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// configWarnings warns about configs whose files change in running pods without a restart. rolloutWarnings warns about pods that
// are replaced.
func configWarnings(box, old *model.ModelBox) []string {
	if old.Status.Replicas == 0 {
		return nil
	}
	before := map[string]*model.ModelBoxConfig{}
	for i := range old.Spec.Configs {
		before[old.Spec.Configs[i].Name] = &old.Spec.Configs[i]
	}
	effect := warn.FilesChanged(countedPods(old.Status.Replicas))
	if box.Spec.Paused {
		effect = warn.WhenUnpaused(effect)
	}
	var warnings []string
	for i := range box.Spec.Configs {
		config := &box.Spec.Configs[i]
		was := before[config.Name]
		if was == nil || was.Rollout != model.ConfigRolloutLive || config.Rollout != model.ConfigRolloutLive || changedFiles(was, config) == "" {
			continue
		}
		if len(warnings) == maxWarnings {
			break
		}
		warnings = append(warnings, fmt.Sprintf("%s: %s", field.NewPath("spec", "configs").Index(i).Child(changedFiles(was, config)), effect))
	}
	return warnings
}

// changedFiles returns the field whose files differ, empty for none.
func changedFiles(was, config *model.ModelBoxConfig) string {
	switch {
	case !maps.Equal(was.Data, config.Data):
		return "data"
	case !maps.EqualFunc(was.BinaryData, config.BinaryData, bytes.Equal):
		return "binaryData"
	default:
		return ""
	}
}
