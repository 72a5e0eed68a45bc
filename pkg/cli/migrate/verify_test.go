// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// movedBox is webBox as the server has it.
func movedBox(t *testing.T) *exportedBox {
	t.Helper()
	box := webBox(t, map[string]any{"annotations": map[string]any{sourceAnnotation: "uid-of-web"}})
	box.UID = "uid-in-server"
	box.object.SetUID(box.UID)
	box.object.Object["spec"] = map[string]any{"image": "nginx:1", "replicas": int64(1)}
	box.children[0].SetOwnerReferences(ownedBy(box.children[0].GetOwnerReferences(), "uid-of-web", box.UID))
	return box
}

func TestVerifyFindsWhatIsNotAsItWas(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(live *exportedBox)
		want   []string
	}{
		{"nothing", func(*exportedBox) {}, nil},
		{"a label", func(live *exportedBox) { live.object.SetLabels(map[string]string{"a": "b"}) }, []string{"metadata.labels: differs from the export"}},
		{"an annotation", func(live *exportedBox) { live.object.SetAnnotations(map[string]string{"a": "b"}) }, []string{"metadata.annotations: differs from the export"}},
		{"the spec", func(live *exportedBox) { live.object.Object["spec"] = map[string]any{"image": "nginx:2"} }, []string{"spec: differs from the export"}},
		{"a recreated child", func(live *exportedBox) { live.children[0].SetUID("other") }, []string{": Deployment web was deleted, or the box does not own it"}},
		{"a child of another box", func(live *exportedBox) { live.UID = "other" },
			[]string{"metadata.ownerReferences: of Deployment web does not name the box as its controller"}},
		{"a Deployment that is paused", func(live *exportedBox) {
			if err := unstructured.SetNestedField(live.children[0].Object, true, "spec", "paused"); err != nil {
				t.Fatal(err)
			}
		}, []string{"spec.paused: of Deployment web differs from the export"}},
		{"a pod replaced", func(live *exportedBox) { live.Pods[0].UID = "other" }, []string{": pod web-abc-1 was deleted"}},
		{"a pod restarted", func(live *exportedBox) { live.Pods[0].Restarts = 2 }, []string{": pod web-abc-1 was restarted 2 times"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := movedBox(t)
			row.change(live)
			f := &findings{}
			f.compareBox(webBox(t, nil), live)
			var got []string
			for _, finding := range f.list {
				got = append(got, finding.Field+": "+finding.Message)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVerifyFindsBoxesOutOfOrder(t *testing.T) {
	newBox := func(name string, second int64) *exportedBox {
		object := custom(name, nil, nil)
		object.SetCreationTimestamp(metav1.NewTime(time.Unix(second, 0)))
		return &exportedBox{Namespace: "shop", Name: name, object: object}
	}
	exported := []*exportedBox{newBox("a", 1), newBox("b", 2), newBox("c", 3)}
	for _, row := range []struct {
		name    string
		seconds [3]int64
		want    []string
	}{
		{"in order", [3]int64{10, 20, 30}, nil},
		{"in the same second", [3]int64{10, 10, 10}, nil},
		{"the last one first", [3]int64{20, 30, 10}, []string{"c"}},
		{"the first one last", [3]int64{30, 10, 20}, []string{"b", "c"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := map[types.NamespacedName]*exportedBox{}
			for i, box := range exported {
				live[box.key()] = newBox(box.Name, row.seconds[i])
			}
			var got []string
			for _, finding := range compareOrder(exported, live) {
				got = append(got, finding.Name)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollbackKnowsWhatItWouldLose(t *testing.T) {
	moved := modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: map[string]string{sourceAnnotation: "uid-of-web"}},
		Spec:       modelv1.ModelBoxSpec{Image: "nginx:1"},
	}
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		want   []string
	}{
		{"a box that was not changed", func(*modelv1.ModelBox) {}, nil},
		{"another spec", func(box *modelv1.ModelBox) { box.Spec.Image = "nginx:2" }, []string{"shop/web"}},
		{"another label", func(box *modelv1.ModelBox) { box.Labels = map[string]string{"a": "b"} }, []string{"shop/web"}},
		{"a box of the name that was not moved", func(box *modelv1.ModelBox) { box.Annotations = nil }, []string{"shop/web"}},
		{"a new box", func(box *modelv1.ModelBox) { box.Name = "api" }, []string{"shop/api"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := moved.DeepCopy()
			row.change(box)
			got, err := changedBoxes(&export{Boxes: []*exportedBox{webBox(t, nil)}}, []modelv1.ModelBox{*box})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollbackKnowsWhichPodsItWouldReplace(t *testing.T) {
	for _, row := range []struct {
		name      string
		change    func(*appsv1.Deployment)
		isRefused bool
	}{
		{"pods that are what they were", func(*appsv1.Deployment) {}, false},
		{"pods with more labels", func(d *appsv1.Deployment) { d.Spec.Template.Labels = map[string]string{"modelbox": "web"} }, false},
		{"pods of another image", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "nginx:2" }, true},
		{"a recreated Deployment", func(d *appsv1.Deployment) { d.UID, d.Spec.Template.Spec.Containers[0].Image = "other", "nginx:2" }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			live := webDeployment()
			row.change(live)
			r := &rollbackOptions{options: newOptions(t, live)}
			if err := r.checkPods(t.Context(), webBox(t, nil)); (err != nil) != row.isRefused {
				t.Errorf("got %v", err)
			}
		})
	}
}
