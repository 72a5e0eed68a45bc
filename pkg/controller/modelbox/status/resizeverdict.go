// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// resizeVerdict is how a resize in place gets on.
func resizeVerdict(resize *modelv1.ModelBoxResizeStatus, workload kinds.Workload) verdict {
	switch resize.Phase {
	case modelv1.ResizeHalted, modelv1.ResizeCompleting:
		return verdict(kinds.Progressing("all pods are resized in place, and the %s gets their resources", workload.KindName()))
	}
	resized := fmt.Sprintf("%d of %s resized in place", resize.ResizedReplicas, kinds.Count(workload.Replicas().Desired, "replica", "replicas"))
	switch resize.Reason {
	case modelv1.ResizeInfeasible:
		return verdict{false, modelv1.ReasonResizeInfeasible, resized + ": " + resize.Message}
	case modelv1.ResizeDeferred:
		return verdict{true, modelv1.ReasonResizeDeferred, resized + ": " + resize.Message}
	default:
		return verdict(kinds.Progressing("%s", resized))
	}
}
