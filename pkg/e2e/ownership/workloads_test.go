// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// eachWorkload runs the test with a box of each kind of workload, with two pods, because a simulated cluster has two nodes.
func eachWorkload(t *testing.T, test func(n *framework.Namespace, kind modelv1.Workload)) {
	t.Parallel()
	for _, kind := range framework.Workloads {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(kind)))
			test(n, kind)
		})
	}
}

func TestSettledWorkloadIsNotWritten(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, _ modelv1.Workload) { n.ExpectConverged("web") })
}

func TestSettledWorkloadWithARollingUpdateIsNotWritten(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, kind modelv1.Workload) {
		n.UpdateBox("web", framework.WithRollingUpdate(intstr.FromInt32(2)))
		if kind != modelv1.WorkloadStatefulSet || !n.ControlPlane.IsBefore(n.T, "1.37") {
			n.AwaitReady("web")
			n.ExpectConverged("web")
			return
		}
		// Before 1.37, a cluster drops maxUnavailable of a StatefulSet by default. The status reports it, and the controller does
		// not retry.
		n.AwaitBox("web", "says what the cluster leaves out", func(box *modelv1.ModelBox) error {
			return framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonRejected)
		})
		n.AwaitReadyCondition("web", metav1.ConditionFalse, modelv1.ReasonNotApplied, "spec.updateStrategy.rollingUpdate.maxUnavailable")
		writes := n.Audit.ChildWrites("web")
		n.PatchWorkload(kind, "web", `[{"op": "add", "path": "/spec/template/metadata/annotations", "value": {"example.com/restarted": "now"}}]`)
		n.AwaitWorkload(kind, "web", "is rolled out", func(w framework.Workload) error {
			if set := w.Object.(*appsv1.StatefulSet); set.Status.ObservedGeneration != set.Generation || set.Status.UpdatedReplicas != 2 || set.Status.AvailableReplicas != 2 {
				return fmt.Errorf("its status is %+v", set.Status)
			}
			return nil
		})
		framework.ExpectEqual(n.T, "writes of the children", writes, n.Audit.ChildWrites("web"))
	})
}

func TestEditsOfAWorkloadAreRestored(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, kind modelv1.Workload) {
		uid := n.GetWorkload(kind, "web").GetUID()
		edits := []string{
			`[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:edited"}]`,
			`[{"op": "remove", "path": "/metadata/labels/modelbox"}]`,
			`[{"op": "remove", "path": "/metadata/ownerReferences"}]`,
		}
		if kind != modelv1.WorkloadDaemonSet {
			edits = append(edits, `[{"op": "replace", "path": "/spec/replicas", "value": 5}]`)
		}
		for _, edit := range edits {
			n.PatchWorkload(kind, "web", edit)
			n.AwaitWorkload(kind, "web", "is as the box says after "+edit, func(w framework.Workload) error {
				replicas := 2
				if w.Replicas != nil {
					replicas = int(*w.Replicas)
				}
				image, label := w.Template.Spec.Containers[0].Image, w.GetLabels()[modelv1.SelectorLabel]
				if image != framework.Image || label != "web" || len(w.GetOwnerReferences()) != 1 || replicas != 2 {
					return fmt.Errorf("it has image %s, label %q, owners %v, %d replicas", image, label, w.GetOwnerReferences(), replicas)
				}
				return nil
			})
		}
		n.Events.Await("web", "Restored"+string(kind), framework.OtherManager)
		// Until 1.34, the StatefulSet controller waits for a surplus pod that is ready but not available yet, and may not reconcile
		// again.
		if kind != modelv1.WorkloadStatefulSet || !n.ControlPlane.IsBefore(n.T, "1.34") {
			n.AwaitPods("web", 2)
		}
		framework.ExpectEqual(n.T, "UID", uid, n.GetWorkload(kind, "web").GetUID())
	})
}

func TestOrphanedWorkloadIsTakenBack(t *testing.T) {
	eachWorkload(t, func(n *framework.Namespace, kind modelv1.Workload) {
		before, pods := n.GetWorkload(kind, "web"), n.PodUIDs("web")
		n.Kubectl.Run("delete", "mb", "web", "--cascade=orphan", "--timeout="+framework.Patience.String())
		framework.ExpectEqual(n.T, "owners of the orphan", 0, len(n.GetWorkload(kind, "web").GetOwnerReferences()))

		// Without the annotation, the object does not belong to the box.
		box := framework.NewBox("web", framework.WithReplicas(2), framework.WithWorkload(kind))
		n.CreateBox(box)
		n.AwaitNotOwned("web")
		n.Kubectl.Run("annotate", "mb", "web", modelv1.AdoptAnnotation+"=true")
		adopting := n.AwaitReady("web")
		n.Events.Await("web", "Adopted"+string(kind))
		after := n.GetWorkload(kind, "web")
		expectControlled(n.T, after, adopting)
		framework.ExpectEqual(n.T, "UID", before.GetUID(), after.GetUID())
		framework.ExpectEqual(n.T, "pods", pods, n.PodUIDs("web"))
	})
}

// TestStatefulSetIsReplacedWithoutItsPods changes immutable fields of a StatefulSet. The controller replaces it by a StatefulSet
// that adopts its pods, with the number of pods of the autoscaler and the fields of other field managers.
func TestStatefulSetIsReplacedWithoutItsPods(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	sets := n.ControlPlane.KubeClient.AppsV1().StatefulSets(n.Name)
	n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(modelv1.WorkloadStatefulSet)))
	n.Autoscale("statefulset/web", 3)
	n.AwaitPods("web", 3)
	n.PatchWorkload(modelv1.WorkloadStatefulSet, "web", `[{"op": "add", "path": "/metadata/labels/team", "value": "shop"}]`)
	pods := n.PodUIDs("web")

	// While the box is paused, a user replaces its StatefulSet by one with another governing Service.
	n.UpdateBox("web", framework.Pause)
	n.AwaitReady("web")
	before, err := sets.Get(n.Ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.Kubectl.Run("delete", "statefulset", "web", "--cascade=orphan", "--timeout="+framework.Patience.String())
	other := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Labels: before.Labels, Annotations: before.Annotations, OwnerReferences: before.OwnerReferences,
	}, Spec: before.Spec}
	other.Spec.ServiceName = "another"
	other, err = sets.Create(n.Ctx, other, metav1.CreateOptions{FieldManager: framework.OtherManager})
	if err != nil {
		t.Fatal(err)
	}
	n.Eventually("the other StatefulSet has adopted the pods", func() error {
		now, err := sets.Get(n.Ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if now.Status.AvailableReplicas != 3 || now.Status.ObservedGeneration != now.Generation {
			return fmt.Errorf("its status is %+v", now.Status)
		}
		adopted, err := n.LivePods("web")
		for i := range adopted {
			if !metav1.IsControlledBy(&adopted[i], other) {
				return fmt.Errorf("pod %s is not", adopted[i].Name)
			}
		}
		return err
	})
	n.UpdateBox("web", framework.Unpause)
	n.Events.Await("web", "ReplacedStatefulSet", `its serviceName is "another" and cannot become "web-headless"`)
	n.AwaitPods("web", 3)

	after, err := sets.Get(n.Ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.UID == other.UID || after.Spec.ServiceName != "web-headless" || *after.Spec.Replicas != 3 || after.Labels["team"] != "shop" {
		spec, _ := json.Marshal(after)
		t.Errorf("the StatefulSet is not what it has to be: %s", spec)
	}
	framework.ExpectEqual(t, "pods", pods, n.PodUIDs("web"))
	n.ExpectConverged("web")
}
