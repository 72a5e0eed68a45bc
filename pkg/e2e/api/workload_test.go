// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestSpecThatItsWorkloadDoesNotHaveIsRefused(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, test := range []struct{ name, spec, complaint string }{
		{"an unknown workload", "workload: Pod", `spec.workload: Unsupported value: "Pod"`},
		{"replicas of a Job", "workload: Job, replicas: 2", "spec.replicas: Forbidden"},
		{"a CronJob without a schedule", "workload: CronJob", "spec.cronJob: Required value"},
		{"replicas of a DaemonSet", "workload: DaemonSet, replicas: 2", "spec.replicas: Forbidden"},
		{"a StatefulSet that is recreated", "workload: StatefulSet, strategy: Recreate", "spec.strategy: Invalid value"},
		{"a StatefulSet that surges", "workload: StatefulSet, rollingUpdate: {maxSurge: 1}", "spec.rollingUpdate.maxSurge: Forbidden"},
		{"a StatefulSet with no pod that may be unavailable", "workload: StatefulSet, rollingUpdate: {maxUnavailable: 0}", "spec.rollingUpdate.maxUnavailable: Invalid value"},
		{"a DaemonSet with both limits", "workload: DaemonSet, rollingUpdate: {maxSurge: 1, maxUnavailable: 1}", "spec.rollingUpdate.maxSurge: Invalid value"},
		{"a DaemonSet with a surge beside the default of the other limit", "workload: DaemonSet, rollingUpdate: {maxSurge: 1}", "spec.rollingUpdate.maxUnavailable: Required value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			complaint := n.In(t).Kubectl.RunFailing(framework.Manifest("image: 'nginx:1.7.9', "+test.spec), "create", "--filename=-")
			if !strings.Contains(complaint, test.complaint) {
				t.Errorf("want %q, got:\n%s", test.complaint, complaint)
			}
		})
	}
	t.Run("a StatefulSet with a name that is too long for its pods", func(t *testing.T) {
		n := n.In(t)
		box := boxOfWorkload(modelv1.WorkloadStatefulSet)
		box.Name = strings.Repeat("a", 53)
		_, err := n.Boxes.Create(n.Ctx, box, metav1.CreateOptions{})
		framework.ExpectInvalid(t, err, "metadata.name")
	})
}

func TestWorkloadDoesNotChange(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	workloads := []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet}
	for i, before := range workloads {
		after := workloads[(i+1)%len(workloads)]
		t.Run("from "+string(before)+" to "+string(after), func(t *testing.T) {
			n := n.In(t)
			box := boxOfWorkload(before)
			box.Name = strings.ToLower(string(before))
			n.CreateBox(box)
			changed := boxOfWorkload(after)
			changed.Name = box.Name
			_, err := n.Boxes.Update(n.Ctx, changed, metav1.UpdateOptions{})
			framework.ExpectInvalid(t, err, "spec.workload")
			framework.ExpectEqual(t, "workload after the refused update", before, n.GetBox(box.Name).Spec.Workload)
		})
	}
	t.Run("nor does what the names of the pods of a StatefulSet are in", func(t *testing.T) {
		complaint := n.In(t).Kubectl.RunFailing("", "patch", "modelbox/statefulset", "--type=merge", `--patch={"spec":{"serviceType":"Headless"}}`)
		if !strings.Contains(complaint, "spec.serviceType: Forbidden") {
			t.Error(complaint)
		}
	})
}

func TestScaleOfEachWorkload(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	t.Run("a StatefulSet is scaled", func(t *testing.T) {
		n := n.In(t)
		box := boxOfWorkload(modelv1.WorkloadStatefulSet)
		box.Name = "db"
		n.CreateBox(box)
		n.Kubectl.Run("scale", "modelbox/db", "--replicas=3")
		framework.ExpectEqual(t, "replicas of the box", int32(3), *n.GetBox("db").Spec.Replicas)
	})
	t.Run("a DaemonSet is not", func(t *testing.T) {
		n := n.In(t)
		box := boxOfWorkload(modelv1.WorkloadDaemonSet)
		box.Name = "agent"
		n.CreateBox(box)
		const want = `modelboxes.model.github.com "agent" cannot be scaled: its workload is a DaemonSet, which runs a pod on every node`
		if complaint := n.Kubectl.RunFailing("", "scale", "modelbox/agent", "--replicas=3"); !strings.Contains(complaint, want) {
			t.Error(complaint)
		}
		framework.ExpectEqual(t, "replicas of the box", (*int32)(nil), n.GetBox("agent").Spec.Replicas)
	})
}

// TestUpdateWarnsOfTheStepsOfItsWorkload changes the image of boxes with three pods, and with a pod on each node.
func TestUpdateWarnsOfTheStepsOfItsWorkload(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, test := range []struct{ name, spec, want string }{
		{"deployment", "replicas: 3", "Warning: rolls 3 pods\n"},
		{"statefulset", "replicas: 3, workload: StatefulSet", "Warning: rolls 3 pods, one at a time\n"},
		{"daemonset", "workload: DaemonSet", " pods, one at a time\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := n.In(t)
			manifest := strings.Replace(framework.Manifest("minReadySeconds: 0, "+test.spec+", image: 'nginx:1.7.9'"), "name: web", "name: "+test.name, 1)
			n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
			n.AwaitReady(test.name)
			run := framework.RunKubectl(n.Kubectl.Command("apply", "--dry-run=server", "--filename=-"), strings.Replace(manifest, "nginx:1.7.9", "nginx:1.8", 1))
			if run.Err != nil || !strings.HasSuffix(run.Stderr, test.want) {
				t.Errorf("want %q, got:\n%s", test.want, run.Stderr)
			}
		})
	}
}
