// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// rolloutRevision is the annotation of a Deployment, and of its ReplicaSets, that counts its rollouts.
const rolloutRevision = "deployment.kubernetes.io/revision"

const removeRecord = `[{"op": "remove", "path": "/metadata/annotations/model.github.com~1record"}]`

// isRecordOf returns nil if the object has the record of the current box.
func isRecordOf(box *modelv1.ModelBox, object metav1.Object) error {
	recorded, err := modelboxrender.ReadRecord(object.GetAnnotations()[modelv1.RecordAnnotation])
	if err != nil {
		return err
	}
	identity := func(box *modelv1.ModelBox) string {
		return fmt.Sprint(box.Namespace, box.Name, box.UID, box.CreationTimestamp.Unix(), box.Generation,
			box.Labels, box.Annotations, box.OwnerReferences, box.Finalizers)
	}
	if want, got := identity(box), identity(recorded); want != got {
		return fmt.Errorf("the box is %s, its record %s", want, got)
	}
	if !apiequality.Semantic.DeepEqual(box.Spec, recorded.Spec) {
		return fmt.Errorf("the spec of the box is %v, the spec of its record %v", box.Spec, recorded.Spec)
	}
	return nil
}

func awaitRecord(n *framework.Namespace, name string) *appsv1.Deployment {
	n.T.Helper()
	return n.AwaitDeployment(name, "has the record of its box", func(deployment *appsv1.Deployment) error {
		return isRecordOf(n.GetBox(name), deployment)
	})
}

// replicaSetsOf returns the ReplicaSets of a box, the earliest revision first.
func replicaSetsOf(n *framework.Namespace, box string) []appsv1.ReplicaSet {
	n.T.Helper()
	sets, err := n.ControlPlane.KubeClient.AppsV1().ReplicaSets(n.Name).List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
	if err != nil {
		n.T.Fatal(err)
	}
	slices.SortFunc(sets.Items, func(a, b appsv1.ReplicaSet) int {
		first, _ := strconv.Atoi(a.Annotations[rolloutRevision])
		second, _ := strconv.Atoi(b.Annotations[rolloutRevision])
		return first - second
	})
	return sets.Items
}

// TestMetadataIsRecordedWithoutRollout changes fields of a box that do not change its pods. Each change is one write of the
// Deployment and no write of the status: the box stays Ready.
func TestMetadataIsRecordedWithoutRollout(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.AwaitDeployment("web", "is settled", framework.CheckRolledOut)
	before := awaitRecord(n, "web")
	writes, boxWrites := acceptedWrites(n), len(n.Audit.BoxWrites())

	for i, command := range [][]string{
		{"label", "mb/web", "team=shop"},
		{"annotate", "mb/web", "example.com/contact=shop"},
		{"patch", "mb/web", "--type=merge", `--patch={"metadata":{"finalizers":["example.com/wait"]}}`},
		{"patch", "mb/web", "--type=merge", `--patch={"metadata":{"finalizers":null}}`},
	} {
		n.Kubectl.Run(command...)
		awaitRecord(n, "web")
		framework.ExpectEqual(t, "writes of children", i+1, acceptedWrites(n)-writes)
	}
	after := n.AwaitDeployment("web", "is settled", framework.CheckRolledOut)
	framework.ExpectEqual(t, "writes of the box", 4, len(n.Audit.BoxWrites())-boxWrites)
	framework.ExpectEqual(t, "spec of the Deployment", before.Spec, after.Spec)
	framework.ExpectEqual(t, "revision", before.Annotations[rolloutRevision], after.Annotations[rolloutRevision])
	n.Eventually("the ReplicaSet has the record", func() error {
		return isRecordOf(n.GetBox("web"), &replicaSetsOf(n, "web")[0])
	})
	for _, event := range n.Events.About("web") {
		if event.Reason == "RestoredDeployment" || event.Reason == "UpdatedDeployment" {
			t.Errorf("an event about what only the box's metadata changed: %s", event.Note)
		}
	}
}

