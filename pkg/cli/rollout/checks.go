// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/terminal"
)

// addChecks adds a line for each check of the step that the rollout of the box is in, or has failed in.
func (d *drawing) addChecks(indent string, box *modelv1.ModelBox) {
	if box.Status.Rollout == nil || box.Spec.Rollout == nil {
		return
	}
	states, width := box.Status.Rollout.Checks, 0
	for i := range states {
		width = max(width, utf8.RuneCountInString(states[i].Name))
	}
	for i := range states {
		state := &states[i]
		known := slices.IndexFunc(box.Spec.Rollout.Checks, func(check modelv1.ModelBoxRolloutCheck) bool { return check.Name == state.Name })
		if known < 0 {
			continue
		}
		check := &box.Spec.Rollout.Checks[known]
		name := state.Name + strings.Repeat(" ", width-utf8.RuneCountInString(state.Name))
		d.lines = append(d.lines, indent+"check "+d.coloured(colourOfCheck(check, state), name)+"  "+describeCheck(check, state))
	}
}

// colourOfCheck is green for a check that lets the rollout continue, red for one whose last measurement has failed, and yellow for
// any other one.
func colourOfCheck(check *modelv1.ModelBoxRolloutCheck, state *modelv1.ModelBoxRolloutCheckStatus) string {
	switch {
	case state.Message != "" && state.Value != "":
		return terminal.Red
	case helper.IsCheckMet(check, state):
		return terminal.Green
	default:
		return terminal.Yellow
	}
}

// describeCheck returns how many measurements there were, and the last one.
func describeCheck(check *modelv1.ModelBoxRolloutCheck, state *modelv1.ModelBoxRolloutCheckStatus) string {
	text := fmt.Sprintf("%d of %d measurements", state.Successes, ptr.Deref(check.Count, 1))
	if state.Failures > 0 {
		text += fmt.Sprintf(", %d failed", state.Failures)
	}
	if state.Inconclusive > 0 {
		text += fmt.Sprintf(", %d inconclusive", state.Inconclusive)
	}
	switch {
	case state.Message != "":
		text += ": " + state.Message
	case state.Value != "":
		text += ": " + state.Value
	}
	return text
}
