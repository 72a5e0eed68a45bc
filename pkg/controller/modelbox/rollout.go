// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"fmt"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// These verdicts say what a rollout waits for, in the words of "kubectl rollout status".

func progressing(format string, args ...any) verdict {
	return verdict{true, modelv1.ReasonProgressing, fmt.Sprintf(format, args...)}
}

func awaitsObservation(workload workload) verdict {
	return progressing("waiting for the %s spec update to be observed", workload.kind())
}

func awaitsUpdate(replicas replicas) verdict {
	return progressing("%d out of %d new replicas have been updated", replicas.updated, replicas.desired)
}

func awaitsTermination(number int32, adjective string) verdict {
	return progressing("%s pending termination", count(number, adjective+" replica is", adjective+" replicas are"))
}

func awaitsAvailability(replicas replicas) verdict {
	return progressing("%d of %d updated replicas are available", replicas.available, replicas.updated)
}

func rolloutComplete(message string) verdict {
	return verdict{false, modelv1.ReasonRolloutComplete, message}
}
