// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// outputLines is how many of the last lines of a command that has failed a message has.
const outputLines = 3

// DescribeJobPods describes why the newest pod of a Job has failed, or does not start, as the end of a sentence. It is empty if that is
// not known.
func DescribeJobPods(pods []*corev1.Pod) string {
	newest := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range newest {
		if problem := describeJobPod(pod); problem != "" {
			return "; " + problem
		}
	}
	return ""
}

// describeJobPod describes why a pod of a Job has failed, or does not start.
func describeJobPod(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		switch state := &pod.Status.ContainerStatuses[i].State; {
		case state.Terminated != nil && state.Terminated.ExitCode != 0:
			problem := fmt.Sprintf("pod %s: exit code %d", pod.Name, state.Terminated.ExitCode)
			if output := lastLines(state.Terminated.Message); output != "" {
				problem += ": " + output
			}
			return problem
		case state.Waiting != nil && state.Waiting.Message != "":
			return fmt.Sprintf("pod %s: %s: %s", pod.Name, state.Waiting.Reason, state.Waiting.Message)
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return fmt.Sprintf("pod %s: %s: %s", pod.Name, condition.Reason, condition.Message)
		}
	}
	return ""
}

// lastLines returns the last lines of the output of a command, in one line.
func lastLines(output string) string {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	return strings.Join(lines[max(0, len(lines)-outputLines):], " / ")
}
