// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// rolloutRevision is the annotation of a Deployment, and of its ReplicaSets, that counts its rollouts.
const rolloutRevision = "deployment.kubernetes.io/revision"

const removeRecord = `[{"op": "remove", "path": "/metadata/annotations/model.github.com~1record"}]`

// isRecordOf returns nil when the object has the record of the box as it is now.
func isRecordOf(box *modelv1.ModelBox, object metav1.Object) error {
	recorded, err := render.ReadRecord(object.GetAnnotations()[modelv1.RecordAnnotation])
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
		return fmt.Errorf("the spec of the box is %v, that of its record %v", box.Spec, recorded.Spec)
	}
	return nil
}

func (n *namespace) awaitRecord(name string) *appsv1.Deployment {
	n.t.Helper()
	return n.awaitDeployment(name, "has the record of its box", func(deployment *appsv1.Deployment) error {
		return isRecordOf(n.box(name), deployment)
	})
}

// replicaSets returns the ReplicaSets of a box, those of the earliest revision first.
func (n *namespace) replicaSets(box string) []appsv1.ReplicaSet {
	n.t.Helper()
	sets, err := n.plane.kube.AppsV1().ReplicaSets(n.name).List(n.ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + box})
	if err != nil {
		n.t.Fatal(err)
	}
	slices.SortFunc(sets.Items, func(a, b appsv1.ReplicaSet) int {
		first, _ := strconv.Atoi(a.Annotations[rolloutRevision])
		second, _ := strconv.Atoi(b.Annotations[rolloutRevision])
		return first - second
	})
	return sets.Items
}

// TestMetadataOfABoxIsRecordedWithoutARollout changes what no pod is made of. Each change is one write of the Deployment,
// and none of the status: the box is Ready all the time.
func TestMetadataOfABoxIsRecordedWithoutARollout(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	n.awaitDeployment("web", "is settled", isComplete)
	before := n.awaitRecord("web")
	writes, boxWrites := len(n.clusterWrites()), len(n.boxWrites())

	for i, command := range [][]string{
		{"label", "mb/web", "team=shop"},
		{"annotate", "mb/web", "example.com/contact=shop"},
		{"patch", "mb/web", "--type=merge", `--patch={"metadata":{"finalizers":["example.com/wait"]}}`},
		{"patch", "mb/web", "--type=merge", `--patch={"metadata":{"finalizers":null}}`},
	} {
		n.kubectl(command...)
		n.awaitRecord("web")
		expectEqual(t, "writes of children", i+1, len(n.clusterWrites())-writes)
	}
	after := n.awaitDeployment("web", "is settled", isComplete)
	expectEqual(t, "writes of the box", 4, len(n.boxWrites())-boxWrites)
	expectEqual(t, "spec of the Deployment", before.Spec, after.Spec)
	expectEqual(t, "revision", before.Annotations[rolloutRevision], after.Annotations[rolloutRevision])
	n.eventually("the ReplicaSet has the record", func() error {
		return isRecordOf(n.box("web"), &n.replicaSets("web")[0])
	})
	for _, event := range n.eventsAbout("web") {
		if event.Reason == "RestoredDeployment" || event.Reason == "UpdatedDeployment" {
			t.Errorf("an event about what only the box's metadata changed: %s", event.Note)
		}
	}
}

func TestRecordIsPutBack(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	for _, command := range [][]string{
		{"annotate", "deploy/web", "--overwrite", modelv1.RecordAnnotation + "=forged"},
		{"annotate", "deploy/web", modelv1.RecordAnnotation + "-"},
	} {
		n.awaitRecord("web")
		n.kubectl(command...)
	}
	n.awaitRecord("web")
	n.awaitEvent("web", "RestoredDeployment", "kubectl-annotate had changed", modelv1.RecordAnnotation)
	n.awaitEvent("web", "RestoredDeployment", "somebody had changed", modelv1.RecordAnnotation)
}

// TestPausedBoxIsRecorded asks a paused box for what has to wait. It must not be lost with the store.
func TestPausedBoxIsRecorded(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	before := n.deployment("web")
	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused, spec.Image = true, newImage })
	n.awaitPaused("web")
	expectEqual(t, "spec of the Deployment", before.Spec, n.awaitRecord("web").Spec)
	n.change("web", unpause)
	n.awaitReady("web")
	n.awaitRecord("web")
}

// TestReplicaSetsHaveTheRecordOfTheirRevision rolls a box out several times. What its Deployment keeps of the past is
// what revisionHistoryLimit says.
func TestReplicaSetsHaveTheRecordOfTheirRevision(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	images := []string{image}
	for i := range 3 {
		images = append(images, fmt.Sprintf("nginx:2.%d", i))
		n.change("web", withImage(images[len(images)-1]))
		n.awaitReady("web")
	}
	recordedImages := func() []string {
		var recorded []string
		for _, set := range n.replicaSets("web") {
			box, err := render.ReadRecord(set.Annotations[modelv1.RecordAnnotation])
			if err != nil {
				t.Fatalf("ReplicaSet %s: %v", set.Name, err)
			}
			expectEqual(t, "image of ReplicaSet "+set.Name, box.Spec.Image, set.Spec.Template.Spec.Containers[0].Image)
			recorded = append(recorded, box.Spec.Image)
		}
		return recorded
	}
	expectEqual(t, "recorded images", images, recordedImages())

	n.kubectl("patch", "deploy/web", "--type=merge", `--patch={"spec":{"revisionHistoryLimit":1}}`)
	n.eventually("only one old ReplicaSet is left", func() error {
		if sets := n.replicaSets("web"); len(sets) != 2 {
			return fmt.Errorf("there are %d ReplicaSets", len(sets))
		}
		return nil
	})
	expectEqual(t, "recorded images that are left", images[2:], recordedImages())

	n.kubectl("rollout", "undo", "deploy/web")
	n.awaitDeployment("web", "is what the box says again", func(deployment *appsv1.Deployment) error {
		return errors.Join(expectImage(deployment, images[3]), isRecordOf(n.box("web"), deployment))
	})
	n.awaitReady("web")
}

// forgetRecords makes the Deployments those of a release without records.
func (n *namespace) forgetRecords(count int) map[string]string {
	n.t.Helper()
	revisions := map[string]string{}
	for i := range count {
		name := fmt.Sprintf("box-%d", i)
		deployment, err := n.deployments.Patch(n.ctx, name, types.JSONPatchType, []byte(removeRecord), metav1.PatchOptions{})
		if err != nil {
			n.t.Fatal(err)
		}
		revisions[name] = deployment.Annotations[rolloutRevision]
	}
	for name := range maps.Keys(revisions) {
		n.awaitDeployment(name, "is settled", isComplete)
	}
	return revisions
}
