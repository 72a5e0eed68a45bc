// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os/exec"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// withCommand lets the pods of a box run a command of the test application, and nothing else.
func withCommand(workload modelv1.Workload, args ...string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.Workload, spec.Args = workload, args
		spec.Replicas, spec.Ports, spec.MinReadySeconds = nil, nil, nil
	}
}

// runPlugin returns what the plugin of kubectl prints.
func runPlugin(n *framework.Namespace, arguments ...string) string {
	n.T.Helper()
	command := exec.CommandContext(n.Ctx, framework.Binary("kubectl-modelbox"), append(arguments, "--namespace="+n.Name, "--kubeconfig="+n.ControlPlane.Kubeconfig())...)
	run := framework.RunKubectl(command, "")
	if run.Err != nil {
		n.T.Fatalf("kubectl modelbox %q: %v %s", arguments, run.Err, run.Stderr)
	}
	return run.Stdout
}

// jobRetriesUntilItSucceeds checks a Job that fails until its database is ready, and says why.
func jobRetriesUntilItSucceeds(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("database"))
	tell(n, "database", "/ready/off")
	pods, err := n.LivePods("database")
	if err != nil {
		n.T.Fatal(err)
	}
	n.CreateBox(newAppBox("migrate", withCommand(modelv1.WorkloadJob, "get", "http://"+pods[0].Status.PodIP+"/ready")))
	n.AwaitReadyCondition("migrate", metav1.ConditionFalse, modelv1.ReasonProgressing, "of 7 attempts failed", "exit code 1", "503 Service Unavailable")
	tell(n, "database", "/ready/on")
	n.AwaitReadyCondition("migrate", metav1.ConditionTrue, modelv1.ReasonComplete, "the Job has succeeded")

	n.UpdateBox("migrate", func(spec *modelv1.ModelBoxSpec) {
		spec.Args, spec.Job = []string{"exit", "3"}, &modelv1.ModelBoxJobSpec{BackoffLimit: ptr.To[int32](0)}
	})
	n.AwaitReadyCondition("migrate", metav1.ConditionFalse, modelv1.ReasonJobFailed, "BackoffLimitExceeded", "exit code 3")
	if err := framework.CheckCondition(n.GetBox("migrate"), modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonJobFailed); err != nil {
		n.T.Error(err)
	}
	n.UpdateBox("migrate", withCommand(modelv1.WorkloadJob, "count", "100ms", "2"))
	n.AwaitReadyCondition("migrate", metav1.ConditionTrue, modelv1.ReasonComplete)
	if logs := runPlugin(n, "logs", "migrate"); !strings.Contains(logs, "end 2") {
		n.T.Errorf("the logs are\n%s", logs)
	}
}

// cronJobRunsAtItsMinute checks that a CronJob runs at its minute, that the box reports a failed run, and that the next run that succeeds makes
// the box ready again.
func cronJobRunsAtItsMinute(n *framework.Namespace) {
	n.CreateReadyBox(newAppBox("report", withCommand(modelv1.WorkloadCronJob, "count", "100ms", "2"), func(spec *modelv1.ModelBoxSpec) {
		spec.CronJob, spec.Job = &modelv1.ModelBoxCronJobSpec{Schedule: "* * * * *"}, &modelv1.ModelBoxJobSpec{BackoffLimit: ptr.To[int32](0)}
	}))
	n.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonReady, "Job report-", "has succeeded")
	jobs, err := n.ControlPlane.KubeClient.BatchV1().Jobs(n.Name).List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	minute, err := time.Parse(time.RFC3339, jobs.Items[0].Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	if err != nil || minute.Second() != 0 || jobs.Items[0].CreationTimestamp.Sub(minute) > time.Minute {
		n.T.Errorf("the run of %s was created at %s: %v", minute, jobs.Items[0].CreationTimestamp, err)
	}
	n.UpdateBox("report", withCommand(modelv1.WorkloadCronJob, "exit", "3"))
	n.AwaitReadyCondition("report", metav1.ConditionFalse, modelv1.ReasonLastJobFailed, "BackoffLimitExceeded", "exit code 3")
	n.UpdateBox("report", withCommand(modelv1.WorkloadCronJob, "count", "100ms", "2"))
	if _, err := n.ControlPlane.ModelClient.ModelV1().ModelBoxes(n.Name).CreateRestart(n.Ctx, "report", &modelv1.ModelBoxRestart{}, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.AwaitReadyCondition("report", metav1.ConditionTrue, modelv1.ReasonReady, "has succeeded")
	tree := runPlugin(n, "status", "report")
	for _, want := range []string{"CronJob/report", "Job/report-", "Complete", "Pod/report-"} {
		if !strings.Contains(tree, want) {
			n.T.Errorf("there is no %q in\n%s", want, tree)
		}
	}
}
