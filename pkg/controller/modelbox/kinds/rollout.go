// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"fmt"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// These verdicts say what a rollout waits for, in the words of "kubectl rollout status".

func Progressing(format string, args ...any) reconciler.Verdict {
	return reconciler.Verdict{IsTrue: true, Reason: modelv1.ReasonProgressing, Message: fmt.Sprintf(format, args...)}
}

func awaitsObservation(workload Workload) reconciler.Verdict {
	return Progressing("waiting for the %s spec update to be observed", workload.KindName())
}

func awaitsUpdate(replicas Replicas) reconciler.Verdict {
	return Progressing("%d out of %d new replicas have been updated", replicas.Updated, replicas.Desired)
}

func awaitsTermination(number int32, adjective string) reconciler.Verdict {
	return Progressing("%s pending termination", Count(number, adjective+" replica is", adjective+" replicas are"))
}

func awaitsAvailability(replicas Replicas) reconciler.Verdict {
	return Progressing("%d of %d updated replicas are available", replicas.Available, replicas.Updated)
}

func rolloutComplete(message string) reconciler.Verdict {
	return reconciler.Verdict{Reason: modelv1.ReasonRolloutComplete, Message: message}
}

// Count words a number of things.
func Count(number int32, singular, plural string) string {
	if number == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", number, plural)
}

// availableOf words how many of all replicas are available.
func availableOf(number, all int32) string {
	is := "are"
	if number == 1 || all == 1 {
		is = "is"
	}
	return fmt.Sprintf("%d of %s %s available", number, Count(all, "replica", "replicas"), is)
}
