// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import "testing"

// TestPitfalls has a test for each mistake that controllers of workloads are known for. Every one of them fails as
// soon as what keeps the mistake from happening here is taken out.
func TestPitfalls(t *testing.T) {
	t.Parallel()
	for _, pitfall := range []struct {
		mistake string
		test    func(t *testing.T)
	}{
		{"fights with an autoscaler, where replicas that are left out are reset to 1", autoscalerIsNotFought},
		{"hot loops on defaults that the cluster sets", completionIsNoDrift},
		{"hot loops on the order of variables", orderOfVariablesIsKept},
		{"hot loops on what others add", additionsAreNoDrift},
		{"a status that says Ready in the middle of a rollout", rolloutIsNotReadyBeforeItsEnd},
		{"a status that says Ready while pods fail", failingPodsAreNotReady},
		{"a deleted Service that is noticed only when the Deployment is gone too", inReadyBox(serviceComesBack)},
		{"updates that overwrite the whole spec, clusterIP included", updateKeepsWhatTheBoxDoesNotSay},
		{"targetPorts that are names and read as 0", namedTargetPortsLeadToTheirContainers},
		{"an empty rollingUpdate that is sent as it is", rollingUpdateIsNeverEmpty},
		{"probes in containers that cannot answer them", probesAreOnlyWhereTheyAreAnswered},
		{"a deletion that makes anew what it deletes, and hangs", deletionLooksForward},
	} {
		t.Run(pitfall.mistake, func(t *testing.T) {
			t.Parallel()
			pitfall.test(t)
		})
	}
}

// inReadyBox is the test of something that happens to a box "web" that is Ready.
func inReadyBox(happens func(n *namespace)) func(t *testing.T) {
	return func(t *testing.T) {
		n := newNamespace(t)
		n.createReady(newBox("web"))
		n.awaitDeployment("web", "is settled", isComplete)
		happens(n)
	}
}
