// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"encoding/json"
	"errors"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/validation"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply/fields"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/reconciler"
)

// maxEventNote is how many bytes the API takes for the note of an event.
const maxEventNote = 1024

// FuzzChildren changes the live children.Objectren of a box by any merge patch, and gives it a pod of any status. The controller has
// to get along with it: it does not panic, the status that it writes is valid, and when it says that the children are what
// the box says, they are.
func FuzzChildren(f *testing.F) {
	for _, seed := range []struct{ deployment, service, pod string }{
		{`{}`, `{}`, `{}`},
		{`{"metadata": {"labels": {"modelbox": "x"}}, "spec": {"replicas": 2, "minReadySeconds": 7, "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}}}`,
			`{"spec": {"ports": [{"port": 8080}], "type": "ExternalName"}}`, `{"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False"}]}`},
		{`{"metadata": {"ownerReferences": null, "managedFields": null, "annotations": null}}`, `{"metadata": {"ownerReferences": [{"controller": true, "kind": "ModelBox"}]}}`,
			`{"containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "seccomp killed"}}, "lastState": {"terminated": {"exitCode": 1}}}]}`},
		{`{"spec": {"template": {"spec": {"containers": [{"name": "app", "env": [{"name": "FIRST", "value": "1"}, {"name": "FIRST", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}]}]}}}}`,
			`{"spec": {"clusterIP": "None", "selector": null}}`, `{"initContainerStatuses": [{"state": {"terminated": {"reason": "", "exitCode": 3}}}]}`},
		{`{"spec": {"template": {"spec": {"containers": [{"name": "other", "readinessProbe": {"exec": {"command": [""]}}}], "volumes": [{"name": "cache", "hostPath": {"path": ""}}]}}}, "status": {"conditions": [{"type": "Progressing", "reason": "ProgressDeadlineExceeded"}]}}`,
			`{"status": {"loadBalancer": {"ingress": [{}]}}}`, `{"containerStatuses": [{"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]}`},
	} {
		f.Add([]byte(seed.deployment), []byte(seed.service), []byte(seed.pod))
	}
	f.Fuzz(func(t *testing.T, deploymentPatch, servicePatch, podStatus []byte) {
		box := fixture.WebBox(t)
		deployment, service, pod := fixture.LiveDeployment(t), fixture.LiveService(t), newPod("web-1")
		fixture.SetHash(t, box, deployment)
		fixture.SetHash(t, box, service)
		if !patched(deployment, deploymentPatch) || !patched(service, servicePatch) || json.Unmarshal(podStatus, &pod.Status) != nil {
			return
		}
		fuzzed := newTestController(t, box, deployment.DeepCopy(), service.DeepCopy())
		fuzzed.cache(t, pod)
		fuzzed.catchUp(t)

		var err error
		for range 3 {
			_, err = fuzzed.ReconcileSafely(t.Context(), fixture.WebKey)
			var panicked *reconciler.PanicError
			if errors.As(err, &panicked) {
				t.Fatal(err)
			}
			fuzzed.expectShortNotes(t)
			fuzzed.expectValidStatus(t)
			fuzzed.catchUp(t)
		}
		if err == nil && fuzzed.status(t).applied == "True Applied" {
			fuzzed.expectAsRendered(t, box)
		}
	})
}

// patched merges the patch into the child, and returns false where the result would be no child of the box.
func patched(live children.Object, patch []byte) bool {
	kind, name, namespace := live.GetObjectKind().GroupVersionKind(), live.GetName(), live.GetNamespace()
	before, err := json.Marshal(live)
	if err != nil {
		return false
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return false
	}
	switch live := live.(type) {
	case *appsv1.Deployment:
		*live = appsv1.Deployment{}
	case *corev1.Service:
		*live = corev1.Service{}
	}
	object := &unstructured.Unstructured{}
	if object.UnmarshalJSON(after) != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, live) != nil {
		return false
	}
	live.GetObjectKind().SetGroupVersionKind(kind)
	live.SetName(name)
	live.SetNamespace(namespace)
	return live.GetDeletionTimestamp() == nil
}

func (f *testController) expectShortNotes(t *testing.T) {
	t.Helper()
	for _, event := range f.told() {
		if len(event) > maxEventNote+len("Warning RestoredDeployment ") {
			t.Errorf("the note of an event has %d bytes: %s", len(event), event)
		}
	}
}

func (f *testController) expectValidStatus(t *testing.T) {
	t.Helper()
	served, box := f.boxInServer(t), &model.ModelBox{}
	if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(served, box, nil); err != nil {
		t.Fatal(err)
	}
	box.ResourceVersion = "1"
	for _, err := range validation.ValidateModelBoxStatusUpdate(t.Context(), box, box) {
		t.Errorf("the status is refused: %v", err)
	}
}

func (f *testController) expectAsRendered(t *testing.T, box *modelv1.ModelBox) {
	t.Helper()
	service := f.service(t)
	deployment := f.deployment(t)
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	for _, live := range []children.Object{deployment, service} {
		rendered := fixture.Rendered(t, box, live.GetObjectKind().GroupVersionKind().Kind)
		found, err := fixture.NewComparer().Compare(rendered, live)
		if err != nil {
			t.Fatal(err)
		}
		if !found.IsEmpty() {
			t.Errorf("%s is said to be what the box says, and differs in %s", rendered.GetKind(), fields.Names(found.Fields))
		}
	}
}
