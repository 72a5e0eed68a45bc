// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// ComponentWarningsOnCreate returns what the user of a stack may not expect of a new box that is a component of it, and
// whose spec is at path.
func (s Strategy) ComponentWarningsOnCreate(ctx context.Context, box *model.ModelBox, path *field.Path) []string {
	return warningsAt(path, s.warningsOnCreate(ctx, box))
}

// ComponentWarningsOnUpdate returns what a change of the box of a component will do, and what the user may not expect of the
// result. The spec of the box is at path. Where the stack is paused, nothing is done before it is unpaused.
func (s Strategy) ComponentWarningsOnUpdate(ctx context.Context, box, old *model.ModelBox, component string, path *field.Path, isPaused bool) []string {
	if apiequality.Semantic.DeepEqual(box.Spec, old.Spec) {
		return nil
	}
	if isPaused {
		box = box.DeepCopy()
		box.Spec.Paused = true
	}
	warnings := slices.Concat(configWarnings(box, old), serviceWarnings(box, old), ingressUpdateWarnings(box, old), replicasWarnings(box, old))
	warnings = append(warnings, specWarnings(ctx, box)...)
	warnings = append(warnings, s.networkWarnings(ctx, box, old)...)
	warnings = append(warnings, s.nodePortWarnings(ctx, box, old)...)
	warnings = append(warnings, s.hostWarnings(ctx, box, old)...)
	warnings = append(rolloutWarnings(ctx, box, old, component), warningsAt(path, warnings)...)
	if isPaused {
		for i, text := range warnings {
			warnings[i] = strings.ReplaceAll(text, "when the box is unpaused", "when the stack is unpaused")
		}
	}
	return warnings
}

// warningsAt returns warnings about a box as those about the spec at path: each begins with the path of a field.
func warningsAt(path *field.Path, warnings []string) []string {
	for i, text := range warnings {
		if rest, isField := strings.CutPrefix(text, "spec."); isField {
			warnings[i] = path.String() + "." + rest
		}
	}
	return warnings
}