// acceptedWrites returns the number of successful writes of children.
func acceptedWrites(n *framework.Namespace) int {
	n.T.Helper()
	return len(slices.DeleteFunc(n.Audit.ClusterWrites(), func(write auditv1.Event) bool { return !framework.IsAccepted(write) }))
}

func TestRecordIsRestored(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	for _, command := range [][]string{
		{"annotate", "deploy/web", "--overwrite", modelv1.RecordAnnotation + "=forged"},
		{"annotate", "deploy/web", modelv1.RecordAnnotation + "-"},
	} {
		awaitRecord(n, "web")
		n.Kubectl.Run(command...)
	}
	awaitRecord(n, "web")
	n.Events.Await("web", "RestoredDeployment", "kubectl-annotate had changed", modelv1.RecordAnnotation)
	n.Events.Await("web", "RestoredDeployment", "another client had changed", modelv1.RecordAnnotation)
}

// TestPausedBoxIsRecorded changes a paused box. The pending change must not be lost with the store.
func TestPausedBoxIsRecorded(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	before := n.GetDeployment("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused, spec.Image = true, framework.NewImage })
	n.AwaitPaused("web")
	framework.ExpectEqual(t, "spec of the Deployment", before.Spec, awaitRecord(n, "web").Spec)
	n.UpdateBox("web", framework.Unpause)
	n.AwaitReady("web")
	awaitRecord(n, "web")
}

// TestReplicaSetsHaveTheRecordOfTheirRevision rolls out a box several times. Its Deployment keeps as many ReplicaSets as
// revisionHistoryLimit says.
func TestReplicaSetsHaveTheRecordOfTheirRevision(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	images := []string{framework.Image}
	for i := range 3 {
		images = append(images, fmt.Sprintf("nginx:2.%d", i))
		n.UpdateBox("web", framework.WithImage(images[len(images)-1]))
		n.AwaitReady("web")
	}
	recordedImages := func() []string {
		var recorded []string
		for _, set := range replicaSetsOf(n, "web") {
			box, err := modelboxrender.ReadRecord(set.Annotations[modelv1.RecordAnnotation])
			if err != nil {
				t.Fatalf("ReplicaSet %s: %v", set.Name, err)
			}
			framework.ExpectEqual(t, "image of ReplicaSet "+set.Name, box.Spec.Image, set.Spec.Template.Spec.Containers[0].Image)
			recorded = append(recorded, box.Spec.Image)
		}
		return recorded
	}
	framework.ExpectEqual(t, "recorded images", images, recordedImages())

	n.Kubectl.Run("patch", "deploy/web", "--type=merge", `--patch={"spec":{"revisionHistoryLimit":1}}`)
	n.Eventually("only one old ReplicaSet is left", func() error {
		if sets := replicaSetsOf(n, "web"); len(sets) != 2 {
			return fmt.Errorf("there are %d ReplicaSets", len(sets))
		}
		return nil
	})
	framework.ExpectEqual(t, "recorded images that are left", images[2:], recordedImages())

	n.Kubectl.Run("rollout", "undo", "deploy/web")
	n.AwaitDeployment("web", "is what the box says again", func(deployment *appsv1.Deployment) error {
		return errors.Join(framework.CheckImage(deployment, images[3]), isRecordOf(n.GetBox("web"), deployment))
	})
	n.AwaitReady("web")
}

// forgetRecords removes the records from the Deployments, as in a release without records.
func forgetRecords(n *framework.Namespace, count int) map[string]string {
	n.T.Helper()
	revisions := map[string]string{}
	for i := range count {
		name := fmt.Sprintf("box-%d", i)
		deployment, err := n.Deployments.Patch(n.Ctx, name, types.JSONPatchType, []byte(removeRecord), metav1.PatchOptions{})
		if err != nil {
			n.T.Fatal(err)
		}
		revisions[name] = deployment.Annotations[rolloutRevision]
	}
	for name := range maps.Keys(revisions) {
		n.AwaitDeployment(name, "is settled", framework.CheckRolledOut)
	}
	return revisions
}
