// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/modelbox/kinds"
)

// describeEarlierPods words what is left of a workload of the same name.
func describeEarlierPods(number int32, workload kinds.Workload) string {
	kind := workload.KindName()
	return kinds.Count(number, "pod of an earlier "+kind+" is", "pods of an earlier "+kind+" are") + " pending termination"
}

// times words how often something happened.
func times(number int32) string {
	if number == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", number)
}

// describe words what kept children from being what the box says, a line for each. An API server that refuses an
// object says itself which it is.
func describe(failures []error) string {
	lines := make([]string, 0, len(failures))
	for _, err := range failures {
		var refusal *apierrors.StatusError
		if errors.As(err, &refusal) && (apierrors.IsInvalid(refusal) || apierrors.IsForbidden(refusal)) {
			err = refusal
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// reasonAndMessage puts the reason before the message, unless the message says it in the API server's own words.
func reasonAndMessage(v verdict) string {
	says := map[string]string{modelv1.ReasonInvalid: " is invalid: ", modelv1.ReasonForbidden: " is forbidden: "}[v.Reason]
	if says != "" && strings.Contains(v.Message, says) {
		return v.Message
	}
	return fmt.Sprintf("%s: %s", v.Reason, v.Message)
}
