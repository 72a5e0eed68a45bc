// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package poddebugger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// maxNamed is the maximum number of pods or boxes that a warning names.
const maxNamed = 10

// WarningsOnDelete names the pods that keep the container of a PodDebugger that a user deletes, and the boxes that are restarted to
// remove it.
func WarningsOnDelete(debugger *model.PodDebugger) []string {
	var pods, boxes []string
	for i := range debugger.Status.Pods {
		pod := &debugger.Status.Pods[i]
		if pod.State == nil {
			continue
		}
		if debugger.Spec.WhenDeleted == model.PodDebuggerRestartBoxes && pod.Box != "" {
			boxes = append(boxes, pod.Box)
			continue
		}
		pods = append(pods, pod.Name)
	}
	var warnings []string
	if len(pods) > 0 {
		warnings = append(warnings, warn.ContainerStays(debugger.Status.ContainerName, joined(pods)))
	}
	if len(boxes) > 0 {
		slices.Sort(boxes)
		boxes = slices.Compact(boxes)
		warnings = append(warnings, warn.BoxesRestart(debugger.Status.ContainerName, joined(boxes)))
	}
	return warnings
}

// joined returns the first names, and the number of the other ones.
func joined(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", text, more)
	}
	return text
}
